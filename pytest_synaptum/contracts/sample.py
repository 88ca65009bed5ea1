"""A run to fill stores with: every kind of step, text beyond ASCII, numbers that look alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from synaptum.vocabulary import (
    FinalStep,
    FinishReason,
    History,
    Message,
    ModelStep,
    Phase,
    Request,
    Response,
    Risk,
    Role,
    Step,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    ToolStep,
    Usage,
    make_step_id,
)

__all__ = ["sample_run"]

_AT = "2026-11-30T12:00:00.000Z"
_TOOL = ToolDefinition("read", "Read a file.", {"type": "object"}, Risk.READ, idempotent=True)


def sample_run(turns: int = 3, *, run_id: str = "run-1", closed: bool = True) -> Iterator[Step]:
    """A run of `turns` turns, each a question, a call and its result; four events a turn."""
    history = History([Message.user("Read a.txt: ñ 你好 🙂 \u2028 \x00")])
    for turn in range(turns):
        call = ToolCall(f"call_{turn}", "read", {"n": turn, "x": 1.0, "b": True})
        answer = Message(Role.ASSISTANT, (Text(""), call))
        request = Request("m", history, system="Be exact.", tools=(_TOOL,))
        response = Response(answer, FinishReason.TOOL_CALLS, Usage(10 + turn, 0, None))
        result = ToolResult.of(call.id, f"text {turn}")
        asked = _frame(run_id, 2 * turn, "model")
        yield ModelStep(**asked, phase=Phase.ATTEMPTED, request=request)
        yield ModelStep(
            **asked,
            phase=Phase.COMPLETED,
            request=request,
            response=response,
            usage=response.usage,
            meta={"attempts": [{"wait_s": 0.5}]},
        )
        run = {**_frame(run_id, 2 * turn + 1, "tool"), "call": call, "idempotent": True}
        yield ToolStep(**run, phase=Phase.ATTEMPTED)
        yield ToolStep(**run, phase=Phase.COMPLETED, result=result)
        history = history.append(answer, Message.tool_results(result))
    if closed:
        end = _frame(run_id, 2 * turns, "final")
        yield FinalStep(**end, phase=Phase.ATTEMPTED)
        yield FinalStep(**end, phase=Phase.COMPLETED, output={"n": 1}, usage=Usage(1, 2))


def _frame(run_id: str, seq: int, kind: str) -> dict[str, Any]:
    return {"run_id": run_id, "step_id": make_step_id(seq, kind), "step_seq": seq, "at": _AT}
