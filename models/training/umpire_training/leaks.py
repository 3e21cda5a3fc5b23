"""Prove that no held-out text is in what train.py reads, and list the training texts that come close to one.

    python -m umpire_training.leaks --data $UMPIRE_DATA [--extra DIR] [--generated 5000]

Compares every state of every training task with a clear licence, of the tasks in `--extra` (same layout), and states
sampled from the generators, with all held-out states; texts in lower case, letters only. A state is

- equal when the letters are the same,
- near when half of its 8-word runs stand in held-out texts, or half of those of one held-out text stand in it,
- short when both have 4 to 20 words and share half of all their 3-word runs.

Prints the counts by pair of tasks with examples, and the label names that occur on both sides. `pack.py` leaves
all of them out of what a run reads. Ends with status 1 where a state is equal.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from . import generators
from .normal_text import normalise
from .overlap import Finding, KnownTexts
from .licences import may_be_trained_on
from .tasks import Task, data_folder, entries, heldout_tasks, read_task

KINDS = ("equal", "near", "short")
SHOWN_LABELS = 12
SHOWN_CHARACTERS = 110


@dataclass
class HeldOut:
    texts: KnownTexts
    states: list[str]
    tasks: list[str]  # of every state
    labels: dict[str, set[str]]  # by task, in lower case


@dataclass
class Report:
    states: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))


def read_heldout(folder: Path) -> HeldOut:
    tasks = heldout_tasks(folder)
    states = [row["state"] for task in tasks for row in task.rows]
    names = [task.name for task in tasks for _ in task.rows]
    return HeldOut(KnownTexts(states), states, names, {task.name: labels_of(task) for task in tasks})


def labels_of(task: Task) -> set[str]:
    """Names of choice labels; yes and no and score levels are everybody's."""
    if task.labels is not None:
        return {normalise(name) for name in task.labels} if task.type == "choice" else set()
    return {normalise(name) for row in task.rows for q in row["questions"] if q["type"] == "choice" for name in q["criteria"]}


def check_states(name: str, states: list[str], heldout: HeldOut, report: Report, examples: int) -> None:
    """Counts and prints what was found for the states of one training task."""
    states = list(dict.fromkeys(states))
    found = heldout.texts.compare(states)
    by_pair: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in found:
        by_pair[heldout.tasks[finding.known], finding.kind].append(finding)
        report.counts[finding.kind] += 1
    report.states += len(states)
    counts = ", ".join(f"{sum(f.kind == kind for f in found)} {kind}" for kind in KINDS)
    print(f"{name}: {len(states)} different states, {counts}")
    for (other, kind), findings in sorted(by_pair.items()):
        print(f"    {len(findings)} {kind} to {other}")
        for finding in sorted(findings, key=lambda f: -f.share)[:examples]:
            print(f"        {finding.share:.2f} {shown(states[finding.text])}\n          ~  {shown(heldout.states[finding.known])}")


def shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}…"


def check_labels(task: Task, heldout: HeldOut) -> None:
    own = labels_of(task)
    for other, labels in heldout.labels.items():
        if common := sorted(own & labels - {""}):
            more = " …" if len(common) > SHOWN_LABELS else ""
            print(f"    {len(common)} of {len(labels)} labels of {other}: {', '.join(common[:SHOWN_LABELS])}{more}")


def check_folder(folder: Path, heldout: HeldOut, report: Report, examples: int) -> None:
    for entry in entries(folder, "train"):
        if may_be_trained_on(entry["task"], entry["licence"]):
            task = read_task(folder, entry, None)
            check_states(task.name, [row["state"] for row in task.rows], heldout, report, examples)
            check_labels(task, heldout)


def check_generators(count: int, heldout: HeldOut, report: Report, examples: int) -> None:
    rng, states = random.Random(1), defaultdict(list)
    for _ in range(count):
        example = generators.generate(rng)
        states[example.task].append(example.state)
    for name in sorted(states):
        check_states(name, states[name], heldout, report, examples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--extra", type=Path, action="append", default=[], help="another folder with tasks.json and train/")
    parser.add_argument("--generated", type=int, default=5000, help="examples to draw from the generators")
    parser.add_argument("--examples", type=int, default=2, help="to print of every pair of tasks")
    args = parser.parse_args()
    folder = data_folder(args.data)
    heldout, report = read_heldout(folder), Report()
    for each in (folder, *args.extra):
        check_folder(each, heldout, report, args.examples)
    check_generators(args.generated, heldout, report, args.examples)
    counts = ", ".join(f"{count} {kind}" for kind, count in report.counts.items())
    print(f"{report.states} training states against {len(heldout.states)} held-out ones: {counts}")
    if report.counts["equal"]:
        raise SystemExit("training holds texts of held-out tasks")
    print("no training state equals a held-out state")


if __name__ == "__main__":
    main()
