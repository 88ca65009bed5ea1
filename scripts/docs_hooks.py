"""What the documentation's site is made of besides the pages under docs/; called by mkdocs.

- Pages that stand elsewhere in the checkout (`OUTSIDE`) are shown as pages of the site.
- The reference is written from the public names of the two packages. Their sources are read,
  nothing of them is imported.
- The words behind a block's language say how its example is run (see
  tests/docs/test_examples.py); on the site they become the block's title.
"""

import ast
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent

#: Files outside docs/ -> their page.
OUTSIDE = {
    "corpus/FORMAT.md": "corpus-format.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}

#: Page of the reference -> its title, and the modules whose public names it shows.
OF_SYNAPTUM = {
    "agents": ("Agents, runs, models", ("agent", "gateway", "models", "context", "clock")),
    "tools": ("Tools and schemas", ("tools", "schema", "surfaces")),
    "journals": ("Journals", ("journal",)),
    "values": ("Values", ("vocabulary", "wording")),
    "providers": ("Adapters", ("providers",)),
    "errors": ("Errors", ("errors",)),
}

#: What tests get from the plugin's fixtures, beside its public names.
OF_THE_FIXTURES = (
    "pytest_synaptum.recorded.RecordedProvider",
    "pytest_synaptum.recorded.RecordedHttp",
    "pytest_synaptum.golden.fixture.Golden",
    "pytest_synaptum.resume.fixture.ResumeCheck",
    "pytest_synaptum.resume.fixture.check_resume",
    "pytest_synaptum.trajectories.Trajectory",
    "pytest_synaptum.trajectories.CalledTool",
)

_FENCE = re.compile(r"^```(\w+) +([^\n`]+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """The pages of the reference are known here and stand in the navigation."""
    pages = [{title: f"reference/{name}.md"} for name, (title, _) in OF_SYNAPTUM.items()]
    pages.append({"The plugin": "reference/plugin.md"})
    decisions = [f"decisions/{p.name}" for p in sorted((ROOT / "docs/decisions").glob("0*.md"))]
    config.nav = [_filled(entry, pages, decisions) for entry in config.nav]
    return config


def _filled(entry: Any, reference: list[Any], decisions: list[Any]) -> Any:
    if entry == {"Reference": "reference/"}:
        return {"Reference": reference}
    if entry == {"Decisions": ["decisions/index.md"]}:
        return {"Decisions": ["decisions/index.md", *decisions]}
    if isinstance(entry, dict):
        return {
            title: [_filled(one, reference, decisions) for one in inner]
            if isinstance(inner, list)
            else inner
            for title, inner in entry.items()
        }
    return entry


def on_files(files: Files, config: Any) -> Files:
    """Add what does not stand under docs/."""
    made = {page: (ROOT / source).read_text(encoding="utf-8") for source, page in OUTSIDE.items()}
    made |= _reference()
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def _reference() -> dict[str, str]:
    homes = _literal(ROOT / "synaptum/__init__.py", "_HOMES")
    pages = {}
    shown: set[str] = set()
    for page, (title, modules) in OF_SYNAPTUM.items():
        names = [name for name, home in homes.items() if home.split(".")[1] in modules]
        shown.update(names)
        blocks = "\n".join(f"::: synaptum.{name}\n" for name in names)
        pages[f"reference/{page}.md"] = f"# {title}\n\nFrom `synaptum`.\n\n{blocks}"
    left = sorted(set(homes) - shown)
    if left:
        msg = f"scripts/docs_hooks.py shows no page for {left}: add their module to OF_SYNAPTUM."
        raise SystemExit(msg)
    names = _literal(ROOT / "pytest_synaptum/__init__.py", "__all__")
    plugin = [f"pytest_synaptum.{name}" for name in names] + list(OF_THE_FIXTURES)
    blocks = "\n".join(f"::: {name}\n" for name in plugin)
    pages["reference/plugin.md"] = f"# The plugin\n\nFrom `pytest_synaptum`.\n\n{blocks}"
    return pages


def _literal(path: Path, name: str) -> Any:
    """The value of a constant in a source file."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            return ast.literal_eval(node.value)
    msg = f"{path} defines no {name}"
    raise SystemExit(msg)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Titles of blocks, and links that leave docs/."""
    source = {page_: path for path, page_ in OUTSIDE.items()}.get(page.file.src_uri)
    here = posixpath.dirname(source if source else f"docs/{page.file.src_uri}")
    markdown = _FENCE.sub(lambda found: f'```{found[1]} title="{_title(found[2])}"', markdown)
    return _LINK.sub(lambda found: _link(found, here, page.file.src_uri), markdown)


def _title(words: str) -> str:
    if words == "run":
        return "in the same folder"
    if words == "run corpus":
        return "in a folder with the corpus"
    return words.replace('"', "'").replace("not run:", "not run by our tests:", 1)


def _link(found: re.Match[str], here: str, page: str) -> str:
    target = posixpath.normpath(posixpath.join(here, found[1]))
    anchor = found[2] or ""
    if target in OUTSIDE:
        to = OUTSIDE[target]
    elif target.startswith("docs/"):
        to = target.removeprefix("docs/")
    elif (ROOT / target).exists():
        return f"] (`{target}` in the checkout)"
    else:
        return found[0]
    return f"]({posixpath.relpath(to, posixpath.dirname(page) or '.')}{anchor})"
