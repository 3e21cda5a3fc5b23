"""Prove that no held-out text is in what train.py reads: by normalised text and by shared runs of eight words.

    python -m umpire_training.leaks --data $UMPIRE_DATA

Prints per training task how many states equal a held-out state, how many share at least half of their 8-grams with the
held-out tasks, and which label names occur on both sides. Ends with status 1 where a state is equal.
"""

from __future__ import annotations

import argparse
import random
import re

from .generators import GENERATORS
from .tasks import Task, clear_licence, data_folder, entries, heldout_tasks, read_task

WORDS = 8
SHOWN = 12  # names of common labels


def normalised(text: str) -> list[str]:
    return re.findall("[a-z]+", text.lower())


def shingles(words: list[str]) -> set[int]:
    return {hash(tuple(words[i: i + WORDS])) for i in range(len(words) - WORDS + 1)}


def compare(states: list[str], texts: set[str], grams: set[int]) -> tuple[int, int]:
    """-> equal states, states that share at least half of their 8-grams"""
    equal = near = 0
    for state in states:
        words = normalised(state)
        equal += len(words) > 2 and " ".join(words) in texts
        own = shingles(words)
        near += bool(own) and 2 * len(own & grams) >= len(own)
    return equal, near


def labels_of(task: Task) -> set[str]:
    """Names of choice labels; yes and no and score levels are everybody's."""
    if task.labels is not None:
        return set(task.labels) if task.type == "choice" else set()
    return {name for row in task.rows for q in row["questions"] if q["type"] == "choice" for name in q["criteria"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--rows", type=int, default=20_000)
    args = parser.parse_args()
    folder = data_folder(args.data)
    texts, grams, names = set(), set(), set()
    for task in heldout_tasks(folder):
        names |= {name.lower() for name in labels_of(task)}
        for row in task.rows:
            words = normalised(row["state"])
            texts.add(" ".join(words))
            grams |= shingles(words)
    found = 0
    for entry in entries(folder, "train"):
        if not clear_licence(entry["licence"]):
            continue
        task = read_task(folder, entry, args.rows)
        equal, near = compare([row["state"] for row in task.rows], texts, grams)
        common = sorted(name for name in labels_of(task) if name.lower() in names)
        found += equal
        print(f"{task.name}: {len(task.rows)} states, {equal} equal, {near} near, {len(common)} labels in common"
              f"{': ' + ', '.join(common[:SHOWN]) if common else ''}")
    rng = random.Random(1)
    for name, (generate, _) in GENERATORS.items():
        equal, near = compare([generate(rng).state for _ in range(500)], texts, grams)
        found += equal
        print(f"generated_{name}: 500 states, {equal} equal, {near} near")
    if found:
        raise SystemExit(f"{found} training states stand in held-out tasks")
    print("no training state stands in a held-out task")


if __name__ == "__main__":
    main()
