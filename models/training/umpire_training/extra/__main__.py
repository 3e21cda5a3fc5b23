"""Fetch and write the extra training data: `python -m umpire_training.extra --out runs/extra [--only reviews wordnet]`.

Each source's files are there as soon as it is done. `--cache` keeps what was fetched. Rows whose state equals or resembles
a held-out one in `--data` are left out.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from ..overlap import KnownTexts
from ..tasks import data_folder, heldout_tasks
from .collection import Dataset, write
from .registry import Registry

SOURCES = ("reviews", "words", "wordnet", "fortunes", "packages", "chats")


def leave_out(dataset: Dataset, known: KnownTexts) -> None:
    found = {finding.text for finding in known.compare([row["state"] for row in dataset.rows])}
    dataset.rows = [row for number, row in enumerate(dataset.rows) if number not in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="default: OUT/cache")
    parser.add_argument("--only", nargs="+", choices=SOURCES, default=SOURCES)
    parser.add_argument("--data", help="folder with held-out tasks, default: $UMPIRE_DATA")
    args = parser.parse_args()
    known = KnownTexts([row["state"] for task in heldout_tasks(data_folder(args.data)) for row in task.rows])
    registry = Registry(args.cache or args.out / "cache")
    for name in args.only:
        for dataset in importlib.import_module(f".{name}", __package__).datasets(registry):
            leave_out(dataset, known)
            write(args.out, dataset)
            print(f"{dataset.name}: {len(dataset.rows)} rows", flush=True)


if __name__ == "__main__":
    main()
