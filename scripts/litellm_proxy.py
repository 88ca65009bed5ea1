"""Runs a command with a LiteLLM proxy in front of the embedded server: the corpus' second server.

python scripts/litellm_proxy.py PROXY_PROGRAM COMMAND...

PROXY_PROGRAM is `litellm` of the environment that holds it (its pins do not go with ours). The
command finds the address in SYNAPTUM_BASE_URL and the key in SYNAPTUM_API_KEY. Behind the proxy
stand llama.cpp servers without a prompt cache, so that an answer does not depend on what was
asked before.
"""

import json
import secrets
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from beside import free_port, run_beside

from pytest_synaptum.local_server import LocalServer

READY_S = 180.0
TOOLS, THINKING = "smollm2-135m", "smollm2-135m-thinking"


def config_of(tools: str, thinking: str) -> str:
    """The models that the cases ask for; `dead`, `slow` and `backed` fail behind the proxy."""
    nobody = f"http://127.0.0.1:{free_port()}/v1"

    def model(name: str, base_url: str, alias: str = TOOLS, **more: object) -> dict[str, object]:
        params = {"model": f"openai/{alias}", "api_base": base_url, "api_key": "none", **more}
        return {"model_name": name, "litellm_params": params}

    models = [
        model(TOOLS, tools),
        model(THINKING, thinking, THINKING),
        model("dead", nobody, max_retries=0),
        model("slow", tools, timeout=0.05, max_retries=0),
        model("backed", nobody, max_retries=0),
    ]
    return json.dumps(
        {
            "model_list": models,
            "litellm_settings": {
                "telemetry": False,
                "num_retries": 0,
                "fallbacks": [{"backed": [TOOLS]}],
            },
            "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        }
    )


def main(program: str, command: list[str]) -> int:
    key = f"sk-{secrets.token_hex(24)}"
    port = free_port()
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        tools = running.enter_context(LocalServer(template="tools", cache_prompt=False))
        thinking = running.enter_context(
            LocalServer(template="thinking", cache_prompt=False, alias=THINKING)
        )
        config = folder / "config.yaml"
        config.write_text(config_of(tools.base_url, thinking.base_url), encoding="utf-8")
        return run_beside(
            [program, "--config", str(config), "--host", "127.0.0.1", "--port", str(port)],
            command,
            name="the proxy",
            port=port,
            ready="/health/liveliness",
            ready_s=READY_S,
            key=key,
            environment={
                "LITELLM_MASTER_KEY": key,
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "NO_DOCS": "True",
            },
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
