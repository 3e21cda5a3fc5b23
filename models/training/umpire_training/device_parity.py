"""How far the graphs for devices are from the int8 graphs and from PyTorch, on labelled texts.

    python -m umpire_training.device_parity --folder ../kev ../text-embed-mini --data DIR [--rows 50] [--skip 0]

All run on a processor, which computes what fp16 graphs ask for in float32, with casts around it: what a device adds is its
own order of sums. Ends with status 1 where fp32 is further than 1e-3 from PyTorch with the same weights, or on the mean fp16
than 1e-3 from fp32, or either than 0.004 from int8.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
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
from .tasks import Task, data_folder, heldout_tasks, plain_examples

PRECISIONS = ("fp32", "fp16", "int8")
MARGINS = (0.0, 0.02, 0.05, 0.1, 0.2)  # groups of questions, by how far apart the first two options are


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
    margins: list[tuple[float, bool]] = field(default_factory=list)  # of each: of what is wanted, and whether the first choice is another

    def add(self, number: int, wanted: list[list[float]], found: list[list[float]]) -> None:
        self.gap.add(number, wanted, found)
        for one, other in zip(wanted, found, strict=True):
            self.worst.append(max(abs(p - q) for p, q in zip(one, other, strict=True)))
            self.margins.append((margin_of(one), int(np.argmax(one)) != int(np.argmax(other))))

    @property
    def mean(self) -> float:
        return self.gap.total / max(self.gap.probabilities, 1)

    def within(self, bounds: Bounds) -> bool:
        return self.gap.probabilities > 0 and self.gap.largest <= bounds.largest and self.mean <= bounds.mean


def margin_of(probabilities: list[float]) -> float:
    """-> the first choice over the second; of a single option 1"""
    first, second = sorted([*probabilities, 0.0], reverse=True)[:2]
    return first - second


def interval(count: int, total: int) -> tuple[float, float]:
    """Wilson's, 95 %, of a share."""
    z = 1.96
    share, spread = count / total, z * z / total
    middle, width = share + spread / 2, z * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return (middle - width) / (1 + spread), (middle + width) / (1 + spread)


@dataclass
class Decisions:
    comparisons: dict[tuple[str, str], Comparison]
    right: dict[str, int]  # questions whose first choice is the label, by precision
    questions: int = 0


@torch.inference_mode()
def compare_decisions(folder: Path, tasks: list[Task], torch_every: int, precisions: Sequence[str] = PRECISIONS) -> Decisions:
    """Every question of every row; PyTorch, the slowest, answers each `torch_every`-th."""
    manifest = json.loads((folder / "model.json").read_text())
    graphs = {precision: OnnxKev.open_named(folder, manifest["graphs"][precision]) for precision in precisions}
    reference, text = shipped_kev(folder), Text(folder / "tokenizer.json")
    found = Decisions({pair: Comparison() for pair in BOUNDS}, dict.fromkeys(precisions, 0))
    examples = [example for task in tasks for example in plain_examples(task)]
    for number, example in enumerate(examples):
        questions = [labelled.question for labelled in example.questions]
        models = graphs | ({"torch": reference} if number % torch_every == 0 else {})
        answers = {name: forward_request(model, text, example.state, questions, temperatures=manifest["temperatures"])[0]
                   for name, model in models.items()}  # fmt: skip
        for (one, other), comparison in found.comparisons.items():
            if one in answers and other in answers:
                comparison.add(number, answers[other], answers[one])
        found.questions += len(questions)
        for precision in precisions:
            pairs = zip(answers[precision], (labelled.target for labelled in example.questions), strict=True)
            found.right[precision] += sum(int(np.argmax(answer)) == int(np.argmax(target)) for answer, target in pairs)
    return found


def compare_vectors(folder: Path, tasks: list[Task]) -> dict[tuple[str, str], float]:
    """Least cosine over the states of the same rows."""
    text = Text(folder / "tokenizer.json")
    states = [row["state"] for task in tasks for row in task.rows]
    inputs = [text.ids(state)[: INPUT_TOKENS - 2] for state in states]
    vectors = {precision: embed(folder / f"embed.{precision}.onnx", inputs) for precision in PRECISIONS}
    vectors["torch"] = embed_in_torch(folder, inputs).numpy()
    return {(one, other): float(np.min((vectors[one] * vectors[other]).sum(axis=1))) for one, other in BOUNDS}


def check_decisions(found: Decisions) -> bool:
    print("| graphs | against | questions | max Δp | 99th percentile | mean Δp | other first choice |\n|---|---|---|---|---|---|---|")
    measured = {pair: comparison for pair, comparison in found.comparisons.items() if comparison.worst}
    for (one, other), comparison in measured.items():
        gap, most = comparison.gap, float(np.quantile(comparison.worst, 0.99))
        print(f"| {one} | {other} | {len(comparison.worst)} | {gap.largest:.1e} | {most:.1e} | {comparison.mean:.1e} | {gap.changed} |")
    device = found.comparisons["fp32", "int8"]
    same, questions = len(device.worst) - device.gap.changed, len(device.worst)
    print("fp32 has the same first choice as int8 in {:.2%} (95 %: {:.2%} to {:.2%})".format(same / questions, *interval(same, questions)))
    print_margins(device)
    print("right: " + ", ".join(f"{precision} {right / found.questions:.4f}" for precision, right in found.right.items()))
    return all(comparison.within(BOUNDS[pair]) for pair, comparison in measured.items())


def print_margins(comparison: Comparison) -> None:
    print("| int8's first two options apart by | questions | other first choice | share |\n|---|---|---|---|")
    for least, most in zip(MARGINS, (*MARGINS[1:], math.inf), strict=True):
        group = [changed for margin, changed in comparison.margins if least <= margin < most]
        name = f"{least} or more" if most == math.inf else f"{least} to {most}"
        print(f"| {name} | {len(group)} | {sum(group)} | {sum(group) / max(len(group), 1):.1%} |")


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
    parser.add_argument("--skip", type=int, default=0, help="rows of every held-out task before these")
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS, help="of decisions: fp32 and int8 are needed")
    parser.add_argument("--torch-every", type=int, default=10, help="PyTorch answers every so manieth row")
    options = parser.parse_args()
    tasks, passed = heldout_tasks(data_folder(options.data), options.rows, options.skip), True
    for folder in options.folder:
        is_decision = json.loads((folder / "model.json").read_text())["type"] == "decision"
        print(f"{folder.resolve().name}")
        if is_decision:
            passed &= check_decisions(compare_decisions(folder, tasks, options.torch_every, options.precisions))
        else:
            passed &= check_vectors(compare_vectors(folder, tasks))
    raise SystemExit(0 if passed else 1)


if __name__ == "__main__":
    main()
