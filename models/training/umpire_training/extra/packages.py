"""Descriptions of Debian packages: their section, and the facets of their tags (field, use, data, game, role, …)."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import dataclass

from .collection import Dataset, noul
from .package_labels import FACETS, SECTIONS
from .registry import Registry

LICENCE = "DFSG-free, per package (the descriptions)"
SOURCE = "Debian bookworm main, Packages and Translation-en"
SHORTEST, LONGEST = 150, 1800  # characters
EACH_SECTION, EACH_TAG = 420, 400
# Empty packages, and a family whose tags are wrong.
UNTYPICAL = r"(?i)transitional|dummy package|openstack"
SECTION_ASKED = ["Which section of the archive does the package belong to?", "section", "What sort of software is it?", "Sort the package into a section.",
                 "category", "The description is of software for", "Choose the shelf for this software.", "What is this package about?", "topic",
                 "Classify the software by its description."]
NOUL_FRAMES = ["{}", "{}", "{}", "Is this right? {}", "True or false: {}", "Check: {}"]


@dataclass
class Package:
    section: str
    tags: list[str]
    text: str


def paragraphs(index: str) -> list[dict[str, str]]:
    """Fields of every paragraph, continued lines joined by newlines."""
    found = []
    for block in index.split("\n\n"):
        fields, name = {}, ""
        for line in block.splitlines():
            if line[:1] in (" ", "\t"):
                fields[name] += "\n" + line[1:]
            elif ": " in line or line.endswith(":"):
                name, value = line.split(":", 1)
                fields[name] = value.strip()
        if fields:
            found.append(fields)
    return found


def readable(description: str) -> str:
    """The short line, then the long text: paragraphs joined, lists kept."""
    short, _, long = description.partition("\n")
    lines: list[str] = []
    for line in long.splitlines():
        if line.strip() == ".":
            lines.append("")
        elif line.startswith((" ", "*", "-")) or not lines or not lines[-1]:
            lines.append(line.strip())
        else:
            lines[-1] += " " + line.strip()
    text = "\n".join(lines).strip()
    return f"{short[:1].upper()}{short[1:]}\n{re.sub(chr(10) + '{2,}', chr(10), text)}"


def read_packages(packages: str, descriptions: str) -> list[Package]:
    """One package per description; those that say the same in the long text count once."""
    texts = {fields["Description-md5"]: fields.get("Description-en", "") for fields in paragraphs(descriptions) if "Description-md5" in fields}
    found, seen = [], set()
    for fields in paragraphs(packages):
        text = readable(texts.get(fields.get("Description-md5", ""), ""))
        beginning = text.partition("\n")[2][:120]
        if SHORTEST <= len(text) and beginning not in seen and not re.search(UNTYPICAL, text):
            seen.add(beginning)
            tags = [tag for tag in re.split(r"[,\s]+", fields.get("Tag", "")) if tag]
            found.append(Package(fields.get("Section", "").split("/")[-1], tags, cut(text)))
    return found


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0]


def tags_of(package: Package, facet: str) -> set[str]:
    """The facet's tags that have a label; a finer tag counts as the wider one where only that has a label."""
    known, found = FACETS[facet][1], set()
    for tag in package.tags:
        name, _, value = tag.partition("::")
        if name == facet:
            found.add(value if value in known else value.split(":")[0])
    return found


def facet_rows(packages: list[Package], facet: str) -> list[dict]:
    """Packages with one tag of the facet."""
    labels, counts, rows = FACETS[facet][1], defaultdict(int), []
    for package in packages:
        tags = tags_of(package, facet)
        if len(tags) == 1 and (tag := next(iter(tags))) in labels and counts[tag] < EACH_TAG:
            counts[tag] += 1
            rows.append({"state": package.text, "label": labels[tag][0]})
    return rows


def section_rows(packages: list[Package]) -> list[dict]:
    counts, rows = defaultdict(int), []
    for package in packages:
        if package.section in SECTIONS and counts[package.section] < EACH_SECTION:
            counts[package.section] += 1
            rows.append({"state": package.text, "label": SECTIONS[package.section][0]})
    return rows


def statements(package: Package, rng: random.Random) -> list[dict]:
    """Yes: a tag it has. No: one it lacks, of a facet that somebody filled in for it."""
    found = []
    for facet, (_, labels) in FACETS.items():
        own = tags_of(package, facet)
        right, wrong = sorted(own & set(labels)), sorted(set(labels) - own)
        if right:
            found.append(noul(rng.choice(NOUL_FRAMES).format(labels[rng.choice(right)][2]), True))
            found.append(noul(rng.choice(NOUL_FRAMES).format(labels[rng.choice(wrong)][2]), False))
    return rng.sample(found, min(len(found), rng.randint(1, 3)))


def datasets(registry: Registry) -> list[Dataset]:
    packages = read_packages(registry.packages_index(), registry.descriptions_index())
    rng = random.Random(50)
    rng.shuffle(packages)
    sections = Dataset("package_sections", "choice", section_rows(packages), SOURCE, LICENCE, dict(SECTIONS.values()), SECTION_ASKED,
                       "package descriptions; at most 420 of a section")
    facets = [Dataset(f"package_{facet.replace('-', '_')}", "choice", facet_rows(packages, facet), SOURCE, LICENCE,
                      {name: description for name, description, _ in labels.values()}, asked, "packages with one tag of the facet")
              for facet, (asked, labels) in FACETS.items()]
    asked = [{"state": package.text, "questions": questions} for package in packages if (questions := statements(package, rng))]
    return [sections, *facets, Dataset("package_nouls", "noul", asked, SOURCE, LICENCE, notes="statements from the tags of a package", limit=10_000)]
