"""Providers are found by their entry points."""

import pytest

from synaptum.errors import ConfigurationError
from synaptum.providers import registry
from synaptum.providers.openai_compatible import OpenAICompatible


def test_the_prefix_names_the_provider_and_does_not_travel():
    provider, name = registry.resolve("openai-compatible:qwen3-8b")

    assert isinstance(provider, OpenAICompatible)
    assert name == "qwen3-8b"


def test_only_the_first_colon_splits():
    assert registry.split_model("openai-compatible:qwen3:8b") == ("openai-compatible", "qwen3:8b")


def test_an_unknown_prefix_lists_those_installed():
    with pytest.raises(ConfigurationError, match=r"'acme'.*openai-compatible"):
        registry.provider_for("acme")


@pytest.mark.parametrize("model", ["qwen3-8b", "", ":x", "openai-compatible:"])
def test_a_model_without_prefix_or_name_says_how_to_write_it(model):
    with pytest.raises(ConfigurationError, match="prefix:model"):
        registry.split_model(model)


def test_a_provider_that_cannot_be_loaded_is_named(tmp_path, monkeypatch):
    info = tmp_path / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n", "utf-8")
    (info / "entry_points.txt").write_text(
        "[synaptum.providers]\nbroken = no_such_module_at_all:Provider\n", "utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    assert "broken" in registry.installed()
    with pytest.raises(ConfigurationError, match="no_such_module_at_all"):
        registry.provider_for("broken")
