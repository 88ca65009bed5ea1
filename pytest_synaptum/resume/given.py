"""What the user gave, turned into factories: agents, gateways, and places to import them from."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any, cast

from pytest_synaptum.resume.stops import Stop
from synaptum.gateway.base import Gateway
from synaptum.gateway.local import LocalGateway
from synaptum.vocabulary import ALLOW, ApprovalStep, Decision

__all__ = [
    "agent_factory",
    "allow",
    "check_extent",
    "gateway_factory",
    "imported",
    "is_reference",
    "refuse_settings",
]


def allow(approval: ApprovalStep) -> Decision:
    """The person who allows everything."""
    return ALLOW


def is_reference(given: Any) -> bool:
    """Whether it is a text such as `shop.agents:make`."""
    return isinstance(given, str)


def imported(reference: str) -> Any:
    """What `module:name` names.

    Raises:
        ValueError: it is no such text, or there is no such thing; says which.
    """
    module, _, name = reference.partition(":")
    if not module or not name:
        msg = f"{reference!r} names nothing: write 'module:function', such as 'shop.agents:make'."
        raise ValueError(msg)
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        msg = f"{reference!r} cannot be imported: {error}."
        raise ValueError(msg) from error
    return found


def check_extent(stops: Any, sample: Any, perturb: bool) -> None:
    """Refuse a check that would look at nothing, and be green for that.

    Raises:
        TypeError: `stops` is no collection of `Stop`, or `sample` no whole number.
        ValueError: `stops` is empty without `perturb`, or `sample` under 1.
    """
    if stops is not None:
        if isinstance(stops, str) or not isinstance(stops, Collection):
            msg = f"stops={stops!r}: a collection of Stop is needed, such as {{Stop.AFTER}}."
            raise TypeError(msg)
        foreign = [stop for stop in stops if not isinstance(stop, Stop)]
        if foreign:
            known = ", ".join(f"Stop.{stop.name}" for stop in Stop)
            msg = f"stops: {foreign[0]!r} is no kind of stop; there are {known}."
            raise TypeError(msg)
        if not stops and not perturb:
            msg = "stops is empty, so nothing would be stopped: leave it out for all kinds."
            raise ValueError(msg)
    if sample is not None:
        if isinstance(sample, bool) or not isinstance(sample, int):
            msg = f"sample={sample!r}: the number of boundaries to look at is a whole number."
            raise TypeError(msg)
        if sample < 1:
            msg = f"sample={sample}: at least one boundary is looked at; leave it out for all."
            raise ValueError(msg)


def refuse_settings(agent: Any, settings: dict[str, Any]) -> None:
    """Refuse, for an agent of another framework, what only an agent of synaptum's has.

    In: by name, what was given of these settings; None, False and `allow` are nothing given.

    Raises:
        TypeError: there is something, which would have been left out of the check unseen.
    """
    given = [name for name, value in settings.items() if value not in (None, False, allow)]
    if not given:
        return
    told = ", ".join(f"{name}=" for name in given)
    msg = (
        f"agent={agent!r} takes a folder, so it makes an agent of another framework, which is"
        f" checked without {told}: its model and its store are its own. A function that makes an"
        " Agent of synaptum takes nothing."
    )
    raise TypeError(msg)


def agent_factory(given: Any) -> Callable[[], Any]:
    """What gives the agent: given itself, as a factory, or as `module:function`."""
    if is_reference(given):
        given = imported(given)
    if hasattr(given, "run") and not isinstance(given, type):
        return lambda: given
    if callable(given):
        return _made_by(given)
    msg = (
        f"agent={given!r} is no agent, no function that makes one, and no text such as"
        " 'module:function'."
    )
    raise TypeError(msg)


def _made_by(make: Callable[[], Any]) -> Callable[[], Any]:
    def agent() -> Any:
        made = make()
        if not hasattr(made, "run"):
            msg = f"agent={make!r} made a {type(made).__name__}, which is no Agent."
            raise TypeError(msg)
        return made

    return agent


def gateway_factory(given: Any, model: Any, agent: Callable[[], Any]) -> Callable[[], Gateway]:
    """What gives the gateway.

    In: `given` makes it, from nothing or from the model, and may be `module:function`; without
    it, the model answers and the agent's own tools are run.
    """
    if given is None:
        if model is None:
            msg = (
                "resume_check needs something that answers: gateway=, a function that makes the"
                " gateway, or model=, such as recorded_provider or a model_double."
            )
            raise TypeError(msg)
        return lambda: _own_gateway(model, agent())
    if is_reference(given):
        given = imported(given)
    if not callable(given):
        msg = (
            f"gateway={given!r} is one gateway, and each run needs its own: give a function that"
            " makes it, such as lambda: model.gateway(tools)."
        )
        raise TypeError(msg)
    if _takes_model(given):
        if model is None:
            msg = f"gateway={given!r} takes a model, and there is none: give model= as well."
            raise TypeError(msg)
        return lambda: cast("Gateway", given(model))
    return cast("Callable[[], Gateway]", given)


def _takes_model(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    first = next(iter(parameters.values()), None)
    return first is not None and (first.name == "model" or first.default is first.empty)


def _own_gateway(model: Any, agent: Any) -> LocalGateway:
    complete = getattr(model, "complete", model)
    return LocalGateway(
        model=complete, stream=getattr(model, "stream", None), tools=_tools_of(agent.plan)
    )


def _tools_of(plan: Any) -> Iterable[Any]:
    """The tools of an agent and of its sub-agents, each once."""
    found = dict(plan.tools)
    for delegate in plan.delegates.values():
        for tool in _tools_of(delegate.plan):
            found.setdefault(tool.name, tool)
    return list(found.values())
