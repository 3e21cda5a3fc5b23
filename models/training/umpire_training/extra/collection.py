"""One data set in the form of the decision data (tasks.json, train/<task>.jsonl.gz), and how it is written."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import dataclass, field
from pathlib import Path

MAX_CHARACTERS = 2000


@dataclass
class Dataset:
    """`labels` and `instructions` for rows with one label each; neither for rows that bring their questions."""
    name: str
    type: str
    rows: list[dict] = field(repr=False)
    source: str
    licence: str
    labels: dict | list | None = None
    instructions: list[str] = field(default_factory=list)
    notes: str = ""
    limit: int = 20_000

    def entry(self) -> dict:
        return {"task": self.name, "split": "train", "type": self.type, "format": "questions" if self.labels is None else "labels",
                "labels": self.labels, "instructions": self.instructions, "rows": len(self.rows), "source": self.source,
                "licence": self.licence, "notes": self.notes}


def tidy(dataset: Dataset) -> Dataset:
    """Whole and different states, in random order, at most `limit`."""
    seen, kept = set(), []
    rows = [row for row in dataset.rows if 0 < len(row["state"]) <= 2 * MAX_CHARACTERS]
    random.Random(dataset.name).shuffle(rows)
    for row in rows:
        if row["state"] not in seen:
            seen.add(row["state"])
            kept.append(row)
    dataset.rows = kept[: dataset.limit]
    if isinstance(dataset.labels, dict):
        used = {name for row in dataset.rows for name in (row.get("soft") or [row["label"]])}
        dataset.labels = {name: text for name, text in dataset.labels.items() if name in used}
    return dataset


def write(folder: Path, dataset: Dataset) -> None:
    """Rows into their file, the entry into tasks.json in place of an older one."""
    tidy(dataset)
    (folder / "train").mkdir(parents=True, exist_ok=True)
    path = folder / "train" / f"{dataset.name}.jsonl.gz"
    part = path.with_suffix(".part")
    with open(part, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        for row in dataset.rows:
            file.write((json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8"))
    part.rename(path)
    index = folder / "tasks.json"
    entries = json.loads(index.read_text("utf-8")) if index.exists() else []
    entries = [entry for entry in entries if entry["task"] != dataset.name] + [dataset.entry()]
    part = index.with_suffix(".part")
    part.write_text(json.dumps(entries, ensure_ascii=False, indent=1) + "\n", "utf-8")
    part.rename(index)


def noul(instructions: str, gold: bool) -> dict:
    return {"type": "noul", "instructions": instructions, "gold": gold}


def choice(instructions: str, criteria: dict[str, str | None], gold: str) -> dict:
    return {"type": "choice", "instructions": instructions, "criteria": criteria, "gold": gold}


def shuffled(names: list[str], descriptions: dict[str, str] | None, rng: random.Random) -> dict[str, str | None]:
    """Criteria in random order, with descriptions where there are any."""
    names = list(names)
    rng.shuffle(names)
    return {name: (descriptions or {}).get(name) for name in names}
