"""Every exception synaptum raises, under one root.

The type says whether trying again can help (`retryable`), because only whoever spoke to
the other side knows; the loop does not decide it. No message ever holds a key: callers
build messages from names, statuses and paths, never from headers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synaptum.vocabulary.steps import Decision

__all__ = [
    "AbortError",
    "ConfigurationError",
    "Denied",
    "EncodingError",
    "InvalidToolCallError",
    "JournalBusyError",
    "JournalDivergedError",
    "JournalError",
    "JournalFormatError",
    "LimitExceeded",
    "NeedsHumanError",
    "NetworkError",
    "NoObjectGeneratedError",
    "ProviderError",
    "RequestTimeoutError",
    "SynaptumError",
    "ToolExecutionError",
    "UncertainEffect",
    "UnsupportedRequestError",
    "is_retryable",
    "is_retryable_status",
    "words_of",
]


def is_retryable_status(status: int) -> bool:
    """Whether an HTTP status may succeed when asked again.

    Source: seed 001, "Reintentos": any 4xx but 429 is final; 429 and 5xx are not.
    """
    return status == 429 or status >= 500


class SynaptumError(Exception):
    """Root of all errors of synaptum.

    Attributes:
        retryable: whether the same call may succeed when repeated.
        retry_after: seconds the other side asked to wait, or None where it did not say.
    """

    retryable: bool = False
    retry_after: float | None = None


def is_retryable(error: BaseException) -> bool:
    """Whether the same call may succeed when repeated, as far as the error says.

    An error of somebody else's says it by a bool `retryable`, as ours do, or by being one of
    Python's own that pass.
    """
    said = getattr(error, "retryable", None)
    if isinstance(said, bool):
        return said
    return isinstance(error, TimeoutError | ConnectionError)


def words_of(error: BaseException) -> str:
    """An error's message as it can be written down, or "" where it cannot make one.

    Errors are other people's values: one of them must not break the record that holds it. The
    halves of a character (two surrogates) become the character.
    """
    try:
        text = str(error)
        if not text.isascii():
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    except Exception:  # somebody's __str__
        return ""
    return text


class ConfigurationError(SynaptumError):
    """Something was set up wrongly; it names what and how to put it right."""


class EncodingError(SynaptumError, ValueError):
    """A value has no exact JSON form, or a text is not the JSON we write.

    Attributes:
        code: what is wrong with the value, a key of `Wording.encodings`; "" where the message
            alone says it.
        facts: the fields of that sentence.
    """

    def __init__(self, message: str, code: str = "", **facts: str) -> None:
        super().__init__(message)
        self.code = code
        self.facts = facts


class UnsupportedRequestError(ConfigurationError):
    """A request holds something that the dialect has no shape for; nothing was sent."""


class ProviderError(SynaptumError):
    """The provider answered, and the answer is an error or not an answer.

    Attributes:
        status: HTTP status, or None where the error rode inside a stream or a 200.
        provider: name of the provider that read the answer.
        request_id: the server's own id of the request, where it gave one.
        retry_after: seconds that the server asks to wait, or None.
        retryable: whether trying again may help; by the status where nobody says. Any 4xx but
            429 is not. Source: seed 001, "Reintentos".
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        provider: str | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.provider = provider
        self.retry_after = retry_after
        self.request_id = request_id
        if retryable is None:
            retryable = status is not None and is_retryable_status(status)
        self.retryable = retryable


class NetworkError(SynaptumError):
    """The connection failed, or broke off before the answer was whole."""

    retryable = True


class RequestTimeoutError(NetworkError):
    """The other side did not answer within the time allowed."""


class AbortError(SynaptumError):
    """The call was cancelled by its caller."""


class Denied(SynaptumError):
    """The policy refused a call. `decision` says how and why."""

    def __init__(self, message: str, decision: Decision) -> None:
        super().__init__(message)
        self.decision = decision


class InvalidToolCallError(SynaptumError):
    """The arguments do not fit the tool's signature: schema and function disagree."""


class ToolExecutionError(SynaptumError):
    """A tool failed. Raise it from a tool to say whether repeating can help.

    Args:
        message: what the model is told.
        retryable: whether the same call may succeed when repeated; it is repeated only if
            the tool is idempotent.
        retry_after: seconds to wait before that, where known.
    """

    def __init__(
        self, message: str, *, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class NeedsHumanError(SynaptumError):
    """Raised by a tool that a person must decide about; the run suspends."""


class NoObjectGeneratedError(SynaptumError):
    """No answer fitted the output type. `raw` is the last text the model gave."""

    def __init__(self, message: str, raw: str) -> None:
        super().__init__(message)
        self.raw = raw


class LimitExceeded(SynaptumError):
    """A limit of the run was reached.

    Attributes:
        limit: the field of `Limits` (such as `max_steps`).
        value: the value it had.
    """

    def __init__(self, message: str, limit: str, value: float) -> None:
        super().__init__(message)
        self.limit = limit
        self.value = value


class UncertainEffect(SynaptumError):
    """A non-idempotent call was begun and its end is not on record.

    Leave it with `Session.resolve(step_id, result=...)` or `resolve(step_id, rerun=True)`.

    Attributes:
        step_id: the call's step.
        run_id: the run it belongs to: that of a sub-agent where the call is one of its.
    """

    def __init__(self, message: str, step_id: str, run_id: str = "") -> None:
        super().__init__(message)
        self.step_id = step_id
        self.run_id = run_id


class JournalError(SynaptumError):
    """Root of what can be wrong with a journal."""


class JournalFormatError(JournalError):
    """The journal on disk is not one this version can read; says where and why."""


class JournalDivergedError(JournalError):
    """An event that is on record was appended again with another payload.

    Attributes:
        step_id: the step that differs.
        path: JSON pointer of the first difference.
    """

    def __init__(self, message: str, step_id: str, path: str = "") -> None:
        super().__init__(message)
        self.step_id = step_id
        self.path = path


class JournalBusyError(JournalError):
    """Another live writer holds this run."""
