"""All that a training run reads, in one compact file: so that the run is one command on any machine.

    python -m umpire_training.pack --data $UMPIRE_DATA --extra $UMPIRE_DATA/../decisions-2 runs/extra --written $UMPIRE_DATA/../written written --out runs/kev.pack

Tasks that may be trained on, without their first rows (kept for calibration and measuring) and without texts that equal or
resemble one of a held-out task, of a development set or of a written-dev document; written documents; and what a run measures
itself by. JSON in xz.
"""

from __future__ import annotations

import argparse
import json
import lzma
from dataclasses import asdict, dataclass
from pathlib import Path

from .dev import DEV_ROWS, DEV_TASKS, development_rows
from .overlap import KnownTexts
from .tasks import Task, data_folder, heldout_tasks, training_tasks
from .word_turns import with_word_turns
from .written import Document, Edit, Pair, Turn, documents

KEPT_ROWS = 200  # of every other task, for calibration


@dataclass
class Pack:
    tasks: list[Task]
    written: list[Document]
    dev: dict[str, Task]  # by task: rows that are only measured on
    written_dev: list[Document]
    heldout: list[Task]


def training_part(folders: list[Path], limit: int, kept_rows: int) -> list[Task]:
    """Later folders leave out a task whose name an earlier one has."""
    found: dict[str, Task] = {}
    for folder in folders:
        for task in training_tasks(folder, None):
            if task.name not in found:
                task.rows = task.rows[DEV_ROWS if task.name in DEV_TASKS else kept_rows:][:limit]
                found[task.name] = task
    return list(found.values())


def without_known(tasks: list[Task], known: KnownTexts) -> int:
    """Removes rows whose state equals or resembles a known text; -> how many."""
    removed = 0
    for task in tasks:
        close = {finding.text for finding in known.compare([row["state"] for row in task.rows])}
        task.rows = [row for i, row in enumerate(task.rows) if i not in close]
        removed += len(close)
    return removed


def build(data: Path, extra: list[Path], written: list[Path], limit: int, heldout_rows: int, kept_rows: int = KEPT_ROWS) -> Pack:
    folders = [data, *extra]
    dev, heldout = development_rows(folders), heldout_tasks(data)
    written_dev = documents(written, dev=True)
    known = [row["state"] for task in [*heldout, *dev.values()] for row in task.rows] + [each.state for each in written_dev]
    tasks = training_part(folders, limit, kept_rows)
    rows = sum(len(task.rows) for task in tasks)
    removed = without_known(tasks, KnownTexts(known))
    print(f"{len(tasks)} tasks, {rows - removed} rows; {removed} left out, too close to one of {len(known)} texts that are measured on")
    for task in heldout:
        task.rows = task.rows[:heldout_rows]
    return Pack(tasks, with_word_turns(documents(written, dev=False)), dev, written_dev, heldout)


def save(pack: Pack, path: Path) -> None:
    plain = {"tasks": [asdict(task) for task in pack.tasks], "written": [asdict(each) for each in pack.written],
             "dev": {name: asdict(task) for name, task in pack.dev.items()},
             "written_dev": [asdict(each) for each in pack.written_dev], "heldout": [asdict(task) for task in pack.heldout]}
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", preset=2, encoding="utf-8") as file:
        json.dump(plain, file, ensure_ascii=False, separators=(",", ":"))


def load(path: Path) -> Pack:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        raw = json.load(file)
    return Pack([Task(**task) for task in raw["tasks"]], list(map(document, raw["written"])),
                {name: Task(**task) for name, task in raw["dev"].items()}, list(map(document, raw["written_dev"])),
                [Task(**task) for task in raw["heldout"]])


def document(raw: dict) -> Document:
    return Document(raw["id"], raw["state"], raw["questions"], [Edit(**edit) for edit in raw["edits"]], [Pair(**pair) for pair in raw.get("pairs", [])], raw.get("more", []),
                    [Turn(**turn) for turn in raw.get("turns", [])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--extra", type=Path, nargs="*", default=[], help="more folders of training tasks, in the same format")
    parser.add_argument("--written", type=Path, nargs="*", default=[], help="files or folders of written documents")
    parser.add_argument("--rows", type=int, default=20_000, help="of a task at most")
    parser.add_argument("--heldout-rows", type=int, default=250, help="of a held-out task, to measure on")
    parser.add_argument("--out", type=Path, default=Path("runs/kev.pack"))
    args = parser.parse_args()
    pack = build(data_folder(args.data), args.extra, args.written, args.rows, args.heldout_rows)
    save(pack, args.out)
    print(f"{len(pack.written)} written documents to train on, {len(pack.written_dev)} to measure on; {args.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
