"""The page: one HTML file with its style, its script and its data, and nothing from elsewhere.

The data of each test is a JSON block of its own, which the script reads when the test is
opened: a page of 500 tests shows its list at once. The script writes texts, never markup, and
the page's own policy lets no other script run, so nothing that a model or a server said can act.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

__all__ = ["OUTCOMES", "Page", "embedded"]

#: In the order of the page's filter: what deserves a look comes first.
OUTCOMES: Final = ("failed", "error", "xpassed", "xfailed", "skipped", "passed")

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def embedded(value: Any) -> str:
    """JSON that can stand in a script element: no `<`, so neither `</script>` nor `<!--`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the page shows.

    Attributes:
        title: what was tested.
        at: when, as people read it.
        tests: of each test what the list shows, and its part in `embedded` form.
    """

    title: str
    at: str
    tests: Sequence[tuple[dict[str, Any], str]]

    def text(self) -> str:
        """The whole file."""
        style, script = _asset("page.css"), _asset("page.js")
        rows = [row for row, _ in self.tests]
        counts = Counter(row["outcome"] for row in rows)
        summary = ", ".join(f"{counts[name]} {name}" for name in OUTCOMES if counts[name])
        values = {
            "title": html.escape(self.title),
            "about": html.escape(f"{self.at}: {summary or 'no tests'}"),
            "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}",
            "style": style,
            "script": script,
            "filters": "\n".join(_filter(name, counts[name]) for name in OUTCOMES if counts[name]),
            "rows": embedded(rows),
            "parts": "\n".join(
                f'<script type="application/json" id="part-{number}">{part}</script>'
                for number, (_, part) in enumerate(self.tests)
            ),
        }
        # One pass: what a value holds is never taken for a place to fill.
        return re.sub(r"\{\{(\w+)\}\}", lambda place: values[place[1]], _asset("page.html"))


def _filter(outcome: str, count: int) -> str:
    return (
        f'<label class="outcome {outcome}"><input type="checkbox" name="outcome"'
        f' value="{outcome}" checked> {count} {outcome}</label>'
    )


def _asset(name: str) -> str:
    return files("pytest_synaptum.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
