"""Feelings: WordNet's words for them, words formed from these, and sentences that use them."""

from __future__ import annotations

import random
from collections import defaultdict

from .collection import Dataset
from .topic_labels import EMOTIONS
from .wordnet_files import SIMILAR, Synset, WordNet
from .wordnet_topics import below

FORMED = "+"  # words formed from one another: anger, angry, to anger
ASKED = ["Which feeling is it about?", "emotion", "What does the person feel?", "The text speaks of", "Choose the emotion.", "feeling",
         "Which emotion does this show?", "Classify by emotion.", "mood of the text"]


def feelings(net: WordNet) -> dict[str, list[Synset]]:
    """Synsets that lead to one feeling alone."""
    labels = defaultdict(set)
    for name, (_, words) in EMOTIONS.items():
        for word in words:
            root = next(key for key in net.senses["n", word] if net.synsets[key].category == 12)
            nouns = {root} | below(net, root)
            formed = {key for noun in net.of(sorted(nouns)) for key in noun.related(FORMED)}
            alike = {key for synset in net.of(sorted(formed)) for key in synset.related(SIMILAR)}
            for key in nouns | {key for key in formed | alike if net.synsets[key].category != 18}:
                labels[key].add(name)
    found = defaultdict(list)
    for key in sorted(labels):
        if len(labels[key]) == 1:
            found[next(iter(labels[key]))].append(net.synsets[key])
    return found


def rows(net: WordNet, rng: random.Random) -> list[dict]:
    """Every example sentence, and one entry a synset."""
    made = []
    for name, members in feelings(net).items():
        for synset in members:
            made += [{"state": text, "label": name} for text in synset.examples if len(text.split()) > 2]
            made.append({"state": f"{rng.choice(synset.words)}: {synset.definition}", "label": name})
    return made


def datasets(net: WordNet, source: str, licence: str) -> list[Dataset]:
    return [Dataset("wordnet_feelings", "choice", rows(net, random.Random(33)), source, licence, {name: text for name, (text, _) in EMOTIONS.items()},
                    ASKED, "words for feelings and sentences with them")]
