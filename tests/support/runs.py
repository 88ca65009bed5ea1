"""Runs made by hand: the steps an agent would write, without the agent."""

from __future__ import annotations

from collections.abc import Iterator

from synaptum.vocabulary import (
    ApprovalStep,
    Audio,
    Decision,
    DelegateStep,
    Disposition,
    Document,
    FinalStep,
    FinishReason,
    History,
    Image,
    Message,
    ModelStep,
    Phase,
    RedactedThinking,
    Request,
    Response,
    ResponseFormat,
    Risk,
    Role,
    Step,
    Text,
    Thinking,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolResult,
    ToolStep,
    Usage,
    make_step_id,
)

AT = "2026-11-30T12:00:00.000Z"

READ_FILE = ToolDefinition(
    "leer", "Lee un fichero.", {"type": "object", "properties": {"ruta": {"type": "string"}}}
)


def conversation(turns: int, *, run_id: str = "run-1", closed: bool = False) -> Iterator[Step]:
    """A run of `turns` model turns, each with one tool call: four events a turn."""
    history = History([Message.user("¿Qué dice el fichero? 你好 🙂")])
    for turn in range(turns):
        model, tool = make_step_id(2 * turn, "model"), make_step_id(2 * turn + 1, "tool")
        call = ToolCall(
            f"call_{turn}", "leer", {"ruta": f"/tmp/{turn}"}, arguments_text=f'{{"ruta": "{turn}"}}'
        )
        answer = Message(Role.ASSISTANT, (Text(f"leo {turn}"), call))
        request = Request("qwen3-8b", history, system="Eres útil.", tools=(READ_FILE,))
        response = Response(answer, FinishReason.TOOL_CALLS, Usage(100 + turn, 10, 0, 50, None))
        result = ToolResult.of(call.id, f"contenido {turn}", is_error=turn % 7 == 3)
        frame = {"run_id": run_id, "at": AT}
        asked = {**frame, "step_id": model, "step_seq": 2 * turn, "request": request}
        done = {
            **frame,
            "step_id": tool,
            "step_seq": 2 * turn + 1,
            "call": call,
            "risk": Risk.READ,
        }
        yield ModelStep(**asked, phase=Phase.ATTEMPTED)
        yield ModelStep(**asked, phase=Phase.COMPLETED, response=response, usage=response.usage)
        yield ToolStep(**done, phase=Phase.ATTEMPTED)
        yield ToolStep(**done, phase=Phase.COMPLETED, result=result)
        history = history.append(answer, Message.tool_results(result))
    if closed:
        end = {"run_id": run_id, "at": AT, "step_id": make_step_id(2 * turns, "final")}
        yield FinalStep(**end, step_seq=2 * turns, phase=Phase.ATTEMPTED)
        yield FinalStep(
            **end,
            step_seq=2 * turns,
            phase=Phase.COMPLETED,
            output="ya está",
            usage=Usage(1, 2, 3, 4, None),
        )


def every_kind(run_id: str = "run-1") -> Iterator[Step]:
    """One run with every kind of step, part and state that a journal may hold.

    `tests/journals` holds it as each format version wrote it, so it never changes: what a
    later version adds goes into a run of its own.
    """
    frame = {"run_id": run_id, "at": AT}
    call = ToolCall(
        "call_1",
        "borrar",
        {"ruta": "/tmp/ñ", "n": 2**70, "x": 1.0},
        arguments_text='{"ruta": "/tmp/ñ"}',
        provider_metadata={"thought_signature": "abc"},
    )
    unreadable = ToolCall("call_2", "leer", {}, '{"ruta": ')
    history = History(
        [
            Message.developer("Sé breve."),
            Message(
                Role.USER,
                (
                    Text("Mira: 你好 🙂 \ud800 \u2028 \x00"),
                    Image("image/png", data=b"\x89PNG"),
                    Audio("audio/wav", url="https://example.org/a.wav"),
                    Document("application/pdf", data=b"%PDF", name="a.pdf"),
                ),
            ),
        ]
    )
    tool = ToolDefinition(
        "borrar", "Borra un fichero.", {"type": "object"}, Risk.DESTRUCTIVE, idempotent=True
    )
    first = Request(
        "qwen3-8b",
        history,
        system="Eres útil.",
        tools=(tool,),
        tool_choice=ToolChoice("named", "borrar"),
        max_output_tokens=100,
        temperature=0.0,
        top_p=0.9,
        stop=("FIN",),
        response_format=ResponseFormat("json_schema", {"type": "object"}, "salida", True),
        provider_options={"seed": 1},
    )
    answer = Message(
        Role.ASSISTANT,
        (
            Thinking("pienso", "firma"),
            RedactedThinking("opaco"),
            Text(""),
            call,
            unreadable,
        ),
    )
    response = Response(
        answer,
        FinishReason.TOOL_CALLS,
        Usage(411, 378, None, 177, 0, True),
        "qwen3-8b-q4",
        {"finish_reason": "tool_calls", "timings": {"prompt_n": 234}},
    )
    model = {**frame, "step_id": "000000-model", "step_seq": 0, "request": first}
    yield ModelStep(**model, phase=Phase.ATTEMPTED, meta={"configuration": {"model": "a:b"}})
    yield ModelStep(
        **model,
        phase=Phase.COMPLETED,
        response=response,
        usage=response.usage,
        meta={"attempts": [{"error": "503", "wait": 0.5}]},
    )
    waits = {**frame, "step_id": "000001-approval", "step_seq": 1, "target": "000002-tool"}
    yield ApprovalStep(**waits, phase=Phase.ATTEMPTED, call=call, risk=Risk.DESTRUCTIVE)
    yield ApprovalStep(
        **waits,
        phase=Phase.COMPLETED,
        call=call,
        risk=Risk.DESTRUCTIVE,
        decision=Decision(Disposition.ALLOW, "ok", "adelante"),
    )
    run = {**frame, "step_id": "000002-tool", "step_seq": 2, "call": call}
    result = ToolResult("call_1", (Text("borrado"), Image("image/png", url="x:y")), structured=[1])
    yield ToolStep(**run, phase=Phase.ATTEMPTED, risk=Risk.DESTRUCTIVE, idempotent=True)
    yield ToolStep(
        **run, phase=Phase.COMPLETED, risk=Risk.DESTRUCTIVE, idempotent=True, result=result
    )
    child = {
        **frame,
        "step_id": "000003-delegate",
        "step_seq": 3,
        "call": unreadable,
        "child_run_id": f"{run_id}/000003",
    }
    refused = ToolResult.of("call_2", "no es JSON", is_error=True)
    yield DelegateStep(**child, phase=Phase.ATTEMPTED, risk=Risk.SOFT_WRITE)
    yield DelegateStep(
        **child, phase=Phase.COMPLETED, risk=Risk.SOFT_WRITE, result=refused, usage=Usage.zero()
    )
    second = Request(
        "qwen3-8b",
        history.append(answer, Message.tool_results(result, refused)),
        system=None,
        tools=(tool,),
    )
    model = {**frame, "step_id": "000004-model", "step_seq": 4, "request": second}
    last = Response(Message.assistant("listo"), FinishReason.STOP, Usage(500, 1))
    yield ModelStep(**model, phase=Phase.ATTEMPTED)
    yield ModelStep(**model, phase=Phase.COMPLETED, response=last, usage=last.usage)
    end = {**frame, "step_id": "000005-final", "step_seq": 5}
    yield FinalStep(**end, phase=Phase.ATTEMPTED)
    yield FinalStep(
        **end, phase=Phase.COMPLETED, output={"ok": True}, usage=Usage(911, 379, None, None, None)
    )
