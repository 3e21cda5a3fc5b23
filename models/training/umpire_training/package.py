"""The files of a model folder that are not graphs: manifest, tokenizer, checksums (layout: models/README.md)."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from .base import base_folder
from .folder_file import content_names, pack, read_folder_file


def write_json(path: Path, value: object, indent: int | None = 2) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":"))
    # Half a surrogate pair cannot stand in UTF-8; JSON can spell it.
    path.write_text(re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text) + "\n", "utf-8")


def write_tokenizer(folder: Path, max_tokens: int) -> None:
    """The base model's tokenizer without truncation and padding: nothing is ever cut silently."""
    tokenizer = json.loads((base_folder() / "tokenizer.json").read_text())
    write_json(folder / "tokenizer.json", tokenizer | {"truncation": None, "padding": None}, indent=None)
    pack(folder / "tokenizer.json")
    config = json.loads((base_folder() / "tokenizer_config.json").read_text())
    write_json(folder / "tokenizer_config.json", config | {"model_max_length": max_tokens})


def write_sums(folder: Path) -> None:
    """SHA256SUMS over every file but itself and the card, sorted by name."""
    lines = [
        f"{hashlib.sha256(read_folder_file(folder / name)).hexdigest()}  {name}\n" for name in content_names(folder)
    ]
    (folder / "SHA256SUMS").write_text("".join(lines))
