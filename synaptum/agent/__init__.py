"""The agent: a configuration, the loop that runs it, and the sessions it runs in."""

from synaptum.agent.agent import Agent
from synaptum.agent.delegate import Delegate
from synaptum.agent.limits import Limits
from synaptum.agent.sampling import Sampling
from synaptum.agent.session import Session

__all__ = ["Agent", "Delegate", "Limits", "Sampling", "Session"]
