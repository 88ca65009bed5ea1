"""What the whole suite shares: pytester, for tests that run pytest in pytest."""

from hypothesis import settings

pytest_plugins = ["pytester"]

# A busy machine must not turn a test red: no test here measures time through Hypothesis.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
