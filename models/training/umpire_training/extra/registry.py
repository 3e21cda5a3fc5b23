"""Files from the package registries, kept in a cache folder: Debian packages, Debian's indices, PyPI distributions."""

from __future__ import annotations

import hashlib
import lzma
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from pathlib import Path

DEBIAN = "http://deb.debian.org/debian"
SUITE = "dists/bookworm/main"


class Registry:
    def __init__(self, cache: Path):
        self.cache = cache
        self.cache.mkdir(parents=True, exist_ok=True)

    def debian_file(self, path: str) -> bytes:
        """One file of the Debian archive, by its path there."""
        kept = self.cache / path.replace("/", "_")
        if not kept.exists():
            with urllib.request.urlopen(f"{DEBIAN}/{path}", timeout=300) as answer:
                part = kept.with_suffix(kept.suffix + ".part")
                part.write_bytes(answer.read())
                part.rename(kept)
        return kept.read_bytes()

    def packages_index(self) -> str:
        return lzma.decompress(self.debian_file(f"{SUITE}/binary-amd64/Packages.xz")).decode("utf-8")

    def descriptions_index(self) -> str:
        return lzma.decompress(self.debian_file(f"{SUITE}/i18n/Translation-en.xz")).decode("utf-8")

    def debian_package(self, name: str) -> Path:
        """The unpacked files of a package, checked against the sum in the index."""
        folder = self.cache / f"deb-{name}"
        if not folder.exists():
            fields = package_fields(self.packages_index(), name)
            content = self.debian_file(fields["Filename"])
            if hashlib.sha256(content).hexdigest() != fields["SHA256"]:
                raise SystemExit(f"{name}: the package differs from the sum in Debian's index")
            subprocess.run(["dpkg-deb", "-x", str(self.cache / fields["Filename"].replace("/", "_")), str(folder)], check=True)
        return folder

    def python_package(self, requirement: str, source: bool = False) -> Path:
        """The unpacked sdist (`source`) or wheel of `name==version`."""
        folder = self.cache / f"pypi-{requirement.replace('==', '-')}"
        if not folder.exists():
            kind = ["--no-binary", ":all:"] if source else ["--only-binary", ":all:"]
            download = self.cache / "pip"
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *kind, "-d", str(download), requirement]
            subprocess.run(command, check=True)
            name = requirement.split("==")[0].replace("-", "_").lower()
            archive = next(p for p in sorted(download.iterdir()) if p.name.replace("-", "_").lower().startswith(name))
            unpack(archive, folder)
        return folder


def unpack(archive: Path, folder: Path) -> None:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
    else:
        with tarfile.open(archive) as file:
            file.extractall(folder, filter="data")


def package_fields(index: str, name: str) -> dict[str, str]:
    """The one-line fields of a package in a Packages file."""
    start = ("\n" + index).find(f"\nPackage: {name}\n")
    if start < 0:
        raise SystemExit(f"{name}: not in Debian's index")
    paragraph = index[start:].split("\n\n", 1)[0]
    return dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and not line.startswith(" "))
