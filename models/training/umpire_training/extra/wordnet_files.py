"""WordNet's data and index files: synsets with definition, examples and relations, and the senses of every word."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
HYPERNYMS, HYPONYMS, DOMAIN, SIMILAR = ("@", "@i"), ("~", "~i"), ";c", "&"


@dataclass
class Synset:
    key: str
    category: int  # number of the lexicographer's file
    words: list[str]
    relations: list[tuple[str, str]]
    definition: str
    examples: list[str] = field(default_factory=list)

    def related(self, *symbols: str) -> list[str]:
        return [key for symbol, key in self.relations if symbol in symbols]

    @property
    def part(self) -> str:
        return self.key[0]

    @property
    def is_instance(self) -> bool:
        return bool(self.related("@i"))


def read_synset(line: str) -> Synset:
    """offset category part count(hex) word id … count symbol offset part fields … | gloss"""
    data, gloss = line.split(" | ", 1)
    fields = data.split()
    part = fields[2].replace("s", "a")
    count = int(fields[3], 16)
    words = [re.sub(r"\((a|p|ip)\)$", "", word).replace("_", " ") for word in fields[4: 4 + 2 * count: 2]]
    start = 5 + 2 * count
    number = int(fields[start - 1])
    pointers = [fields[start + 4 * i: start + 4 * i + 4] for i in range(number)]
    relations = [(symbol, kind.replace("s", "a") + offset) for symbol, offset, kind, _ in pointers]
    definition, examples = split_gloss(gloss)
    return Synset(part + fields[0], int(fields[1]), words, relations, definition, examples)


def split_gloss(gloss: str) -> tuple[str, list[str]]:
    """Definition and quoted examples; sources after an example are left out."""
    definition = gloss.split('"', 1)[0].strip().rstrip(";:,").strip()
    return definition, [text.strip() for text in re.findall(r'"([^"]+)"', gloss)]


class WordNet:
    def __init__(self, synsets: list[Synset], senses: dict[tuple[str, str], list[str]], tagged: set[str]):
        self.synsets = {synset.key: synset for synset in synsets}
        self.senses = senses  # (part, word) -> keys, the most frequent first
        self.tagged = tagged  # keys that occur as the first sense of a word counted in a corpus

    def of(self, keys: list[str]) -> list[Synset]:
        return [self.synsets[key] for key in keys]

    def ancestors(self, synset: Synset) -> set[str]:
        found, open_keys = set(), synset.related(*HYPERNYMS)
        while open_keys:
            key = open_keys.pop()
            if key not in found:
                found.add(key)
                open_keys += self.synsets[key].related(*HYPERNYMS)
        return found

    def siblings(self, synset: Synset) -> list[Synset]:
        """Other kinds of the same thing; for adjectives, those alike."""
        keys = [key for above in self.of(synset.related(*HYPERNYMS)) for key in above.related(*HYPONYMS)]
        keys += [key for near in self.of(synset.related(SIMILAR)) for key in [near.key, *near.related(SIMILAR)]]
        return self.of([key for key in dict.fromkeys(keys) if key != synset.key])


def read_index(lines: list[str]) -> list[tuple[str, str, int, list[str]]]:
    """-> word, part, number of senses counted in a corpus, keys"""
    found = []
    for line in lines:
        if line.startswith(" "):
            continue
        fields = line.split()
        count = int(fields[2])
        found.append((fields[0].replace("_", " "), fields[1], int(fields[-count - 1]), [fields[1] + offset for offset in fields[-count:]]))
    return found


def read_wordnet(folder: Path) -> WordNet:
    synsets, senses, tagged = [], {}, set()
    for name in PARTS:
        lines = (folder / f"data.{name}").read_text("utf-8").splitlines()
        synsets += [read_synset(line) for line in lines if not line.startswith("  ")]
        for word, part, counted, keys in read_index((folder / f"index.{name}").read_text("utf-8").splitlines()):
            senses[part, word] = keys
            tagged |= set(keys[:counted])
    return WordNet(synsets, senses, tagged)
