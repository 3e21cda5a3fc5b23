"""Single words, idioms and emoticons with the feeling ten people gave them: the lexicon of the VADER package."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

from .collection import Dataset
from .registry import Registry
from .reviews import LEVELS, LICENCE, SENTIMENT, level, share

SOURCE = "PyPI vaderSentiment 3.3.2, vader_lexicon.txt"
CLEAR = 1.2
ASKED = ["Are these words positive or negative?", "connotation", "sentiment", "The wording is", "Which feeling goes with this?", "polarity of the words",
         "Choose the tone."]
RATED = ["How good or bad does it sound?", "Rate the words.", "valence", "sentiment score", "The word sounds", "Place it on the scale from bad to good."]


@dataclass
class Rated:
    text: str
    mean: float
    ratings: list[int]


def read_lexicon(text: str) -> list[Rated]:
    """word, mean, deviation, list of ratings from -4 to 4, by tabs"""
    found = []
    for line in text.splitlines():
        word, mean, _, ratings = line.split("\t")
        found.append(Rated(word, float(mean), json.loads(ratings)))
    return found


def groups(words: list[Rated], rng: random.Random) -> list[str]:
    """Each word alone or with one to four others of the same side."""
    return [rng.choice([", ", " ", "\n"]).join(word.text for word in [first, *rng.sample(words, rng.choice([0, 0, 1, 2, 4]))]) for first in words]


def datasets(registry: Registry) -> list[Dataset]:
    folder = registry.python_package("vaderSentiment==3.3.2", source=True)
    words = read_lexicon(next(folder.rglob("vaderSentiment/vader_lexicon.txt")).read_text("utf-8"))
    rng = random.Random(70)
    sides = {"positive": [word for word in words if word.mean >= CLEAR], "negative": [word for word in words if word.mean <= -CLEAR]}
    rows = [{"state": state, "label": side} for side, members in sides.items() for state in groups(members, rng)]
    rated = [{"state": word.text, "soft": share(word.ratings, level)} for word in words if word.text.isalpha()]
    notes = "words, idioms and emoticons, rated by ten people"
    return [Dataset("word_sentiment", "choice", rows, SOURCE, LICENCE, SENTIMENT, ASKED, notes),
            Dataset("word_rating", "score", rated, SOURCE, LICENCE, LEVELS, RATED, notes, limit=4000)]
