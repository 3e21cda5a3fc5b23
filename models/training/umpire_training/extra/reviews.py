"""Opinions of customers and editorials, rated by 20 people each: the data of the VADER paper, in its Python package.

Only these two of its four collections are read: the others are tweets and texts that serve as test data elsewhere.
"""

from __future__ import annotations

import json
import random
import re
import tarfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from .collection import Dataset, noul
from .registry import Registry

LICENCE = "MIT (vaderSentiment 3.3.2)"
REVIEWS_SOURCE = "PyPI vaderSentiment 3.3.2, hutto_ICWSM_2014/amazonReviewSnippets"
EDITORIALS_SOURCE = "PyPI vaderSentiment 3.3.2, hutto_ICWSM_2014/nytEditorialSnippets"
REVIEWS_NOTES = "sentences of Amazon customer reviews of five products, chosen by Hu and Liu (2004), rated anew by 20 people"
EDITORIALS_NOTES = "sentences of New York Times editorials, rated by 20 people"
CLEAR = 0.8

SENTIMENT = {"positive": "praise, satisfaction or good news", "negative": "criticism, disappointment or bad news"}
THREE = {"positive": "says something good", "neutral": "states facts or is balanced, neither good nor bad", "negative": "says something bad"}
OVERALL = {"positive": "the customer is pleased on the whole", "negative": "the customer is unhappy on the whole",
           "mixed": "clear praise as well as clear criticism", "neutral": "no opinion to speak of"}
LEVELS = ["very negative", "negative", "neutral", "positive", "very positive"]
ASKED = ["What is the sentiment?", "Is the opinion favourable or unfavourable?", "sentiment", "Classify the polarity of the review.",
         "The writer's attitude is", "How does the customer feel about it?", "Decide what the reviewer thinks.", "polarity",
         "Overall tone of the comment"]
RATED = ["How good is the opinion of the product?", "Rate the sentiment of the sentence.", "sentiment score", "How satisfied is the customer?",
         "The tone of this comment is", "Place the review on the scale.", "intensity of the sentiment"]
TONE = ["What is the tone?", "tone", "Is this good or bad news?", "The sentence sounds", "Classify the sentiment of the editorial.",
        "Which feeling does the passage convey?", "sentiment of the sentence"]

PLEASED = ["Is the writer satisfied?", "The review recommends the product.", "happy customer", "Is this praise?", "The comment is favourable.",
           "Does the reviewer like it?", "The customer is pleased with the purchase.", "The sentence speaks for buying the product.",
           "positive review", "Does the text mention something that works well?"]
UNHAPPY = ["Is this a complaint?", "The writer is disappointed.", "unhappy customer", "Does the sentence point out a weakness?", "criticism",
           "The customer is dissatisfied.", "Does the reviewer warn against something?", "The comment is unfavourable.",
           "negative review", "Something about the product bothers the writer."]
OPINION = ["Does the text express an opinion?", "The sentence passes judgement.", "opinionated", "Does the writer praise or criticise anything?",
           "The text shows how the writer feels.", "subjective"]
FACTUAL = ["Is this a plain statement of fact?", "The sentence is neutral.", "no opinion expressed", "The text takes no side.", "objective"]
GOOD_NEWS = ["Is this something good?", "The sentence is positive in tone.", "good news", "Does it speak well of someone or something?",
             "The passage is hopeful or approving."]
BAD_NEWS = ["Does the sentence describe something bad?", "bad news", "The passage is critical or alarming.", "Is the tone negative?",
            "It is about harm, failure or wrongdoing."]


@dataclass
class Snippet:
    document: str
    text: str
    mean: float
    ratings: list[int]


def read_snippets(texts: str, ratings: str) -> list[Snippet]:
    """Two tab-separated files: id, mean, text; and id, mean, deviation, list of ratings from -4 to 4."""
    rated = {}
    for line in ratings.splitlines():
        number, _, _, values = line.split("\t")
        rated[number] = json.loads(values)
    found = []
    for line in texts.splitlines():
        number, mean, text = line.split("\t", 2)
        found.append(Snippet(number.split("_")[0], text.strip(), float(mean), rated[number]))
    return found


def polish(text: str, rng: random.Random) -> str:
    """The reviews are in lower case: half of them get capitals again. Quotes as usual."""
    text = re.sub(r"\s+", " ", text.replace("''", '"'))
    if text.islower() and rng.random() < 0.5:
        text = re.sub(r"(^|[.!?] +)([a-z])", lambda m: m[1] + m[2].upper(), text)
        text = re.sub(r"\bi(?='|\b)", "I", text)
    return text


def share(ratings: list[int], group) -> dict[str, float]:
    counts = defaultdict(int)
    for rating in ratings:
        counts[group(rating)] += 1
    return {name: round(count / len(ratings), 3) for name, count in counts.items()}


def side(rating: float) -> str:
    return "positive" if rating > 0 else "negative" if rating < 0 else "neutral"


def level(rating: int) -> str:
    return LEVELS[2 + (rating > 0) - (rating < 0) + (rating >= 3) - (rating <= -3)]


