"""May an exported precision be shipped? Its answers beside those of the checkpoint in fp32, on held-out tasks.

    python -m umpire_training.gate --checkpoint runs/final.pt --folder ../kev --data DIR [--rows 100]
    python -m umpire_training.gate --saved runs/answers.fp32.json runs/answers.int8.json --folder ../kev --data DIR

The second form runs nothing: it reads what `calibrate --save` and `onnx_answers` wrote (same rows for both). Ends with status 1 when it falls short: same answer ≥ 97 %, mean |Δp| ≤ 0.01, accuracy at most 0.5 points lower.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

from .evaluate import Answer, answer_all, load_answers, mean
from .export import load_model
from .onnx_answers import onnx_answers
from .onnx_model import OnnxKev
from .prompts import Text
from .tasks import data_folder, heldout_tasks, plain_examples

LEAST_SAME, MOST_MOVED, MOST_LOST = 0.97, 0.01, 0.005


def compare(wanted: list[Answer], found: list[Answer], temperatures: dict) -> dict[str, float]:
    """Figures over pairs of answers to the same questions."""
    pairs = [(a.probabilities(temperatures), b.probabilities(temperatures), a.gold) for a, b in zip(wanted, found)]
    return {
        "questions": len(pairs),
        "same": mean([best(p) == best(q) for p, q, _ in pairs]),
        "moved": mean([mean([abs(x - y) for x, y in zip(p, q)]) for p, q, _ in pairs]),
        "accuracy": mean([best(p) == gold for p, _, gold in pairs]),
        "exported": mean([best(q) == gold for _, q, gold in pairs]),
    }


def best(probabilities: list[float]) -> int:
    return max(range(len(probabilities)), key=probabilities.__getitem__)


def passes(row: dict[str, float]) -> bool:
    lost = row["accuracy"] - row["exported"]
    return row["same"] >= LEAST_SAME and row["moved"] <= MOST_MOVED and lost <= MOST_LOST + 1e-9


def table(wanted: list[Answer], found: list[Answer], temperatures: dict) -> dict[str, dict]:
    """Rows by task, and `all` over every question."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, answer in enumerate(wanted):
        groups[answer.task].append(i)
    groups["all"] = list(range(len(wanted)))
    return {name: compare([wanted[i] for i in at], [found[i] for i in at], temperatures) for name, at in groups.items()}


def saved_answers(options: argparse.Namespace) -> list[list[Answer]]:
    """Both files, held-out tasks only."""
    names = {task.name for task in heldout_tasks(data_folder(options.data), 1)}
    both = [[answer for answer in load_answers(path) if answer.task in names] for path in options.saved]
    if [(a.task, a.names) for a in both[0]] != [(a.task, a.names) for a in both[1]]:
        raise SystemExit("The two files do not answer the same questions.")
    return both


def run(options: argparse.Namespace) -> list[list[Answer]]:
    text = Text(options.folder / "tokenizer.json")
    tasks = heldout_tasks(data_folder(options.data), options.rows)
    examples = [example for task in tasks for example in plain_examples(task)]
    wanted = answer_all(load_model(options.checkpoint), text, examples)
    return [wanted, onnx_answers(OnnxKev.open(options.folder, options.precision, options.threads), text, examples)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, help="without it: the untrained model")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--data")
    parser.add_argument("--rows", type=int, default=100, help="of every held-out task")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--saved", type=Path, nargs=2, metavar=("FP32", "EXPORTED"))
    options = parser.parse_args()
    wanted, found = saved_answers(options) if options.saved else run(options)
    temperatures = json.loads((options.folder / "model.json").read_text())["temperatures"]
    rows = table(wanted, found, temperatures)
    print(f"| task | questions | same answer | mean abs. Δp | accuracy fp32 | accuracy {options.precision} |\n|---|---|---|---|---|---|")
    for name, row in rows.items():
        print(f"| {name} | {row['questions']} | {row['same']:.3f} | {row['moved']:.4f} | {row['accuracy']:.3f} | {row['exported']:.3f} |")
    passed = passes(rows["all"])
    print("passed" if passed else "FAILED")
    raise SystemExit(0 if passed else 1)


if __name__ == "__main__":
    main()
