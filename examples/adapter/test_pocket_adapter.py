"""What the corpus cannot know about an adapter: how it writes, and what it refuses."""

import pytest
from pocket_adapter import PocketAdapter

from synaptum import (
    Image,
    Message,
    Request,
    Role,
    ToolCall,
    ToolResult,
    UnsupportedRequestError,
)


def test_a_round_with_a_tool_is_written_as_servers_take_it(synaptum_golden):
    request = Request(
        "demo",
        [
            Message.user("Weather in Lima?"),
            Message(Role.ASSISTANT, (ToolCall("call_1", "get_weather", {"city": "Lima"}),)),
            Message.tool_results(ToolResult.of("call_1", "fog")),
        ],
        max_output_tokens=20,
    )

    # The golden holds the body; the wire lint holds it to what servers refuse.
    synaptum_golden.wire(request, provider=PocketAdapter())


def test_what_it_cannot_say_is_refused_by_name():
    picture = Image("image/png", data="aGk=")
    request = Request("demo", [Message(Role.USER, (picture,))])

    with pytest.raises(UnsupportedRequestError, match="no shape for image"):
        PocketAdapter().to_wire(request)
