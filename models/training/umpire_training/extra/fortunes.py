"""Quotations and jokes of the `fortune` program, filed by topic. Only files with a clear topic.

None of the offensive ones, and not the song texts, which belong to their writers.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

from .collection import Dataset, noul
from .registry import Registry

LICENCE = "BSD-3-Clause (fortune-mod, the collection); short quotations"
SOURCE = "Debian fortunes and fortunes-min 1.99.1"

# file: name, description, phrase for yes/no questions
TOPICS: dict[str, tuple[str, str, str]] = {
    "art": ("entertainment", "art, film, television and celebrities", "art or show business"),
    "computers": ("computers", "machines, programmers and their troubles", "computers or programming"),
    "drugs": ("drink_and_tobacco", "alcohol, cigarettes and the like", "drinking, smoking or drugs"),
    "education": ("education", "schools, teachers, students and learning", "school or university"),
    "food": ("food", "eating, cooking and diets", "food"),
    "kids": ("children", "children, parents and family life", "children or family"),
    "law": ("law", "lawyers, courts and odd laws", "the law"),
    "linux": ("linux", "the Linux system and its developers", "Linux"),
    "linuxcookie": ("linux", "the Linux system and its developers", "Linux"),
    "debian": ("debian", "the Debian project", "Debian"),
    "literature": ("literature", "books, authors and famous lines", "literature"),
    "love": ("love", "falling in love and being loved", "love"),
    "magic": ("magic", "wizards and spells", "magic"),
    "medicine": ("medicine", "doctors, patients and health", "health or medicine"),
    "news": ("journalism", "newspapers, reporters and headlines", "the press"),
    "perl": ("perl", "the Perl programming language", "Perl"),
    "pets": ("pets", "cats, dogs and other animals at home", "animals"),
    "politics": ("politics", "government, war, police and elections", "politics"),
    "science": ("science", "mathematics, physics and engineering", "science or mathematics"),
    "sports": ("sports", "games, players and coaches", "sport"),
    "startrek": ("star_trek", "lines from the series Star Trek", "Star Trek"),
    "tao": ("taoism", "sayings about the Tao", "Taoism"),
    "work": ("work", "jobs, bosses, meetings and business", "work or business"),
}
EACH = 450
ASKED = ["What is the quotation about?", "topic", "File the quote under a topic.", "The saying belongs to the section", "Which subject does it touch?",
         "Choose a category for this text.", "category", "What is the theme?", "section of the collection", "Sort this quotation."]
YES_NO = ["Is it about {}?", "The quotation is about {}.", "{}", "This has to do with {}.", "Does the text deal with {}?", "on the topic of {}",
          "The joke or saying concerns {}."]


def read_quotes(text: str) -> list[str]:
    """Quotes stand between lines of a single percent sign; lines are broken by hand."""
    quotes = [tidy(quote) for quote in re.split(r"^%\s*$", text, flags=re.MULTILINE)]
    return [quote for quote in quotes if 25 <= len(quote) <= 900]


def tidy(quote: str) -> str:
    """Without overstrikes, tabs and indents; prose lines joined, the writer's name on its own line."""
    quote = re.sub(r".\x08", "", quote).replace("\t", "  ").strip()
    lines = [line.strip() for line in quote.splitlines()]
    if lines and max(map(len, lines)) > 60:
        joined = " ".join(lines)
        return re.sub(r"\s+(-- )", r"\n\1", re.sub(r" {2,}", " ", joined))
    return "\n".join(lines)


def unsigned(quote: str, rng: random.Random) -> str:
    """Half of the quotes lose the writer's name."""
    body = re.sub(r"\n-- .*$", "", quote, flags=re.DOTALL)
    return body if len(body) >= 25 and rng.random() < 0.5 else quote


def topic_quotes(folders: list[Path], rng: random.Random) -> list[tuple[str, str]]:
    """-> file, quote"""
    found = []
    for name in TOPICS:
        path = next(folder / name for folder in folders if (folder / name).exists())
        quotes = read_quotes(path.read_text("utf-8", errors="replace"))
        rng.shuffle(quotes)
        found += [(name, unsigned(quote, rng)) for quote in quotes[:EACH]]
    return found


def questions(name: str, rng: random.Random) -> list[dict]:
    own = TOPICS[name][2]
    phrases = [own, *rng.sample(sorted({phrase for _, _, phrase in TOPICS.values()} - {own}), 2)]
    rng.shuffle(phrases)
    texts = [(rng.choice(YES_NO).format(phrase), phrase == own) for phrase in phrases[: rng.randint(1, 2)]]
    return [noul(text[0].upper() + text[1:] if text[0] != own[0] else text, truth) for text, truth in texts]


def datasets(registry: Registry) -> list[Dataset]:
    folders = [registry.debian_package(name) / "usr/share/games/fortunes" for name in ("fortunes", "fortunes-min")]
    quotes = topic_quotes(folders, random.Random(40))
    rng = random.Random(41)
    labels = {name: description for name, description, _ in TOPICS.values()}
    return [
        Dataset("quote_topics", "choice", [{"state": quote, "label": TOPICS[name][0]} for name, quote in quotes], SOURCE, LICENCE, labels, ASKED,
                "the topic is the file a quote stands in; offensive and unspecific files and song texts left out"),
        Dataset("quote_topic_nouls", "noul", [{"state": quote, "questions": questions(name, rng)} for name, quote in quotes], SOURCE, LICENCE,
                notes="other topics as the wrong ones"),
    ]
