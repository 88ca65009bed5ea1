"""Which cases of the corpus the pocket adapter is held to: those that show what it claims."""

import sys
from pathlib import Path

import pytest

# So that the tests are also found from another folder than this one.
sys.path.insert(0, str(Path(__file__).parent))

#: Flags of corpus/flags.yaml. What is not here (reasoning, pictures, servers with manners of
#: their own) is skipped by name: take a flag in, and see what the adapter lacks.
CLAIMED = {
    "arguments-numbers",
    "call-fragments",
    "call-whole-chunk",
    "calls-interleaved",
    "content-absent",
    "content-filler",
    "content-filter",
    "content-null",
    "error-no-json",
    "error-shapes",
    "error-status",
    "extra-fields",
    "finish-key-missing",
    "leading-space",
    "lenient-server",
    "retry-after",
    "sse-comments",
    "sse-line-ends",
    "sse-no-done",
    "stop-sequence",
    "stream",
    "stream-cancelled",
    "system-prompt",
    "text",
    "text-and-call",
    "tool-call",
    "tool-call-parallel",
    "tool-result",
    "two-user-turns",
    "unicode",
    "usage-details-null",
    "usage-last-chunk",
    "usage-missing",
    "utf8-split",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.name != "pocket_adapter:PocketAdapter":
            continue
        unclaimed = sorted(set(item.case.flags) - CLAIMED)
        if unclaimed:
            item.add_marker(pytest.mark.skip(reason=f"not claimed: {', '.join(unclaimed)}"))
