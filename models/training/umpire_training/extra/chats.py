"""Questions to a chat bot and its answers, filed by topic: the English part of the ChatterBot corpus."""

from __future__ import annotations

import random
import re
from pathlib import Path

from .collection import Dataset
from .registry import Registry

LICENCE = "BSD-3-Clause"
SOURCE = "PyPI chatterbot-corpus 1.3.3, data/english"
TOPICS = {
    "ai": "artificial intelligence and robots", "botprofile": "the bot itself: its name, age, interests", "coding": "writing programs",
    "computers": "computers in general", "conversations": "small talk about the day", "emotion": "feelings of the bot", "food": "eating and drinking",
    "gossip": "rumours about people", "greetings": "saying hello", "history": "the past", "humor": "jokes", "literature": "books and authors",
    "money": "finance and wealth", "movies": "films and characters", "politics": "governments and ideologies",
    "psychology": "character and the mind of the speaker", "science": "physics, chemistry and nature", "sports": "games and athletes",
    "tech_support": "help with a device that does not work", "trivia": "quiz questions of general knowledge",
}
EACH = 300
ASKED = ["What is the conversation about?", "topic", "Which topic does the question belong to?", "Route the message to a topic.", "The user talks about",
         "Choose the subject of this turn.", "category", "Sort the chat by subject.", "What does the user want to talk about?"]


def turns(text: str) -> list[list[str]]:
    """Question and answers of every conversation; of YAML only what these files use: lists of lists of plain lines."""
    talks = []
    for line in text.splitlines():
        if start := re.match(r"- - +(.*)", line):
            talks.append([start[1]])
        elif talks and (answer := re.match(r"  - +(.*)", line)):
            talks[-1].append(answer[1])
        elif talks and line.startswith("    ") and not talks[-1][-1].startswith("|"):
            talks[-1][-1] += " " + line.strip()
    return [[unquoted(line) for line in talk if not line.startswith("|")] for talk in talks]


def unquoted(line: str) -> str:
    quoted = re.fullmatch(r"(['\"])(.*)\1", line.strip())
    return (quoted[2].replace("''", "'").replace('\\"', '"') if quoted else line).strip()


def states(talk: list[str], rng: random.Random) -> str:
    question = talk[0].capitalize() if talk[0].isupper() else talk[0]
    if len(talk) == 1 or rng.random() < 0.5:
        return question
    answer = talk[1]
    return rng.choice([f"User: {question}\nAssistant: {answer}", f"{question}\n{answer}", f"Q: {question}\nA: {answer}"])


def rows(folder: Path, rng: random.Random) -> list[dict]:
    found = []
    for name in TOPICS:
        talks = turns((folder / f"{name}.yml").read_text("utf-8"))
        rng.shuffle(talks)
        found += [{"state": states(talk, rng), "label": name} for talk in talks[:EACH] if talk and len(talk[0]) > 3]
    return found


def datasets(registry: Registry) -> list[Dataset]:
    folder = registry.python_package("chatterbot-corpus==1.3.3") / "chatterbot_corpus/data/english"
    return [Dataset("chat_topics", "choice", rows(folder, random.Random(60)), SOURCE, LICENCE, TOPICS, ASKED,
                    "the topic is the file a conversation stands in")]