def worded(text: str) -> bool:
    return len(text.split()) >= 3


def opinion_questions(mean: float, good: list[str], bad: list[str], rng: random.Random) -> list[dict]:
    """One to three yes/no questions whose answer the mean rating settles."""
    asked = []
    if abs(mean) >= CLEAR:
        asked += [noul(rng.choice(good), mean > 0), noul(rng.choice(bad), mean < 0)]
    if abs(mean) >= 1.2 or abs(mean) <= 0.2:
        asked.append(noul(rng.choice(OPINION), abs(mean) > 1) if rng.random() < 0.5 else noul(rng.choice(FACTUAL), abs(mean) < 1))
    if abs(mean) <= 0.1:
        asked.append(noul(rng.choice(good + bad), False))
    return rng.sample(asked, min(len(asked), rng.randint(1, 3)))


def overall(means: list[float]) -> str | None:
    """What a passage says on the whole, None where it is not clear."""
    mean = sum(means) / len(means)
    if max(means) >= 1.2 and min(means) <= -1.2 and abs(mean) < 0.6:
        return "mixed"
    if abs(mean) >= CLEAR and min(means) > -CLEAR or abs(mean) >= CLEAR and max(means) < CLEAR:
        return side(mean)
    return "neutral" if max(map(abs, means)) <= 0.3 else None


def passages(snippets: list[Snippet], rng: random.Random) -> list[dict]:
    """Two to seven sentences in a row from one review."""
    rows, documents = [], defaultdict(list)
    for snippet in snippets:
        documents[snippet.document].append(snippet)
    for sentences in documents.values():
        for start in range(len(sentences) - 1):
            part = sentences[start: start + rng.randint(2, 7)]
            label = overall([snippet.mean for snippet in part])
            text = " ".join(snippet.text for snippet in part)
            if label and len(text) <= 1500:
                rows.append({"state": polish(text, rng), "label": label})
    return rows


def label_sets(kind: str, snippets: list[Snippet], source: str, notes: str, wordings: tuple[list[str], list[str]]) -> list[Dataset]:
    asked, rated = wordings
    clear = [s for s in snippets if abs(s.mean) >= CLEAR]
    return [
        Dataset(f"{kind}_sentiment", "choice", [{"state": s.text, "label": side(s.mean)} for s in clear], source, LICENCE,
                SENTIMENT, asked, notes),
        Dataset(f"{kind}_sentiment_three", "choice", [{"state": s.text, "soft": share(s.ratings, side)} for s in snippets], source, LICENCE,
                THREE, asked, notes),
        Dataset(f"{kind}_rating", "score", [{"state": s.text, "soft": share(s.ratings, level)} for s in snippets], source, LICENCE,
                LEVELS, rated, notes),
    ]


def question_set(kind: str, snippets: list[Snippet], source: str, notes: str, words: tuple[list[str], list[str]]) -> Dataset:
    rng = random.Random(kind)
    rows = [{"state": s.text, "questions": opinion_questions(s.mean, *words, rng)} for s in snippets]
    return Dataset(f"{kind}_nouls", "noul", [row for row in rows if row["questions"]], source, LICENCE, notes=notes)


def from_files(texts: str, ratings: str) -> list[Snippet]:
    rng = random.Random(texts[:100])
    found = [s for s in read_snippets(texts, ratings) if worded(s.text)]
    for snippet in found:
        snippet.text = polish(snippet.text, rng)
    return found


def archive_texts(folder: Path, name: str) -> tuple[str, str]:
    archive = next(folder.rglob("hutto_ICWSM_2014.tar.gz"))
    with tarfile.open(archive) as file:
        names = [f"hutto_ICWSM_2014/{name}_{part}.txt" for part in ("GroundTruth", "anonDataRatings")]
        return tuple(file.extractfile(member).read().decode("utf-8-sig") for member in names)


def datasets(registry: Registry) -> list[Dataset]:
    folder = registry.python_package("vaderSentiment==3.3.2", source=True)
    raw = archive_texts(folder, "amazonReviewSnippets")
    reviews = from_files(*raw)
    editorials = from_files(*archive_texts(folder, "nytEditorialSnippets"))
    whole = passages(read_snippets(*raw), random.Random(5))
    return [
        *label_sets("review", reviews, REVIEWS_SOURCE, REVIEWS_NOTES, (ASKED, RATED)),
        question_set("review", reviews, REVIEWS_SOURCE, REVIEWS_NOTES, (PLEASED, UNHAPPY)),
        Dataset("review_overall", "choice", whole, REVIEWS_SOURCE, LICENCE, OVERALL, ASKED,
                f"{REVIEWS_NOTES}; sentences in a row, label from their ratings"),
        *label_sets("editorial", editorials, EDITORIALS_SOURCE, EDITORIALS_NOTES, (TONE, RATED[1:3] + TONE))[1:2],
        question_set("editorial", editorials, EDITORIALS_SOURCE, EDITORIALS_NOTES, (GOOD_NEWS, BAD_NEWS)),
    ]
