"""The model folder of `kev` from a checkpoint and its temperatures: graphs, manifest, tokenizer, golden answers, checksums.

    python -m umpire_training.kev_package --checkpoint runs/final.pt --temperatures runs/temperatures.json --out ../kev --data DIR
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from . import package
from .export import calibrated, export, load_model
from .golden import golden
from .graph import PRECISIONS
from .model import KevModel
from .onnx_model import GRAPHS
from .prompts import Limits
from .quantize import Quantizer
from .tasks import data_folder

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
        "release_date": "2026-11-21",
        "owned_by": "umpire",
        "licence": "Apache-2.0",
        "graphs": {precision: {name: f"{name}.{precision}.onnx" for name in GRAPHS} for precision in precisions},
        "limits": {"state_tokens": 8192, "question_tokens": 32768},
        "price": {"input_micro_usd_per_million_tokens": 37800, "output_micro_usd_per_million_tokens": 0},
        "shape": {"layers": shape.layers, "heads": shape.heads, "head_size": shape.head_size},
        "windows": {"tokens": limits.window_tokens, "max_index": limits.max_window_index},
        "branches": {"max_tokens": limits.branch_tokens, "max_scores": limits.branch_scores},
        "temperatures": {kind: {bucket: temperatures[kind][bucket] for bucket in BUCKETS[kind]} for kind in BUCKETS},
    }


def write(model: KevModel, folder: Path, precisions: list[str], temperatures: dict, quantizer: Quantizer | None) -> None:
    """Replaces everything in `folder` but the card."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.name != "README.md":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for precision in precisions:
        export(model, folder, precision, quantizer)
    package.write_tokenizer(folder, Limits().window_tokens)
    package.write_json(folder / "model.json", manifest(model, precisions, temperatures))
    package.write_json(folder / "golden.json", golden(model, folder), indent=None)
    package.write_sums(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, help="without it: the untrained model")
    parser.add_argument("--temperatures", type=Path, help="JSON as in the manifest; without it all are 1")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--precision", choices=PRECISIONS, nargs="+", default=["int8"])
    parser.add_argument("--data", help="folder of decision data, for the calibration texts of int8 (or UMPIRE_DATA)")
    options = parser.parse_args()
    model = load_model(options.checkpoint)
    temperatures = json.loads(options.temperatures.read_text()) if options.temperatures else FLAT
    quantizer = calibrated(model, data_folder(options.data)) if "int8" in options.precision else None
    write(model, options.out, options.precision, temperatures, quantizer)


if __name__ == "__main__":
    main()
