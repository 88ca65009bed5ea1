"""A sentence for each flag that `shows` gives, for a corpus that does not explain it yet.

The same sentences as in the project's own `corpus/flags.yaml`, which is no part of the wheel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["SENTENCES"]

SENTENCES: Final[Mapping[str, str]] = {
    "error-in-stream": (
        "An error arrives inside a stream: what was given stays given, and it is no success."
    ),
    "error-in-200": ("A body of status 200 is an error or no answer at all."),
    "error-no-json": ("The error is a page or nothing; the status decides."),
    "error-status": ("The server refuses with an HTTP status."),
    "stream-lost": ("The stream ends without a finish: connection lost, not a stop."),
    "audio-answer": ("The answer is sound with a transcript."),
    "refusal": ("The model declines in a field of its own."),
    "custom-tool-call": ("A call of a custom tool has free text in place of arguments."),
    "function-call-legacy": ("The old `function_call` is a call; an empty one is filler."),
    "content-filter": ("A filter ended the answer."),
    "message-missing": ("A choice has no message at all, because a filter withheld it."),
    "content-parts-answer": (
        "The answer's content is a list of parts; its texts are joined and its thinking is"
        " reasoning."
    ),
    "content-object": (
        "The content of a structured answer is a JSON object and not a text; its JSON is the text."
    ),
    "tool-call-parallel": ("Several calls in one turn."),
    "text-and-call": ("Text and tool calls stand in one message."),
    "tool-call": ("The answer, or a turn sent back, calls a tool."),
    "arguments-object": ("Arguments arrive as an object, where the dialect has a text."),
    "arguments-unreadable": (
        "Arguments are no JSON object; the text is kept and the call is not run."
    ),
    "call-index-zero": ("Every call has index 0; a new id, not a new index, starts a call."),
    "call-index-missing": ("Call deltas carry no index; ids tell calls apart."),
    "call-id-missing": ("A call has no usable id; one is made, so that its result can name it."),
    "call-whole-chunk": ("A streamed call arrives whole in one chunk."),
    "call-fragments": ("The arguments of a streamed call come in fragments."),
    "reasoning-only": ("A turn of reasoning with no text and no call."),
    "reasoning-details": ("Reasoning comes as a list of details, in words or encrypted."),
    "reasoning": ("The answer carries reasoning."),
    "think-tags": (
        "Reasoning stands in <think> tags inside the content; by default they are text."
    ),
    "finish-length": ("The answer is cut by the token limit."),
    "finish-stop-with-calls": ("The finish word says stop though there are calls: calls decide."),
    "finish-repeated": ("The finish word comes in several chunks; the first is not the end."),
    "choices-several": ("Several choices came; the first is the answer."),
    "content-absent": ("The answer has no content key, which says the same as null."),
    "content-null": ("Content is null beside a tool call; there is no text."),
    "content-filler": (
        "An empty content beside tool calls is the server's filler, not something said."
    ),
    "empty-text": ("The empty string is said, which is not the same as nothing."),
    "tool-calls-none": ("Null or an empty list of tool calls means that there are none."),
    "logprobs": ("Log probabilities survive; an empty object is filler."),
    "message-beside-delta": (
        "Chunks repeat the whole message beside the delta; only the delta counts."
    ),
    "first-chunk-empty": ("The first chunk has no choices."),
    "id-differs": ("Id and model differ between chunks, or are empty at first."),
    "finish-key-missing": ("Ordinary chunks have no finish_reason key."),
    "sse-no-done": ("No [DONE] comes; the finish word is the end."),
    "sse-comments": ("Comment lines keep the connection open and say nothing."),
    "sse-line-ends": ("Lines end with CR LF."),
    "timings": ("llama.cpp's timings tell the tokens where usage does not."),
    "usage-missing": ("The answer does not say its tokens; they are unknown, not zero."),
    "usage-running": (
        "Usage comes on every chunk as a running total: the last counts, nothing is added up."
    ),
    "usage-details-null": ("Null details, or nulls in them, mean that nobody measured."),
    "cached-tokens": ("The server says how much of the prompt it had in its cache."),
    "usage-zero-cached": ("Zero cached tokens were measured, which is not the same as unknown."),
    "usage-last-chunk": ("Usage comes in a last chunk with no choices, null before."),
    "tool-result": ("A tool result is sent back."),
    "json-schema": ("The answer is constrained by a JSON schema."),
    "tool-choice": ("The request says whether tools may be called."),
    "system-prompt": ("The request has a system prompt."),
    "unicode": ("Text outside ASCII, with characters of several bytes and code points."),
    "text": ("The answer is plain text."),
    "stream": ("The answer is asked for as a stream."),
    "extra-fields": "Fields that have no neutral name.",
}
