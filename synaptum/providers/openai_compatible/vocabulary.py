"""The words of the dialect: which wire word is which of ours, and what each field is for.

Tables only. A word that stands in no table is data, not an error: it is kept as it came.

Source, unless a comment says otherwise: OpenAI API reference, "Create chat completion",
"The chat completion object" and "The chat completion chunk object", read 2026-11-30.
"""

from __future__ import annotations

from typing import Final

from synaptum.vocabulary import FinishReason

__all__ = [
    "CHUNK_FRAMING",
    "FINISH_REASONS",
    "JOINED_FIELDS",
    "RETRYABLE_CODES",
    "UNPAYABLE_CODES",
    "WORD_FIELDS",
]

#: Wire word -> ours. A word that is not here (`eos`, `""`, none at all) maps by content.
FINISH_REASONS: Final[dict[str, FinishReason]] = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,  # the deprecated `functions` field
    "content_filter": FinishReason.CONTENT_FILTER,
    "error": FinishReason.ERROR,  # OpenRouter reference, "Errors", 2026-11-30
    "model_length": FinishReason.LENGTH,  # Mistral API reference, 2026-11-30
    "sensitive": FinishReason.CONTENT_FILTER,  # Z.ai API reference, 2026-11-30
    "network_error": FinishReason.ERROR,  # Z.ai API reference, 2026-11-30
    "insufficient_system_resource": FinishReason.ERROR,  # DeepSeek API reference, 2026-11-30
}

#: Fields that say how the bytes were framed, not what was answered: `object` names the
#: envelope, `obfuscation` and `p` are random padding against traffic analysis (seen in
#: recorded exchanges of OpenAI, Azure, Bedrock and Mistral).
CHUNK_FRAMING: Final = frozenset({"object", "obfuscation", "p"})

#: Text fields that a stream gives in fragments, although they are neither content nor
#: reasoning: their fragments are joined. Seen: `refusal` (OpenAI), `transcript` and `data`
#: inside `audio` (OpenAI), `text` beside the delta (Together).
JOINED_FIELDS: Final = frozenset({"refusal", "transcript", "data", "text", "summary"})

#: Text fields that a stream repeats whole in every chunk: the last one stands.
WORD_FIELDS: Final = frozenset({"channel", "name", "role", "type", "id"})

#: Error codes and types that no repetition mends, whatever the status says.
UNPAYABLE_CODES: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"}
)

#: Error codes and types that a repetition may mend, where no status came along.
RETRYABLE_CODES: Final = frozenset(
    {
        "api_error",
        "internal_error",
        "internal_server_error",
        "overloaded",
        "overloaded_error",
        "queue_full",
        "rate_limit",
        "rate_limit_error",
        "rate_limit_exceeded",
        "server_error",
        "service_unavailable",
        "timeout",
        "unavailable_error",
    }
)
