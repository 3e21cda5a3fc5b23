"""golden.json of kev: what the training framework and the exported graphs answer to fixed requests.

    python -m umpire_training.golden --checkpoint runs/final.pt --folder ../kev     # rewrites golden.json and SHA256SUMS
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from . import package
from .export import load_model
from .golden_cases import CASES
from .model import KevModel
from .onnx_model import OnnxKev
from .prompts import Text, question_from_json
from .reference import forward_request


def golden(model: KevModel, folder: Path) -> dict:
    """Cases with probabilities in fp32 (torch) and in every precision that the folder's manifest names."""
    manifest = json.loads((folder / "model.json").read_text())
    sources = {"fp32": model} | {precision: OnnxKev.open(folder, precision) for precision in manifest["graphs"]}
    text = Text(folder / "tokenizer.json")
    return {"format": 1, "cases": [answer_case(case, sources, text, manifest["temperatures"]) for case in CASES]}


def answer_case(case: dict, sources: dict, text: Text, temperatures: dict) -> dict:
    questions = [question_from_json(raw) for raw in case["questions"]]
    probabilities = {}
    for precision, source in sources.items():
        answers, input_tokens = forward_request(source, text, case["state"], questions, temperatures=temperatures)
        probabilities[precision] = [[float(f"{p:.9g}") for p in answer] for answer in answers]
    return case | {"input_tokens": input_tokens, "probabilities": probabilities}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, help="without it: the untrained model")
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    package.write_json(options.folder / "golden.json", golden(load_model(options.checkpoint), options.folder), indent=None)
    package.write_sums(options.folder)


if __name__ == "__main__":
    main()
