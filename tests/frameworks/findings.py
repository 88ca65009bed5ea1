"""What adapters of others make of the corpus, field by field.

    python tests/frameworks/findings.py            a table for docs/corpus-findings.md

Each answer of each case is read by the openai SDK, langchain-openai and pydantic-ai through their
public values, and compared with the golden. `success for a failure` is the worst: an answer that
failed or never arrived whole, taken for a good one.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter, defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "frameworks")]

# ruff: noqa: E402 (the two folders above are no packages)
from support.sdk_adapter import OpenAISdk
from wrapped import LangChain, PydanticAI

from pytest_synaptum import strict_yaml
from pytest_synaptum.corpus.case import Case
from pytest_synaptum.corpus.checking import load_exchanges
from pytest_synaptum.corpus.reading import conclude, read_exchange
from pytest_synaptum.corpus.tree import cases_below
from synaptum.models.dialect import Dialect

FIELDS = ("text", "reasoning", "calls", "arguments text", "finish reason", "usage")
ADAPTERS = {"openai": OpenAISdk, "langchain-openai": LangChain, "pydantic-ai-slim": PydanticAI}


def parts(response: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [part for part in response["message"]["content"] if part["kind"] == kind]


def fields(response: dict[str, Any]) -> dict[str, Any]:
    calls = parts(response, "tool_call")
    return {
        "text": [part["text"] for part in parts(response, "text")],
        "reasoning": [part["text"] for part in parts(response, "thinking")],
        "calls": [(c["name"], c["arguments"], c["unreadable_arguments"]) for c in calls],
        "arguments text": [c["arguments_text"] for c in calls],
        "finish reason": response["finish_reason"],
        "usage": response["usage"],
    }


def compared(golden: dict[str, Any], came: dict[str, Any]) -> list[str]:
    """The fields in which one answer is read otherwise."""
    if "response" not in golden:
        if "error" not in golden:
            return []  # closed by the caller: nothing to conclude
        return ["success for a failure"] if "response" in came else []
    if "response" not in came:
        return ["failure for a success"]
    wanted, given = fields(golden["response"]), fields(came["response"])
    wrong = [name for name in FIELDS if wanted[name] != given[name]]
    if "usage" in wrong and _known(wanted["usage"]) == _known(given["usage"]):
        wrong[wrong.index("usage")] = "0 for unknown usage"
    return wrong


def _known(usage: dict[str, Any]) -> dict[str, Any]:
    return {name: count or 0 for name, count in usage.items()}


def read(case: Case, adapter: Any) -> list[list[str]]:
    """Of each answer of a case, the fields that are read otherwise."""
    golden = strict_yaml.load_file(case.golden_path)["exchanges"]
    dialect = Dialect(adapter)
    found = []
    for entry, exchange in zip(golden, load_exchanges(case), strict=True):
        if exchange.response is None or exchange.response.status >= 400:
            found.append([])  # errors by status are the client's, not the adapter's
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                came = conclude(read_exchange(dialect, exchange))
        except Exception:  # whatever the framework raises is a failure for its user
            came = {"error": {}}
        found.append(compared(entry, came))
    return found


def main() -> None:
    cases = cases_below(ROOT / "corpus")
    for package, make in ADAPTERS.items():
        counts: Counter[str] = Counter()
        names: dict[str, list[str]] = defaultdict(list)
        wrong_cases = answers = 0
        for case in cases:
            found = read(case, make())
            answers += len(found)
            wrong = {name for one in found for name in one}
            # What the framework's values have no place for is one thing, reading wrong another.
            wrong_cases += bool(wrong - {"arguments text", "0 for unknown usage"})
            for name in wrong:
                counts[name] += 1
                names[name].append(case.id.removeprefix("openai_chat/"))
        print(f"\n## {package} {version(package)}: {wrong_cases} of {len(cases)} cases")
        for name, number in counts.most_common():
            print(f"{number:>5}  {name}: {', '.join(names[name])}")


if __name__ == "__main__":
    main()
