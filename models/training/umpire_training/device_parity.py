"""How far the graphs for devices are from the int8 graphs and from PyTorch, on labelled texts.

    python -m umpire_training.device_parity --folder ../kev ../text-embed-mini --data DIR [--rows 50]

All run on a processor, which computes what fp16 graphs ask for in float32, with casts around it: what a device adds is its
own order of sums. Ends with status 1 where fp32 is further than 1e-3 from PyTorch with the same weights, or on the mean fp16
than 1e-3 from fp32, or either than 0.004 from int8.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from .device_graphs import embed_in_torch, shipped_kev
from .embed_mini import INPUT_TOKENS, embed
from .onnx_model import OnnxKev
from .parity import Gap
from .prompts import Text
from .reference import forward_request
from .tasks import data_folder, heldout_tasks, plain_examples

PRECISIONS = ("fp32", "fp16", "int8")


@dataclass
class Bounds:
    largest: float = float("inf")
    mean: float = float("inf")


BOUNDS = {
    ("fp32", "torch"): Bounds(largest=1e-3),
    ("fp16", "fp32"): Bounds(mean=1e-3),
    ("fp32", "int8"): Bounds(mean=0.004),
    ("fp16", "int8"): Bounds(mean=0.004),
}


@dataclass
class Comparison:
    gap: Gap = field(default_factory=Gap)
    worst: list[float] = field(default_factory=list)  # largest |Δp| of each question

    def add(self, number: int, wanted: list[list[float]], found: list[list[float]]) -> None:
        self.gap.add(number, wanted, found)
        self.worst += [max(abs(p - q) for p, q in zip(*pair, strict=True)) for pair in zip(wanted, found, strict=True)]

    @property
    def mean(self) -> float:
        return self.gap.total / max(self.gap.probabilities, 1)

    def within(self, bounds: Bounds) -> bool:
        return self.gap.probabilities > 0 and self.gap.largest <= bounds.largest and self.mean <= bounds.mean


@dataclass
class Decisions:
    comparisons: dict[tuple[str, str], Comparison]
    right: dict[str, int]  # questions whose first choice is the label, by precision
    questions: int = 0


@torch.inference_mode()
def compare_decisions(folder: Path, data: Path, rows: int, torch_every: int) -> Decisions:
    """Every question of the first `rows` rows of each held-out task; PyTorch, the slowest, answers each `torch_every`-th."""
    manifest = json.loads((folder / "model.json").read_text())
    graphs = {precision: OnnxKev.open_named(folder, manifest["graphs"][precision]) for precision in PRECISIONS}
    reference, text = shipped_kev(folder), Text(folder / "tokenizer.json")
    found = Decisions({pair: Comparison() for pair in BOUNDS}, dict.fromkeys(PRECISIONS, 0))
    examples = [example for task in heldout_tasks(data, limit=rows) for example in plain_examples(task)]
    for number, example in enumerate(examples):
        questions = [labelled.question for labelled in example.questions]
        models = graphs | ({"torch": reference} if number % torch_every == 0 else {})
        answers = {name: forward_request(model, text, example.state, questions, temperatures=manifest["temperatures"])[0]
                   for name, model in models.items()}  # fmt: skip
        for (one, other), comparison in found.comparisons.items():
            if one in answers and other in answers:
                comparison.add(number, answers[other], answers[one])
        found.questions += len(questions)
        for precision in PRECISIONS:
            pairs = zip(answers[precision], (labelled.target for labelled in example.questions), strict=True)
            found.right[precision] += sum(int(np.argmax(answer)) == int(np.argmax(target)) for answer, target in pairs)
    return found


def compare_vectors(folder: Path, data: Path, rows: int) -> dict[tuple[str, str], float]:
    """Least cosine over the states of the same rows."""
    text = Text(folder / "tokenizer.json")
    states = [row["state"] for task in heldout_tasks(data, limit=rows) for row in task.rows]
    inputs = [text.ids(state)[: INPUT_TOKENS - 2] for state in states]
    vectors = {precision: embed(folder / f"embed.{precision}.onnx", inputs) for precision in PRECISIONS}
    vectors["torch"] = embed_in_torch(folder, inputs).numpy()
    return {(one, other): float(np.min((vectors[one] * vectors[other]).sum(axis=1))) for one, other in BOUNDS}


def check_decisions(found: Decisions) -> bool:
    print("| graphs | against | questions | max Δp | 99th percentile | mean Δp | other first choice |\n|---|---|---|---|---|---|---|")
    for (one, other), comparison in found.comparisons.items():
        gap, most = comparison.gap, float(np.quantile(comparison.worst, 0.99))
        print(f"| {one} | {other} | {len(comparison.worst)} | {gap.largest:.1e} | {most:.1e} | {comparison.mean:.1e} | {gap.changed} |")
    print("right: " + ", ".join(f"{precision} {right / found.questions:.4f}" for precision, right in found.right.items()))
    return all(comparison.within(BOUNDS[pair]) for pair, comparison in found.comparisons.items())


def check_vectors(found: dict[tuple[str, str], float]) -> bool:
    print("| graphs | against | least cosine |\n|---|---|---|")
    for (one, other), cosine in found.items():
        print(f"| {one} | {other} | {cosine:.6f} |")
    return all(cosine >= (0.99 if "int8" in pair else 0.9999) for pair, cosine in found.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, nargs="+", required=True)
    parser.add_argument("--data", help="folder of decision data (or UMPIRE_DATA)")
    parser.add_argument("--rows", type=int, default=50, help="of every held-out task")
    parser.add_argument("--torch-every", type=int, default=10, help="PyTorch answers every so manieth row")
    options = parser.parse_args()
    data, passed = data_folder(options.data), True
    for folder in options.folder:
        is_decision = json.loads((folder / "model.json").read_text())["type"] == "decision"
        print(f"{folder.resolve().name}")
        if is_decision:
            passed &= check_decisions(compare_decisions(folder, data, options.rows, options.torch_every))
        else:
            passed &= check_vectors(compare_vectors(folder, data, options.rows))
    raise SystemExit(0 if passed else 1)


if __name__ == "__main__":
    main()
