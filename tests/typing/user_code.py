"""A program of a user of both packages, in which every public name stands once.

It is read by mypy --strict and never run: what a user writes must type-check as it stands.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pytest_synaptum import (
    AnyAgent,
    CheckpointerContract,
    GatewayContract,
    ModelDouble,
    Probe,
    ProviderContract,
    ResumeReport,
    Stop,
    breaks,
    calls,
    check_resume,
    cut,
    denies,
    drops,
    fails,
    filtered,
    refuses,
    says,
    slow,
    thinks,
    trajectory,
)
from pytest_synaptum.golden.fixture import Golden
from pytest_synaptum.recorded import RecordedHttp, RecordedProvider
from pytest_synaptum.report.parts import ReportDoor
from synaptum import (
    ALLOW,
    ENGLISH,
    SPANISH,
    AbortError,
    Agent,
    ApprovalStep,
    Audio,
    CallContext,
    Check,
    Checkpointer,
    Clock,
    ConfigurationError,
    ContentPart,
    Decision,
    Delegate,
    DelegateStep,
    Denied,
    Disposition,
    Document,
    EncodingError,
    ExitCode,
    FallbackModel,
    FinalStep,
    Finish,
    FinishReason,
    Gateway,
    History,
    HttpModel,
    Image,
    InvalidToolCallError,
    JournalBusyError,
    JournalDivergedError,
    JournalError,
    JournalFormatError,
    JsonlCheckpointer,
    LimitExceeded,
    Limits,
    LocalGateway,
    MemoryCheckpointer,
    Message,
    ModelStep,
    NeedsHumanError,
    NetworkError,
    NoObjectGeneratedError,
    Phase,
    Provider,
    ProviderError,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    RedactedThinking,
    Request,
    RequestTimeoutError,
    Response,
    ResponseFormat,
    ResultPart,
    Risk,
    Role,
    RunState,
    Sampling,
    Session,
    Skills,
    SqliteCheckpointer,
    Step,
    StreamEvent,
    StreamStart,
    SurfaceRun,
    SynaptumError,
    SystemClock,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    Thinking,
    Tool,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolChoice,
    ToolDefinition,
    ToolExecutionError,
    ToolResult,
    ToolStep,
    UncertainEffect,
    UnsupportedRequestError,
    Usage,
    Wording,
    cap_tool_output,
    code_only,
    code_tool,
    command_tool,
    deferred,
    economy,
    fold,
    json_schema_for,
    lint_tools,
    make_step_id,
    merece_la_pena,
    schema_for,
    select_tools,
    surface_report,
    tool,
    unfold,
    worth_deferring,
)

# Tools


@tool
async def count_lines(
    file: Annotated[str, "Path relative to the project's root"], limit: int = 100
) -> str:
    """Counts the lines of a file."""
    return f"{file}: {limit}"


@tool(risk=Risk.DESTRUCTIVE, idempotent=False, name="transfer", description="Moves money.")
def transfer(to: str, amount: float) -> str:
    """Orders a transfer."""
    if amount > 1_000_000:
        msg = "Ask the owner."
        raise NeedsHumanError(msg)
    if not to:
        msg = "The bank does not answer."
        raise ToolExecutionError(msg, retryable=True)
    return to


async def use_of_tools() -> None:
    as_function: str = await count_lines("a.txt")
    moved: str = transfer("x", 1.0)
    result: ToolResult = await transfer.invoke("c1", {"to": as_function, "amount": len(moved)})
    short: ToolResult = cap_tool_output(result, max_chars=200, wording=SPANISH)
    parts: tuple[ResultPart, ...] = short.content
    two: list[Tool] = deferred([count_lines, transfer])
    some: list[Tool] = select_tools([count_lines, transfer], "count", limit=1)
    pays: bool = merece_la_pena(two) or worth_deferring(some)
    schema: Mapping[str, Any] = json_schema_for(transfer) if pays else schema_for(int | None)
    definition: ToolDefinition = transfer.definition
    print(parts, schema, definition.risk >= Risk.SOFT_WRITE)


# Acting besides plain tools


@command_tool("git", risk=Risk.READ, exit_codes={128: ExitCode("no repository", retryable=False)})
def git_status(folder: Annotated[str, "Where the repository is"]) -> list[str]:
    """Shows what has changed."""
    return ["-C", folder, "status", "--porcelain"]


def surfaces(folder: Path, state: RunState) -> Agent:
    skills = Skills(folder)
    code = code_tool([git_status, code_only(count_lines)], deadline=10.0)
    for finding in lint_tools([git_status, code]):
        print(finding)
    run = SurfaceRun(
        surface="code", state=state, operations={"git_status"}, server="local", right=True
    )
    print(surface_report([run]))
    return Agent("a", model="openai-compatible:qwen3-8b", tools=[*skills.tools, code, git_status])


# A gateway and its policy


def policy(check: Check) -> Decision:
    if check.risk is Risk.DESTRUCTIVE and check.arguments.get("amount", 0) > 100:
        return Decision(disposition=Disposition.REQUIRE_APPROVAL, reason_code="cap")
    return ALLOW


class Elsewhere:
    """A gateway of one's own: three methods are enough."""

    async def invoke_model(self, request: Request, context: CallContext) -> Response:
        if context.approval is None:
            msg = "not here"
            raise Denied(msg, Decision(Disposition.DENY_STEP))
        return Response(Message.assistant(request.model), FinishReason.STOP)

    async def stream_model(
        self, request: Request, context: CallContext
    ) -> AsyncIterator[StreamEvent]:
        for event in unfold(await self.invoke_model(request, context)):
            yield event

    async def invoke_tool(self, call: ToolCall, context: CallContext) -> ToolResult:
        return ToolResult.of(call.id, context.step_id, is_error=True)


