"""Files of a model folder. One may lie packed, as NAME.gz: its name and its sum are those of the content (models/README.md)."""

from __future__ import annotations

import gzip
from pathlib import Path


def read_folder_file(path: Path) -> bytes:
    """The content of `path`, or of the packed file in its place."""
    if path.exists():
        return path.read_bytes()
    return gzip.decompress(packed(path).read_bytes())


def pack(path: Path, keep: bool = False) -> None:
    """Puts the packed file in the place of `path`, or beside it; the same content gives the same bytes."""
    packed(path).write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    if not keep:
        path.unlink()


def unpacked(path: Path) -> Path:
    """The same path, unpacked beside the packed file where only that lies."""
    if not path.exists():
        path.write_bytes(read_folder_file(path))
    return path


def packed(path: Path) -> Path:
    return path.with_name(f"{path.name}.gz")


def content_names(folder: Path) -> list[str]:
    """Names of the files as SHA256SUMS lists them, sorted: all but itself and the card."""
    return sorted({path.name.removesuffix(".gz") for path in folder.iterdir()} - {"README.md", "SHA256SUMS"})
