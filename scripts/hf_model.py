"""The small model as servers of Hugging Face folders take it: what two recording scripts share."""

import subprocess
import sys
from pathlib import Path

from pytest_synaptum.local_server import resolve_template
from pytest_synaptum.model_file import FETCH_COMMAND, cached_model


def template() -> str:
    """Both of our chat templates in one, as models have it that think on demand."""
    thinking, tools = resolve_template("thinking"), resolve_template("tools")
    return f"{{%- if enable_thinking -%}}{thinking}{{%- else -%}}{tools}{{%- endif -%}}"


def model_folder(python: str) -> Path:
    """The folder, which stands beside the model's file and is made where it is not there yet.

    Args:
        python: of an environment with transformers, torch and gguf.

    Raises:
        SystemExit: there is no model, or it could not be written out.
    """
    source = cached_model()
    if source is None:
        sys.exit(f"there is no model to serve: fetch it with `{FETCH_COMMAND}`")
    target = source.with_suffix(".hf")
    if not target.is_dir():
        script = Path(__file__).with_name("gguf_to_hf.py")
        made = subprocess.run([python, str(script), str(source), str(target)], check=False)
        if made.returncode:
            sys.exit(f"{source} could not be written out as {target}; why stands above")
    return target
