"""Fit temperatures per question type and number of options.

    python -m umpire_training.calibrate --model runs/final.pt --data $UMPIRE_DATA --out runs/temperatures.json

Half of the weight lies on held-out rows of training tasks, half on held-out tasks; inside each half every task weighs
the same. The file holds the temperatures for the manifest, and for every held-out task the calibration error with
temperatures that were fitted without it.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from pathlib import Path

import torch

from .base import base_folder
from .evaluate import Answer, answer_all, figures, load_answers, mean, save_answers
from .model import load
from .prompts import Text
from .reference import bucket
from .tasks import data_folder, heldout_tasks, measured_tasks, plain_examples

BUCKETS = {"choice": ["2", "3-5", "6-10", "11+"], "noul": ["2"], "score": ["2", "3-5", "6-10"]}
LOWEST, HIGHEST = 0.5, 5.0
FEWEST = 50  # with fewer answers a bucket takes the temperature of its type


def weights_of(answers: list[Answer], heldout: set[str]) -> list[float]:
    """Half for each side that has answers; tasks of a side weigh the same."""
    counts = defaultdict(int)
    for answer in answers:
        counts[answer.task] += 1
    sides = defaultdict(set)
    for task in counts:
        sides[task in heldout].add(task)
    return [1.0 / (len(sides[a.task in heldout]) * counts[a.task]) for a in answers]


def stacked(answers: list[Answer]) -> tuple[torch.Tensor, torch.Tensor]:
    """-> logits and targets [N, Kmax], places without an option at -1e9 and 0"""
    width = max(len(answer.logits) for answer in answers)
    logits = [answer.logits + [-1e9] * (width - len(answer.logits)) for answer in answers]
    targets = [answer.target + [0.0] * (width - len(answer.target)) for answer in answers]
    return torch.tensor(logits, dtype=torch.float64), torch.tensor(targets, dtype=torch.float64)


def fit_one(answers: list[Answer], heldout: set[str], steps: int = 24) -> float:
    """Golden-section search on the logarithm: the loss has one minimum in the inverse temperature."""
    weights = torch.tensor(weights_of(answers, heldout), dtype=torch.float64)
    logits, targets = stacked(answers)

    def loss(log_temperature: float) -> float:
        logs = torch.log_softmax(logits / math.exp(log_temperature), -1)
        return float(-((targets * logs).sum(-1) * weights).sum())

    low, high, ratio = math.log(LOWEST), math.log(HIGHEST), (math.sqrt(5) - 1) / 2
    for _ in range(steps):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if loss(left) < loss(right):
            high = right
        else:
            low = left
    return min(HIGHEST, max(LOWEST, math.exp((low + high) / 2)))


def fit(answers: list[Answer], heldout: set[str]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for kind, names in BUCKETS.items():
        of_kind = [answer for answer in answers if answer.type == kind]
        general = fit_one(of_kind, heldout) if of_kind else 1.0
        found[kind] = {}
        for name in names:
            inside = [answer for answer in of_kind if bucket(len(answer.logits)) == name]
            value = fit_one(inside, heldout) if len(inside) >= FEWEST else general
            found[kind][name] = round(value, 4)
    return found


def cross_fitted(answers: list[Answer], heldout: set[str]) -> dict[str, dict]:
    """Per held-out task: figures with temperatures fitted on everything else."""
    table = {}
    for task in sorted(heldout & {answer.task for answer in answers}):
        temperatures = fit([answer for answer in answers if answer.task != task], heldout)
        own = [answer for answer in answers if answer.task == task]
        table[task] = {"ece_before": figures(own)["ece"], "ece": figures(own, temperatures)["ece"],
                       "nll": figures(own, temperatures)["nll"]}
    table["mean over tasks"] = {key: mean([row[key] for row in table.values()]) for key in ("ece_before", "ece", "nll")}
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--extra", type=Path, nargs="*", default=[], help="more folders of training tasks")
    parser.add_argument("--model", default="runs/final.pt")
    parser.add_argument("--rows", type=int, default=60, help="held-out rows of every training task")
    parser.add_argument("--heldout-rows", type=int, default=250, help="rows of every held-out task")
    parser.add_argument("--logits", help="JSON of answers from an exported graph instead of running the model")
    parser.add_argument("--save", help="write the answers, so that evaluate.py --logits need not run the model again")
    parser.add_argument("--out", default="runs/temperatures.json")
    args = parser.parse_args()
    folder = data_folder(args.data)
    unseen = heldout_tasks(folder, args.heldout_rows)
    heldout = {task.name for task in unseen}
    if args.logits:
        answers = load_answers(args.logits)
    else:
        examples = [e for task in measured_tasks(folder, args.extra, args.rows, args.heldout_rows) for e in plain_examples(task)]
        answers = answer_all(load(args.model), Text(base_folder() / "tokenizer.json"), examples)
    if args.save:
        save_answers(answers, args.save)
    result = {"temperatures": fit(answers, heldout), "answers": len(answers), "cross_fitted": cross_fitted(answers, heldout)}
    Path(args.out).write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
