"""A checkpoint as the graphs of `kev` and their common weights file, in one precision.

    python -m umpire_training.export --checkpoint runs/final.pt --out DIR                      # int8, with --data DIR
    python -m umpire_training.export --checkpoint runs/final.pt --out DIR --precision fp16
    python -m umpire_training.export --untrained --out DIR --precision fp32                    # all-MiniLM-L6-v2, new head
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from .base import base_folder
from .encoder_graph import State
from .graph import PRECISIONS, GraphBuilder, WeightsFile
from .kev_graphs import build_answer, build_decide, build_encode, build_head
from .model import KevModel, from_minilm, load
from .onnx_model import GRAPHS, OnnxKev
from .prompts import Text
from .quantize import InputStatistics, Quantizer
from .reference import forward_request
from .statistics import Collector
from .tasks import data_folder, plain_examples, training_tasks

BUILDERS = {"encode": build_encode, "answer": build_answer, "head": build_head, "decide": build_decide}
CALIBRATION_ROWS = 6  # of every training task
CALIBRATION_QUESTIONS = 2  # of a row that asks several
CALIBRATION_OPTIONS = 24  # of long label lists


def numpy_state(model: KevModel) -> State:
    return {name: value.detach().float().numpy() for name, value in model.state_dict().items()}


def build(
    model: KevModel, precision: str, quantizer: Quantizer | None = None, **variants: dict
) -> tuple[dict[str, GraphBuilder], WeightsFile]:
    """All graphs; a weight that several use stands once in the file. `variants`: further arguments by graph."""
    state, weights = numpy_state(model), WeightsFile(f"weights.{precision}.bin")
    graphs = {}
    for name, add_nodes in BUILDERS.items():
        graphs[name] = GraphBuilder(name, precision, weights, quantizer)
        add_nodes(graphs[name], state, model.shape, **variants.get(name, {}))
    return graphs, weights


def export(model: KevModel, folder: Path, precision: str, quantizer: Quantizer | None = None, **variants: dict) -> None:
    """Writes `encode`, `answer`, `head`, `decide` as `<name>.<precision>.onnx` and `weights.<precision>.bin`."""
    folder.mkdir(parents=True, exist_ok=True)
    graphs, weights = build(model, precision, quantizer, **variants)
    for name, graph in graphs.items():
        graph.save(folder / f"{name}.{precision}.onnx")
    weights.save(folder)


def calibrated(model: KevModel, data: Path) -> Quantizer:
    """A quantizer that knows what the layers read on a few rows of every training task."""
    statistics: dict[str, InputStatistics] = {}
    graphs, _ = build(model, "fp32")
    recording = OnnxKev({name: Collector(graph, statistics) for name, graph in graphs.items() if name in GRAPHS}, model.shape)
    text = Text(base_folder() / "tokenizer.json")
    for task in training_tasks(data, limit=CALIBRATION_ROWS):
        for example in plain_examples(task):
            questions = [labelled.question for labelled in example.questions[:CALIBRATION_QUESTIONS]]
            shorter = [replace(question, options=question.options[:CALIBRATION_OPTIONS]) for question in questions]
            forward_request(recording, text, example.state, shorter)
    return Quantizer(statistics)


def load_model(checkpoint: Path | None) -> KevModel:
    """The checkpoint, or without one all-MiniLM-L6-v2 with a new head from a fixed seed."""
    if checkpoint:
        return load(checkpoint)
    torch.manual_seed(0)
    return from_minilm(base_folder()).eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--checkpoint", type=Path)
    source.add_argument("--untrained", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--precision", choices=PRECISIONS, default="int8")
    parser.add_argument("--data", help="folder of decision data, for the calibration texts of int8 (or UMPIRE_DATA)")
    options = parser.parse_args()
    model = load_model(options.checkpoint)
    quantizer = calibrated(model, data_folder(options.data)) if options.precision == "int8" else None
    export(model, options.out, options.precision, quantizer)


if __name__ == "__main__":
    main()
