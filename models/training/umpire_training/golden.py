"""golden.json of kev: what the training framework and the exported graphs answer to fixed requests. Written by `kev_package`.
"""

from __future__ import annotations

import json
from pathlib import Path

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
