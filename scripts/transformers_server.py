"""Runs a command with `transformers serve` on the CPU: the corpus' fourth server.

python scripts/transformers_server.py PYTHON COMMAND...

PYTHON is that of the environment that holds transformers. The command finds the address in
SYNAPTUM_BASE_URL. The model is the small one of the other recordings, with a chat template of ours
and what tells the server how to find calls and reasoning in an answer. It calls tools, and thinks
where a request says so: `chat_template_kwargs: {enable_thinking: true}`.
"""

import json
import sys
import tempfile
from pathlib import Path

from beside import free_port, run_beside
from hf_model import model_folder, template

from pytest_synaptum.model_file import SMALL_MODEL

READY_S = 300.0

#: What the server has of its own for models of the Qwen family, whose markup our template uses.
RESPONSE_TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>", "content": "text"},
        "tool_calls": {
            "open_pattern": r"\s*<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"\s*<\|im_end\|>", "content": "text"},
    },
}


def served(model: Path, folder: Path) -> None:
    """The model under the name that it will have in answers, with template and markup of ours."""
    target = folder / SMALL_MODEL.name
    target.mkdir()
    for file in model.iterdir():
        if file.name not in {"chat_template.jinja", "tokenizer_config.json"}:
            (target / file.name).symlink_to(file)
    (target / "chat_template.jinja").write_text(template(), encoding="utf-8")
    config = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    config["response_template"] = RESPONSE_TEMPLATE
    (target / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")


def main(python: str, command: list[str]) -> int:
    program = Path(python).absolute().with_name("transformers")
    if not program.is_file():
        sys.exit(f"{python} has no `transformers serve`: install `transformers[serving]` beside it")
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        served(model_folder(python), folder)
        server = [
            *(str(program), "serve", SMALL_MODEL.name),
            *("--host", "127.0.0.1", "--port", str(port)),
            *("--device", "cpu", "--dtype", "float32", "--default-seed", "42"),
        ]
        return run_beside(
            server,
            command,
            name="transformers serve",
            port=port,
            ready="/health",
            ready_s=READY_S,
            folder=folder,
            environment={
                "DO_NOT_TRACK": "1",
                "HF_HUB_OFFLINE": "1",
                "HF_HUB_DISABLE_TELEMETRY": "1",
                "TRANSFORMERS_OFFLINE": "1",
            },
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
