"""Decision data from a folder (README and tasks.json there): rows -> states with labelled questions.

Training code calls `training_tasks` and never opens anything under heldout/; evaluation calls `heldout_tasks`.
"""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from .licences import may_be_trained_on
from .prompts import Question


@dataclass
class Labelled:
    question: Question
    target: list[float]  # probability of every option, in the order of the request
    task: str = ""
    evidence: tuple[str, ...] = ()  # parts of the state that decide, where they are known

    @property
    def gold(self) -> int:
        return max(range(len(self.target)), key=self.target.__getitem__)


@dataclass
class Example:
    state: str
    questions: list[Labelled]
    task: str = ""


@dataclass
class Task:
    name: str
    type: str
    labels: dict | list | None
    instructions: list[str]
    rows: list[dict] = field(repr=False)
    near: dict[str, list[str]] = field(default_factory=dict, repr=False)  # of a label the others, most alike first


def data_folder(argument: str | None) -> Path:
    folder = argument or os.environ.get("UMPIRE_DATA")
    if not folder:
        raise SystemExit("No data: pass --data DIR or set UMPIRE_DATA to the folder with tasks.json, train/ and heldout/.")
    return Path(folder)


def read_task(folder: Path, entry: dict, limit: int | None, skip: int = 0) -> Task:
    rows = []
    with gzip.open(folder / entry["split"] / f"{entry['task']}.jsonl.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if number < skip:
                continue
            if limit is not None and len(rows) >= limit:
                break
            rows.append(json.loads(line))
    return Task(entry["task"], entry["type"], entry["labels"], entry["instructions"], rows)


def entries(folder: Path, split: str) -> list[dict]:
    """Only the named split leaves this function: label lists of the other are dropped here."""
    return [entry for entry in json.loads((folder / "tasks.json").read_text("utf-8")) if entry["split"] == split]


def training_tasks(folder: Path, limit: int | None = 20_000, skip: int = 0, only: list[str] | None = None) -> list[Task]:
    """Rows skip..skip+limit of every training task with a clear licence. Rows are in random order in the files."""
    chosen = [e for e in entries(folder, "train") if may_be_trained_on(e["task"], e["licence"]) and (not only or e["task"] in only)]
    return [read_task(folder, entry, limit, skip) for entry in chosen]


def measured_tasks(folder: Path, extra: list[Path], rows: int, heldout_rows: int) -> list[Task]:
    """Rows that training never reads: the first of every training task of all folders, and of the held-out tasks."""
    return [*(task for each in (folder, *extra) for task in training_tasks(each, rows)), *heldout_tasks(folder, heldout_rows)]


def heldout_tasks(folder: Path, limit: int | None = None, skip: int = 0) -> list[Task]:
    return [read_task(folder, entry, limit, skip) for entry in entries(folder, "heldout")]


# --- rows as they stand, without augmentation (evaluation, calibration) ---------------------------------------------


def plain_examples(task: Task) -> list[Example]:
    """Every row with all its options in the order of the task; label tasks ask the wordings in turn."""
    if task.labels is None:
        return [Example(row["state"], [from_row(q, task.name) for q in row["questions"]], task.name) for row in task.rows]
    return [Example(row["state"], [from_labels(task, row, task.instructions[i % len(task.instructions)])], task.name)
            for i, row in enumerate(task.rows)]


def from_labels(task: Task, row: dict, instructions: str) -> Labelled:
    shares = row.get("soft") or {row["label"]: 1.0}
    if task.type == "score":
        question = Question("score", instructions, [("", level) for level in task.labels])
        names = list(task.labels)
    else:
        names = ["false", "true"] if task.type == "noul" else list(task.labels)
        question = Question(task.type, instructions, [(name, task.labels[name]) for name in names])
    total = sum(shares.values())
    return Labelled(question, [shares.get(name, 0.0) / total for name in names], task.name)


def from_row(raw: dict, task: str) -> Labelled:
    criteria, gold = raw.get("criteria"), raw["gold"]
    if raw["type"] == "noul":
        described = criteria or {}
        question = Question("noul", raw["instructions"], [(name, described.get(name)) for name in ("false", "true")])
        return Labelled(question, [1.0 - bool(gold), float(bool(gold))], task)
    if raw["type"] == "score":
        question = Question("score", raw["instructions"], [("", level) for level in criteria])
        return Labelled(question, [float(i == gold) for i in range(len(criteria))], task)
    question = Question("choice", raw["instructions"], list(criteria.items()))
    return Labelled(question, [float(name == gold) for name in criteria], task)
