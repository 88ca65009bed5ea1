"""A LangGraph agent behind the check's protocol, with LangGraph's own SQLite checkpointer.

The graph is the usual one: a node that asks the model, a node that runs tools, an edge back.
Nothing of LangGraph is patched: the checkpointer is a subclass that tells of its writes.
"""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from pytest_synaptum import Probe


class State(TypedDict):
    """The conversation."""

    messages: Annotated[list[Any], add_messages]


class Saver(SqliteSaver):
    """LangGraph's SQLite checkpointer, telling the probe of each of its two kinds of write."""

    probe: Probe

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        # LangGraph writes from several threads; one write at a time makes boundaries exact.
        self._one_write = threading.RLock()

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        with self._one_write:
            self.probe.before_write()
            written = super().put(config, checkpoint, metadata, new_versions)
            self.probe.after_write(f"checkpoint {metadata.get('step')}")
        return written

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        with self._one_write:
            self.probe.before_write()
            super().put_writes(config, writes, task_id, task_path)
            self.probe.after_write("writes of a node")


class GraphAgent:
    """One run, over a database in a folder.

    Args:
        folder: where the database is.
        durability: LangGraph's own setting: `sync` writes before the next step begins.
    """

    def __init__(self, folder: Path, durability: str = "sync") -> None:
        self._connection = sqlite3.connect(folder / "graph.db", check_same_thread=False)
        self._saver = Saver(self._connection)
        self._saver.setup()
        self._config: Any = {"configurable": {"thread_id": "run-1"}}
        self._durability: Any = durability

    async def start(self, task: str, probe: Probe) -> Any:
        """Begin, as a user of LangGraph does."""
        return self._invoke({"messages": [{"role": "user", "content": task, "id": "task"}]}, probe)

    async def resume(self, probe: Probe) -> Any:
        """Go on with what is on record; begin where nothing is, as a user of LangGraph must."""
        if self._saver.get_tuple(self._config) is None:
            return await self.start("Send a letter.", probe)
        return self._invoke(None, probe)

    async def journal(self) -> list[Any]:
        """The conversation on record, without drawn ids: what LangGraph promises to keep.

        Not the checkpoints one by one: a resumed run may well have others on the way.
        """
        found = self._saver.get_tuple(self._config)
        assert found is not None
        return _plain(found.checkpoint["channel_values"].get("messages", []))

    def _invoke(self, given: Any, probe: Probe) -> Any:
        graph = self._graph(probe)
        result = graph.invoke(given, self._config, durability=self._durability)
        return _plain(result["messages"])[-1]

    def _graph(self, probe: Probe) -> Any:
        self._saver.probe = probe

        def ask(state: State) -> State:
            probe.asked(_plain(state["messages"]))
            number = len(state["messages"])
            if number < 5:
                call = {"id": f"call_{number}", "name": "send", "args": {"to": f"A{number}"}}
                return {"messages": [_assistant("", f"m{number}", [call])]}
            return {"messages": [_assistant("Both are sent.", f"m{number}", [])]}

        def tools(state: State) -> State:
            results = []
            for call in state["messages"][-1].tool_calls:
                probe.effect(call["name"], call["args"])
                results.append(
                    {
                        "role": "tool",
                        "content": "sent",
                        "tool_call_id": call["id"],
                        "id": f"result-{call['id']}",
                    }
                )
                probe.effect_happened()
            return {"messages": results}

        def further(state: State) -> str:
            return "tools" if state["messages"][-1].tool_calls else END

        graph = StateGraph(State)
        graph.add_node("ask", ask)
        graph.add_node("tools", tools)
        graph.add_edge(START, "ask")
        graph.add_conditional_edges("ask", further, ["tools", END])
        graph.add_edge("tools", "ask")
        return graph.compile(checkpointer=self._saver)


def _assistant(text: str, message_id: str, calls: list[dict[str, Any]]) -> Any:
    from langchain_core.messages import AIMessage

    return AIMessage(content=text, id=message_id, tool_calls=calls)


def _plain(messages: Any) -> list[Any]:
    found = []
    for message in messages:
        if isinstance(message, dict):
            found.append({"type": message["role"], "content": message["content"], "calls": []})
        else:
            calls = [[c["id"], c["name"], c["args"]] for c in getattr(message, "tool_calls", [])]
            found.append({"type": message.type, "content": message.content, "calls": calls})
    return found
