"""A server of the 2025-06-18 revision in plain JSON-RPC, and the ways a server misbehaves.

It is written by hand, without the SDK, so that it can do what the SDK would not.
"""

import json
import os
import sys
import time

OBJECT = {"type": "object"}
TOOLS = [
    {"name": "echo", "inputSchema": OBJECT | {"properties": {"text": {"type": "string"}}}},
    {"name": "mixed", "inputSchema": OBJECT | {"properties": None, "required": None}},
    {"name": "silent_error", "inputSchema": OBJECT},
    {"name": "die", "inputSchema": OBJECT},
    {"name": "never", "inputSchema": OBJECT},
    {"name": "never_safe", "inputSchema": OBJECT, "annotations": {"idempotentHint": True}},
    {"name": "refuse", "inputSchema": OBJECT},
    {"name": "nonsense", "inputSchema": OBJECT},
    {"name": "chatter", "inputSchema": OBJECT},
    {"name": "ask", "inputSchema": OBJECT},
]
MODE = sys.argv[1] if len(sys.argv) > 1 else "plain"


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def content(*blocks, **more):
    return {"content": list(blocks), **more}


def text(words):
    return {"type": "text", "text": words}


def call(identifier, name, arguments):
    if name == "echo":
        send(id=identifier, result=content(text(arguments.get("text", ""))))
    elif name == "mixed":
        picture = {"type": "image", "data": "iVBO", "mimeType": "image/png"}
        sound = {"type": "audio", "data": "UklG", "mimeType": "audio/wav"}
        link = {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"}
        words = {"uri": "file:///b.txt", "text": "inside"}
        data = {"uri": "file:///c.bin", "blob": "AAEC", "mimeType": "application/pdf"}
        send(
            id=identifier,
            result=content(
                text("A"),
                picture,
                sound,
                link,
                {"type": "resource", "resource": words},
                {"type": "resource", "resource": data},
                text("B"),
            ),
        )
    elif name == "silent_error":
        send(id=identifier, result=content(isError=True))
    elif name == "die":
        print(f"boom: the key is {os.environ.get('SERVICE_KEY')}", file=sys.stderr, flush=True)
        os._exit(1)
    elif name == "refuse":
        send(id=identifier, error={"code": -32602, "message": "Unknown tool: refuse"})
    elif name == "nonsense":
        send(id=identifier, result={"content": "not a list"})
    elif name == "chatter":
        print("Loading model...\n{not json}\n\n[1, 2]", flush=True)
        sys.stdout.buffer.write(b"\xff\xfe caf\xe9\n")
        sys.stdout.flush()
        send(id=identifier, result=content(text("ok")))
    elif name == "far":
        send(id=identifier, result=content(text("far")))
    elif name == "ask":
        send(
            id="q1",
            method="elicitation/create",
            params={"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
        )
        answer = json.loads(sys.stdin.readline())
        refused = "error" in answer
        send(id=identifier, result=content(text(f"refused={refused}"), isError=True))


def tools():
    if MODE == "schemas":
        return [
            {"name": "ok", "inputSchema": OBJECT},
            {"name": "either", "inputSchema": {"anyOf": [{"required": ["a"]}], "type": "object"}},
            {"name": "far", "inputSchema": OBJECT | {"$ref": "https://example.com/x.json"}},
        ]
    if MODE == "array":
        return [
            {"name": "ok", "inputSchema": OBJECT},
            {"name": "bad", "inputSchema": {"type": "array"}},
        ]
    if MODE == "twice":
        return [{"name": "same", "inputSchema": OBJECT}] * 2
    return TOOLS


if MODE == "deaf":  # reads nothing, answers nothing, and does not leave when asked to
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(str(os.getpid()))
    while True:
        time.sleep(60)
if MODE == "broken":
    print("no licence found", file=sys.stderr, flush=True)
    sys.exit(3)
if MODE == "chatty":
    print("Welcome to the server!", flush=True)

if len(sys.argv) > 2:
    with open(sys.argv[2], "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(str(os.getpid()))

for line in sys.stdin:
    message = json.loads(line)
    method, identifier = message.get("method"), message.get("id")
    if method == "initialize":
        send(
            id=identifier,
            result={
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "legacy", "version": json.dumps(message["params"])},
            },
        )
    elif method == "tools/list":
        if MODE == "endless":
            page = [{"name": f"t{identifier}", "inputSchema": OBJECT}]
            send(id=identifier, result={"tools": page, "nextCursor": "more"})
            continue
        cursor = (message.get("params") or {}).get("cursor")
        listed = tools()
        half = len(listed) // 2
        page = listed[half:] if cursor == "p2" else listed[:half]
        following = {} if cursor == "p2" else {"nextCursor": "p2"}
        send(id=identifier, result={"tools": page, **following})
    elif method == "tools/call":
        call(identifier, message["params"]["name"], message["params"].get("arguments") or {})
    elif identifier is not None and method is not None:
        send(id=identifier, error={"code": -32601, "message": f"Method not found: {method}"})