def gateways(local: HttpModel, cloud: HttpModel) -> list[Gateway]:
    model = FallbackModel(local, cloud.named("larger"))
    return [
        LocalGateway(model=model, stream=model.stream, tools=[count_lines], policy=policy),
        Elsewhere(),
    ]


# An adapter of one's own


class Dialect:
    """Three pure functions, and the prefix they are found by."""

    @property
    def name(self) -> str:
        return "mine"

    def to_wire(self, request: Request) -> dict[str, Any]:
        if request.tool_choice is not None:
            msg = "no tool choice here"
            raise UnsupportedRequestError(msg)
        return {"model": request.model, "turns": [message.text for message in request.messages]}

    def from_wire(self, body: Mapping[str, Any]) -> Response:
        if "text" not in body:
            msg = "no text"
            raise ProviderError(msg, status=None, provider="mine", retry_after=1.5)
        return Response(
            Message(Role.ASSISTANT, (Text(body["text"]),)),
            FinishReason.STOP,
            Usage(input=1, output=None, cache_read=0),
        )

    def stream_from_wire(self, chunks: Iterable[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        yield StreamStart("m")
        yield TextStart(0)
        for chunk in chunks:
            yield TextDelta(0, chunk["text"])
        yield TextEnd(0)
        yield Finish(self.from_wire({"text": "whole"}))


def provider() -> Provider:
    return Dialect()


# A clock and a store of one's own


class Noon:
    def now_s(self) -> float:
        return 1767268800.0

    def monotonic_s(self) -> float:
        return 0.0


def clocks() -> list[Clock]:
    return [Noon(), SystemClock()]


def stores(folder: Path) -> list[Checkpointer]:
    return [
        MemoryCheckpointer(),
        SqliteCheckpointer(folder / "runs.sqlite"),
        JsonlCheckpointer(folder / "runs.jsonl"),
    ]


# Running


@dataclass
class Diagnosis:
    cause: str
    confidence: float


def agent(wording: Wording = ENGLISH) -> Agent:
    helper = Agent("helper", model="openai-compatible:qwen3-8b", description="Helps.")
    return Agent(
        "a",
        model="openai-compatible:qwen3-8b",
        instructions="Be brief.",
        tools=[count_lines, transfer],
        delegates=[Delegate(helper, name="assistant"), helper],
        output=Diagnosis,
        limits=Limits(max_steps=20, max_retries=2, retry_base=0.5, max_retry_wait=30.0),
        sampling=Sampling(temperature=0.0, tool_choice=ToolChoice("named", "transfer")),
        wording=wording,
    )


def tell(step: Step) -> str:
    match step:
        case ModelStep(request=Request() as asked, response=Response() as answer):
            return f"{asked.model} {answer.text} {answer.refusal} {answer.usage.cache_hit_ratio}"
        case ToolStep(call=ToolCall() as call, result=ToolResult() as result):
            return f"{call.name} {result.text} {result.is_error}"
        case DelegateStep(child_run_id=child):
            return child
        case ApprovalStep(decision=decision):
            return "waits" if decision is None else decision.message
        case FinalStep(output=output, reason=reason):
            return f"{output} {reason}"
        case _:
            return f"{step.step_id} {step.phase is Phase.ATTEMPTED}"


def show(event: StreamEvent) -> str:
    match event:
        case TextDelta(text=text) | ReasoningDelta(text=text):
            return text
        case ReasoningStart(index=index) | ReasoningEnd(index=index):
            return str(index)
        case ToolCallStart(name=name):
            return name
        case ToolCallDelta(arguments_delta=fragment):
            return fragment
        case ToolCallEnd(call=call):
            return call.id
        case _:
            return event.kind


async def run(session: Session, store: Checkpointer) -> None:
    try:
        async for step in agent().run("Why?", session=session):
            print(tell(step))
        flow = agent(SPANISH).stream("Why?", session=session)
        async for event in flow:
            if event.kind == "text_delta":
                print(event.text, end="", flush=True)
        await flow.aclose()
    except UncertainEffect as error:
        await session.resolve(error.step_id, rerun=True)
    except LimitExceeded as error:
        print(error.limit, error.value)
    except NoObjectGeneratedError as error:
        print(error.raw)
    except (InvalidToolCallError, ConfigurationError, AbortError) as error:
        print(error)
    except (JournalBusyError, JournalDivergedError, JournalFormatError, JournalError):
        raise
    except (RequestTimeoutError, NetworkError, EncodingError, SynaptumError) as error:
        print(error.retryable, error.retry_after)
    state: RunState = await store.load("r1")
    print(economy(state).report(wording=SPANISH), make_step_id(3, "tool"))
    await session.decide(state.events[-1].step_id, ALLOW)


def conversation() -> Request:
    picture = Image("image/png", data=b"...")
    sound = Audio("audio/wav", data="UklGRg==")
    paper = Document("application/pdf", url="https://example.test/a.pdf", name="a.pdf")
    thoughts: list[ContentPart] = [Thinking("hm", signature="s"), RedactedThinking("opaque")]
    history = History(
        [
            Message(Role.USER, (Text("What is this?"), picture, sound, paper)),
            Message(Role.ASSISTANT, tuple(thoughts)),
        ]
    )
    return Request(
        "qwen3-8b",
        history.append(Message.user("And this?")),
        response_format=ResponseFormat("json_schema", schema={"type": "object"}, name="it"),
    )


# Tests with the double


async def double() -> None:
    model = ModelDouble(
        says("Hello.", usage=Usage(1, 1)),
        [thinks("Money..."), calls("transfer", to="x", amount=1.0)],
        cut("half"),
        filtered(),
        refuses("I will not."),
        slow(2.5, "late"),
        fails(429, retry_after=1.0),
        drops(after=2),
        breaks(),
        denies(reason_code="no"),
        tools=[transfer],
        policy=policy,
    )
    answer: Response = await model.complete(conversation())
    assert fold(unfold(answer)) == answer
    session = Session("r1", model.gateway(), MemoryCheckpointer(), clock=Noon())
    steps = [step async for step in agent().run("Go", session=session)]
    assert trajectory(steps).tools.names == ["transfer"]


# Tests with the recorded fixtures, whose types are for annotations alone


async def recorded(
    recorded_provider: RecordedProvider, synaptum_golden: Golden, synaptum_report: ReportDoor
) -> None:
    asked = Request(recorded_provider.model_name, [Message.user("Why?")])
    answer: Response = await recorded_provider.complete(asked)
    events = [event async for event in recorded_provider.stream(asked)]
    body: bytes = recorded_provider.wire_body(asked, stream=False)
    gateway: Gateway = recorded_provider.gateway([count_lines], policy)
    session = Session("r1", gateway, sleep=recorded_provider.sleep)
    one = Agent("a", model=recorded_provider.model)
    steps: list[Step] = [step async for step in one.run("Why?", session=session)]
    waits: list[float] = recorded_provider.waits
    http: HttpModel = recorded_provider.fresh().http_model
    assert waits == [] and body and steps and http.name
    assert [exchange.request.path for exchange in recorded_provider.exchanges] != []
    state: RunState = await MemoryCheckpointer().load("r1")
    synaptum_golden.check(answer.text, masks=["id: <str>"])
    synaptum_golden.wire(asked, provider=provider())
    synaptum_golden.response(answer, name="answer")
    synaptum_golden.events(events)
    synaptum_golden.journal(state)
    synaptum_golden.catalogue([count_lines])
    synaptum_report.add(state)
    LocalGateway(model=recorded_provider.complete, journalled=synaptum_report.journalled)


def any_client(recorded_http: RecordedHttp) -> tuple[str, str]:
    with recorded_http as http:
        url: str = http.base_url
        model: str = http.model
    assert all(exchange.response is not None for exchange in recorded_http.exchanges)
    return f"{url}/chat/completions", model


# A journal after a crash, and the contracts of stores, gateways and providers of one's own


async def crash() -> None:
    report: ResumeReport = await check_resume(
        agent, "Go", model=ModelDouble(says("Done.")), stops={Stop.AFTER, Stop.CANCELLED}, sample=3
    )
    assert report.ok, report.text()
    report = await check_resume(foreign, "Go")
    table: Any = report.to_json()
    assert table


class Foreign:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def start(self, task: Any, probe: Probe) -> Any:
        probe.before_write()
        probe.after_write("checkpoint")
        return task

    async def resume(self, probe: Probe) -> Any:
        return None

    async def journal(self) -> Sequence[Any]:
        return []


def foreign(folder: Path) -> AnyAgent:
    return Foreign(folder)


class TestMyStore(CheckpointerContract):
    outlives = False

    def open_store(self, folder: Path) -> Checkpointer:
        return MemoryCheckpointer()


class TestMyGateway(GatewayContract):
    def open_gateway(self, model: Any, tools: list[Any], policy: Any) -> Gateway:
        return LocalGateway(model=model.complete, stream=model.stream, tools=tools, policy=policy)


class TestMyProvider(ProviderContract):
    def open_provider(self) -> Provider:
        return provider()
