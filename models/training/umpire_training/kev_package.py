"""The model folder of `kev` around its exported graphs: manifest, tokenizer, golden answers, checksums.

    python -m umpire_training.export --checkpoint runs/final.pt --out ../kev --data DIR
    python -m umpire_training.onnx_answers --folder ../kev --out runs/answers.int8.json --data DIR
    python -m umpire_training.calibrate --logits runs/answers.int8.json --out runs/temperatures.json --data DIR
    python -m umpire_training.kev_package --checkpoint runs/final.pt --temperatures runs/temperatures.json --out ../kev
    python -m umpire_training.device_graphs --folder ../kev
    python -m umpire_training.gate --checkpoint runs/final.pt --folder ../kev --data DIR
"""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path

from . import package
from .export import BUILDERS, load_model
from .golden import golden
from .graph import PRECISIONS
from .model import KevModel
from .prompts import Limits

BUCKETS = {"choice": ("2", "3-5", "6-10", "11+"), "noul": ("2",), "score": ("2", "3-5", "6-10")}
FLAT = {kind: {bucket: 1.0 for bucket in buckets} for kind, buckets in BUCKETS.items()}


def manifest(model: KevModel, precisions: list[str], temperatures: dict) -> dict:
    shape, limits = model.shape, Limits()
    return {
        "format": 1,
        "id": "kev",
        "type": "decision",
        "family": "split-encoder",
        "description": "Answers typed questions about a text: choice, yes or no, score. English, CPU, no generated text.",
        "release_date": date.today().isoformat(),
        "owned_by": "umpire",
        "licence": "Apache-2.0",
        "graphs": {precision: {name: f"{name}.{precision}.onnx" for name in BUILDERS} for precision in precisions},
        "limits": {"state_tokens": 8192, "question_tokens": 32768},
        "price": {"input_micro_usd_per_million_tokens": 37800, "output_micro_usd_per_million_tokens": 0},
        "shape": {"layers": shape.layers, "heads": shape.heads, "head_size": shape.head_size},
        "windows": {"tokens": limits.window_tokens, "max_index": limits.max_window_index},
        "branches": {"max_tokens": limits.branch_tokens, "max_scores": limits.branch_scores},
        "temperatures": {kind: {bucket: temperatures[kind][bucket] for bucket in BUCKETS[kind]} for kind in BUCKETS},
    }


def write(model: KevModel, folder: Path, temperatures: dict) -> None:
    """Adds to a folder of graphs everything else but the card; `model` is what the graphs were exported from."""
    precisions = [precision for precision in PRECISIONS if (folder / f"weights.{precision}.bin").exists()]
    package.write_tokenizer(folder, Limits().window_tokens)
    package.write_json(folder / "model.json", manifest(model, precisions, temperatures))
    package.write_json(folder / "golden.json", golden(model, folder), indent=None)
    package.pack(folder / "golden.json")
    package.write_sums(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, help="without it: the untrained model")
    parser.add_argument("--temperatures", type=Path, help="JSON of calibrate.py; without it all are 1")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    temperatures = json.loads(options.temperatures.read_text())["temperatures"] if options.temperatures else FLAT
    write(load_model(options.checkpoint), options.out, temperatures)


if __name__ == "__main__":
    main()
