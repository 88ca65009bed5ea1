"""Makes a Hugging Face folder of a GGUF file, with every weight as a 32-bit float.

PYTHON scripts/gguf_to_hf.py FILE.gguf FOLDER

PYTHON is that of an environment with transformers, torch and gguf. The folder has its name only
when it is whole.
"""

import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def main(source: Path, target: Path) -> None:
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    model = AutoModelForCausalLM.from_pretrained(
        source.parent,
        gguf_file=source.name,
        dtype=torch.float32,
        quantization_config=GgufConfig(dequantize=True),
    )
    model.to(torch.float32).save_pretrained(part)
    tokenizer.save_pretrained(part)
    part.rename(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
