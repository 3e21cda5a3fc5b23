"""Turns that need no writer: where two statements differ in one place, and the words of the true one stand there in the document,
once, the words of the false one take their place; likewise the right option of a list, where the document says it in the same words.

A fifth of the statements and lists have such a place. Without turns both are learned by heart: a model that had
seen every document some six times gave 82 % of the right choices there, and 39 % about documents it had not seen (TRIALS.md).
"""

from __future__ import annotations

import random
import re
from difflib import SequenceMatcher

from .written import Document, Turn

NOTHING = re.compile(r"\b(none|no|not|nothing|nobody|nowhere|neither|other|else|unknown|unclear)\b", re.IGNORECASE)  # names of options that say nothing
SMALL = re.compile(r"(The|An?|His|Her|Its|Their|Our|My|Your|This|That|These|Those|Some|All|Both|Each|Every|Only|Two|Three|Four|Five|Six)\b")  # capital where a statement begins
WORDS = re.compile(r"\w+(?:['’.,:/-]\w+)*|[^\w\s]")


def with_word_turns(documents: list[Document]) -> list[Document]:
    """Beside the turns that were written, for what none of them turns"""
    for document in documents:
        pairs = {number for each in document.turns for number in each.pairs}
        more = {number for each in document.turns for number, _ in each.more}
        document.turns += [each for each in word_turns(document) if not (set(each.pairs) & pairs or {number for number, _ in each.more} & more)]
    return documents


def word_turns(document: Document) -> list[Turn]:
    found = []
    for number, pair in enumerate(document.pairs):
        words = the_words_that_differ(pair.true, pair.false)
        if words and (place := said_once(document.state, pair.quotes, words[0])):
            others = [other for other, each in enumerate(document.pairs) if other != number and touches(document.state, each.quotes, *place)]
            found.append(turn(document.state, *place, words[1], pairs=[number], unclear=others))
    rng = random.Random(document.id)
    for number, raw in enumerate(document.more):
        others = [name for name in raw["criteria"] if name != raw["gold"] and not NOTHING.search(name)] if raw["type"] == "choice" else []
        if others and (place := said_once(document.state, raw["quotes"], raw["gold"])):
            instead = rng.choice(others)
            touched = [other for other, each in enumerate(document.pairs) if touches(document.state, each.quotes, *place)]
            found.append(turn(document.state, *place, instead, pairs=[], unclear=touched, more=[(number, instead)]))
    return found


def turn(state: str, begin: int, end: int, instead: str, **what) -> Turn:
    """The words from `begin` to `end` make way, with what stands around them so far as they would not be found once."""
    if starts_sentence(state, begin):
        instead = instead[0].upper() + instead[1:]
    elif SMALL.match(instead):
        instead = instead[0].lower() + instead[1:]
    left, right = begin, end
    while state.count(state[left:right]) > 1:  # inside of longer words
        left, right = max(left - 1, 0), min(right + 1, len(state))
    return Turn(state[left:right], state[left:begin] + instead + state[end:right], **what)


def starts_sentence(state: str, place: int) -> bool:
    return state[place].isupper() and (not (before := state[:place].rstrip(" \"'“‘(*-")) or before[-1] in ".!?:\n")


def the_words_that_differ(true: str, false: str) -> tuple[str, str] | None:
    """Where two statements are alike up to one place: what each has there"""
    sides = [[(m.start(), m.end()) for m in WORDS.finditer(text)] for text in (true, false)]
    words = [[text[begin:end] for begin, end in places] for text, places in zip((true, false), sides, strict=True)]
    changes = [each for each in SequenceMatcher(None, *words, autojunk=False).get_opcodes() if each[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return None
    _, a, b, c, d = changes[0]
    return true[sides[0][a][0]:sides[0][b - 1][1]], false[sides[1][c][0]:sides[1][d - 1][1]]


def said_once(state: str, quotes: list[str], words: str) -> tuple[int, int] | None:
    """Where the state has these words, in whatever case, if that is one place and in a quote"""
    places = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", state, re.IGNORECASE)]
    return places[0] if len(places) == 1 and touches(state, quotes, *places[0]) else None


def touches(state: str, quotes: list[str], begin: int, end: int) -> bool:
    return any((start := state.find(quote)) >= 0 and start < end and begin < start + len(quote) for quote in quotes)
