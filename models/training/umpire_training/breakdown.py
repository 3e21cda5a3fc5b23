"""Accuracy by length of the document and by number of options, of one or several saved sets of answers side by side.

    python -m umpire_training.breakdown --answers runs/answers.fp32.json runs/answers.int8.json --heldout-rows 250 --data DIR

The answers are those of `calibrate --save` or `onnx_answers`, made with the same number of held-out rows.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from .base import base_folder
from .evaluate import Answer, load_answers, mean
from .prompts import Text
from .tasks import data_folder, heldout_tasks, plain_examples

LENGTHS = (32, 64, 128, 256, 512)  # tokens of the state, upper ends
OPTIONS = (2, 5, 10, 32)


def interval(value: int, ends: tuple[int, ...]) -> str:
    """`33–64` and the like; the last interval is open."""
    lower = 1
    for end in ends:
        if value <= end:
            return f"{lower}–{end}" if lower < end else str(end)
        lower = end + 1
    return f"over {ends[-1]}"


def right(answer: Answer) -> bool:
    return max(range(len(answer.logits)), key=answer.logits.__getitem__) == answer.gold


def lengths_of(data: Path, rows: int) -> list[tuple[str, int]]:
    """(task, tokens of the state) of every question of the held-out tasks, in the order of the answers."""
    text = Text(base_folder() / "tokenizer.json")
    examples = [example for task in heldout_tasks(data, rows) for example in plain_examples(task)]
    return [(labelled.task, len(text.ids(example.state))) for example in examples for labelled in example.questions]


def show(title: str, labels: list[str], order: list[str], sets: dict[str, list[Answer]]) -> None:
    print(f"\n| {title} | questions | " + " | ".join(sets) + " |\n|---|---|" + "---|" * len(sets))
    groups: dict[str, list[int]] = defaultdict(list)
    for i, label in enumerate(labels):
        groups[label].append(i)
    for label in order:
        if label in groups:
            cells = " | ".join(f"{mean([right(answers[i]) for i in groups[label]]):.3f}" for answers in sets.values())
            print(f"| {label} | {len(groups[label])} | {cells} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=Path, nargs="+", required=True)
    parser.add_argument("--heldout-rows", type=int, default=250)
    parser.add_argument("--data")
    options = parser.parse_args()
    known = lengths_of(data_folder(options.data), options.heldout_rows)
    tasks = {task for task, _ in known}
    sets = {path.stem: [a for a in load_answers(path) if a.task in tasks] for path in options.answers}
    for name, answers in sets.items():
        if [answer.task for answer in answers] != [task for task, _ in known]:
            raise SystemExit(f"{name} was not made with --heldout-rows {options.heldout_rows}.")
    first = next(iter(sets.values()))
    for title, values, ends in (
        ("tokens of the state", [length for _, length in known], LENGTHS),
        ("options", [len(answer.logits) for answer in first], OPTIONS),
    ):
        order = list(dict.fromkeys(interval(value, ends) for value in sorted(values)))
        show(title, [interval(value, ends) for value in values], order, sets)


if __name__ == "__main__":
    main()
