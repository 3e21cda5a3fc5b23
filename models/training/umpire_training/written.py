"""Written documents: states with questions in several wordings, and small edits that flip answers.

Files of JSON lines (also .gz or .bz2) in the format of `written/README.md`. Documents whose number ends in 0, with their edits,
are never trained on: `written-dev`.
"""

from __future__ import annotations

import bz2
import gzip
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

from .tasks import Labelled, from_row

TASK = "written"
KEPT = 10  # one document of so many is for measuring: wherever it stands, its number decides


@dataclass
class Edit:
    before: str
    after: str
    gold: dict[str, object]


@dataclass
class Document:
    id: str
    state: str
    questions: dict[str, dict]
    edits: list[Edit]

    def edited(self, edit: Edit) -> str:
        return self.state.replace(edit.before, edit.after)

    def gold(self, name: str, edit: Edit | None = None):
        return edit.gold[name] if edit and name in edit.gold else self.questions[name]["gold"]


def open_text(path: Path):
    return {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)(path, "rt", encoding="utf-8")


def read_documents(path: Path) -> list[Document]:
    with open_text(path) as file:
        rows = [json.loads(line) for line in file if line.strip()]
    return [Document(row["id"], row["state"], row["questions"],
                     [Edit(edit["from"], edit["to"], edit["gold"]) for edit in row.get("edits", [])]) for row in rows]


def files_of(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    return sorted(path for path in source.iterdir() if ".jsonl" in path.suffixes)


def documents(sources: list[Path], dev: bool) -> list[Document]:
    found = []
    for source in sources:
        for path in files_of(source):
            found += [each for each in read_documents(path) if is_kept(each) == dev]
    return found


def is_kept(document: Document) -> bool:
    return int(re.search(r"\d+$", document.id)[0]) % KEPT == 0


def asked(document: Document, names: list[str], edit: Edit | None, rng: random.Random) -> list[Labelled]:
    """The named questions, each in one of its wordings; the same seed asks both sides of a pair alike."""
    return [from_row({**question, "instructions": rng.choice(question["instructions"]), "gold": document.gold(name, edit)}, TASK)
            for name in names for question in [document.questions[name]]]
