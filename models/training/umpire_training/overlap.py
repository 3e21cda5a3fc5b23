"""Which texts stand, whole or in large part, among other texts: equal letters, shared runs of eight words, and for short
texts shared runs of three. Exact counts, no sampling. Knows nothing about tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .normal_text import normalise

WORDS = 8  # of a run
SHARE = 0.5  # of the runs of either text: near
COMMON = 20  # a run in more known texts than this is a phrase; it counts only as a run of the other text
SHORT_WORDS, SHORT_RUN, SHORT_JACCARD = (4, 20), 3, 0.5  # texts of so many words: |shared| / |either| of 3-word runs
CHUNK = 4000  # texts at a time
FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass
class Finding:
    """One text and the known text that it is closest to."""

    text: int  # number among the texts asked about
    known: int
    kind: str  # "equal", "near" or "short"
    share: float


class KnownTexts:
    """An index of texts, to ask which others equal or resemble one of them."""

    def __init__(self, texts: list[str]):
        self.word_ids: dict[str, int] = {}
        normal = [normalise(text) for text in texts]
        self.equal = {letters(text): number for number, text in enumerate(normal) if text}
        runs, owner = self.runs(normal)
        order = np.lexsort((owner, runs))
        runs, owner = runs[order], owner[order]
        first = np.concatenate([[True], (runs[1:] != runs[:-1]) | (owner[1:] != owner[:-1])]) if len(runs) else []
        runs, self.owner = runs[first], owner[first]
        self.run_counts = np.bincount(self.owner, minlength=len(texts))
        self.known_runs, self.starts, self.counts = np.unique(runs, return_index=True, return_counts=True)
        self.short = ShortTexts(normal)

    def compare(self, texts: list[str]) -> list[Finding]:
        found: list[Finding] = []
        for start in range(0, len(texts), CHUNK):
            for finding in self.compare_chunk([normalise(text) for text in texts[start: start + CHUNK]]):
                finding.text += start
                found.append(finding)
        return found

    def compare_chunk(self, normal: list[str]) -> list[Finding]:
        equal = {number: self.equal[key] for number, text in enumerate(normal) if (key := letters(text)) in self.equal}
        found = {number: Finding(number, known, "equal", 1.0) for number, known in equal.items()}
        for finding in (*self.near(normal), *self.short.near(normal)):
            found.setdefault(finding.text, finding)
        return [found[number] for number in sorted(found)]

    def runs(self, normal: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """-> a hash of every run of eight words, and the number of the text it stands in"""
        ids, owner = [], []
        for number, text in enumerate(normal):
            words = text.split()
            ids += [self.word_ids.setdefault(word, len(self.word_ids) + 1) for word in words]
            owner += [number] * len(words)
        words, owners = np.array(ids, np.uint64), np.array(owner, np.int64)
        size = max(len(words) - WORDS + 1, 0)
        hashes = np.zeros(size, np.uint64)
        for place in range(WORDS):
            hashes = (hashes ^ (words[place: place + size] * FACTOR)) * np.uint64(0x100000001B3)
            hashes ^= hashes >> np.uint64(29)
        whole = owners[:size] == owners[WORDS - 1:] if size else np.zeros(0, bool)
        return hashes[whole], owners[:size][whole]

    def near(self, normal: list[str]) -> Iterable[Finding]:
        """Texts half of whose runs are known, or that hold half of the runs of one known text."""
        runs, owner = self.runs(normal)
        if not len(runs) or not len(self.known_runs):
            return
        place = np.minimum(np.searchsorted(self.known_runs, runs), len(self.known_runs) - 1)
        hit = self.known_runs[place] == runs
        own = np.bincount(owner[hit], minlength=len(normal)) / np.maximum(np.bincount(owner, minlength=len(normal)), 1)
        text, known, shared = self.pairs(owner[hit], place[hit])
        theirs = shared / self.run_counts[known]
        best: dict[int, tuple[float, int]] = {}
        for number, other, share in zip(text.tolist(), known.tolist(), np.maximum(theirs, own[text]).tolist()):
            # Half of its own runs counts whichever known texts they stand in; the one named shares most.
            best[number] = max(best.get(number, (0.0, 0)), (share, other))
        for number, (share, other) in best.items():
            if share >= SHARE:
                yield Finding(number, other, "near", share)

    def pairs(self, owner: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """-> text, known text, number of different runs in both; of a frequent run one known text stands for all"""
        different = np.unique(owner * len(self.known_runs) + place)
        owner, place = np.divmod(different, len(self.known_runs))
        counts = np.where(self.counts[place] > COMMON, 1, self.counts[place])
        steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        known = self.owner[np.repeat(self.starts[place], counts) + steps]
        pairs, shared = np.unique(np.repeat(owner, counts) * len(self.run_counts) + known, return_counts=True)
        text, known = np.divmod(pairs, len(self.run_counts))
        return text, known, shared


class ShortTexts:
    """Texts of 4 to 20 words, compared by their sets of three-word runs.

    Two sets that share half of their union share one of the rarest runs of each: only those are looked up.
    """

    def __init__(self, normal: list[str]):
        sets = {number: runs for number, text in enumerate(normal) if (runs := short_runs(text))}
        self.sets, self.frequency = sets, defaultdict(int)
        for runs in sets.values():
            for run in runs:
                self.frequency[run] += 1
        self.by_run: dict[tuple, list[int]] = defaultdict(list)
        for number, runs in sets.items():
            for run in self.rarest(runs):
                self.by_run[run].append(number)

    def rarest(self, runs: set[tuple]) -> list[tuple]:
        """A run that no known text has is rarest of all; ties go by the words, alike on both sides."""
        ordered = sorted(runs, key=lambda run: (self.frequency.get(run, 0), run))
        return ordered[: len(runs) - int(np.ceil(SHORT_JACCARD * len(runs))) + 1]

    def near(self, normal: list[str]) -> Iterable[Finding]:
        for number, text in enumerate(normal):
            runs = short_runs(text)
            candidates = {known for run in self.rarest(runs) for known in self.by_run.get(run, ())} if runs else ()
            share, known = max(((jaccard(runs, self.sets[known]), known) for known in candidates), default=(0.0, 0))
            if share >= SHORT_JACCARD:
                yield Finding(number, known, "short", share)


def letters(normal: str) -> str:
    """Without spaces: `don't`, `do n't` and `dont` are the same text."""
    return normal.replace(" ", "")


def short_runs(normal: str) -> set[tuple]:
    words = normal.split()
    if not SHORT_WORDS[0] <= len(words) <= SHORT_WORDS[1]:
        return set()
    return {tuple(words[i: i + SHORT_RUN]) for i in range(len(words) - SHORT_RUN + 1)}


def jaccard(one: set, other: set) -> float:
    return len(one & other) / len(one | other)
