"""What the whole suite shares: pytester, for tests that run pytest in pytest."""

pytest_plugins = ["pytester"]
