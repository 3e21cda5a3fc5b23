"""Written documents: states with questions in several wordings, small edits that flip answers, pairs of statements of which one is true, and turns that make it the other one.

Files of JSON lines (also .gz or .bz2) in the format of `written/README.md`; pairs may stand in files of their own, by the document's id. Documents whose number ends in 0, with their edits,
are never trained on: `written-dev`.
"""

from __future__ import annotations

import bz2
import gzip
import json
import random
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from .augment import noul
from .evidence import sentence_of
from .tasks import Example, Labelled, from_row

TASK = "written"
KEPT = 10  # one document of so many is for measuring: wherever it stands, its number decides


@dataclass
class Edit:
    before: str
    after: str
    gold: dict[str, object]


@dataclass
class Pair:
    """Two statements alike but for what decides, and the places in the state that do."""

    true: str
    false: str
    quotes: list[str]


@dataclass
class Turn:
    """A change of the state after which the other statement of some pairs is the true one, or a question has another answer."""

    before: str
    after: str
    pairs: list[int]  # numbers of the pairs that are turned round
    unclear: list[int] = field(default_factory=list)  # pairs that this leaves without an answer
    more: list[tuple[int, object]] = field(default_factory=list)  # (number of the question in `Document.more`, its answer afterwards)


@dataclass
class Document:
    id: str
    state: str
    questions: dict[str, dict]
    edits: list[Edit]
    pairs: list[Pair] = field(default_factory=list)
    more: list[dict] = field(default_factory=list)  # questions about the state as it is, with the `quotes` that decide; choices by `list`
    turns: list[Turn] = field(default_factory=list)

    def edited(self, edit: Edit) -> str:
        return self.state.replace(edit.before, edit.after)

    def evidence(self, name: str, edit: Edit | None) -> tuple[str, ...]:
        """The sentences that decide a question, as far as edits show: what an edit put there that changes its answer, or what
        other edits that would change it take away."""
        state = self.state if edit is None else self.edited(edit)
        parts = [edit.after] if edit and name in edit.gold else [each.before for each in self.edits if name in each.gold and each is not edit]
        return tuple(dict.fromkeys(sentence_of(state, part) for part in parts if part.strip() and state.count(part) == 1))

    def gold(self, name: str, edit: Edit | None = None):
        return edit.gold[name] if edit and name in edit.gold else self.questions[name]["gold"]


def open_text(path: Path):
    return {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)(path, "rt", encoding="utf-8")


def read_rows(path: Path) -> list[dict]:
    with open_text(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def more_of(row: dict) -> list[dict]:
    """One question each of what is asked about a list of options, or about a scale"""
    found = [{"type": "choice", "criteria": {name.partition(": ")[0]: name.partition(": ")[2] or None for name in each["options"]},
              "gold": ask["gold"].partition(": ")[0], "list": number, **about(ask)} for number, each in enumerate(row["lists"]) for ask in each["asks"]]
    return found + [{"type": "score", "criteria": each["levels"], "gold": ask["gold"], **about(ask)} for each in row["scales"] for ask in each["asks"]]


def about(ask: dict) -> dict:
    return {"instructions": ask["q"], "quotes": quotes_of(ask)}


def quotes_of(raw: dict) -> list[str]:
    found = raw.get("quote", [])
    return [found] if isinstance(found, str) else found


def pairs_of(row: dict) -> list[Pair]:
    return [Pair(pair["true"], pair["false"], quotes_of(pair)) for pair in row["pairs"]]


def turns_of(row: dict, asked: dict) -> list[Turn]:
    """asked: the row of the same document with the lists and scales that turns name"""
    places = [(kind, number, ask) for kind in ("list", "scale") for number, each in enumerate(asked.get(f"{kind}s", [])) for ask in range(len(each["asks"]))]
    found = []
    for raw in row["turns"]:
        kind = next((kind for kind in ("list", "scale") if kind in raw), None)
        more = [(places.index((kind, raw[kind], raw["ask"])), raw["gold"])] if kind else []
        found.append(Turn(raw["from"], raw["to"], raw.get("pairs", []), raw.get("unclear", []), more))
    return found


def files_of(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    return sorted(path for path in source.iterdir() if ".jsonl" in path.suffixes)


def documents(sources: list[Path], dev: bool) -> list[Document]:
    rows = [row for source in sources for path in files_of(source) for row in read_rows(path)]
    pairs = {row["id"]: pairs_of(row) for row in rows if "pairs" in row}
    lists = {row["id"]: row for row in rows if "lists" in row}
    more = {name: more_of(row) for name, row in lists.items()}
    turns = {row["id"]: turns_of(row, lists.get(row["id"], {})) for row in rows if "turns" in row}
    found = [Document(row["id"], row["state"], row["questions"], [Edit(edit["from"], edit["to"], edit["gold"]) for edit in row.get("edits", [])],
                      pairs.get(row["id"], []), more.get(row["id"], []), turns.get(row["id"], [])) for row in rows if "state" in row]
    return [each for each in found if is_kept(each) == dev]


def is_kept(document: Document) -> bool:
    return int(re.search(r"\d+$", document.id)[0]) % KEPT == 0


def asked(document: Document, names: list[str], edit: Edit | None, rng: random.Random) -> list[Labelled]:
    """The named questions, each in one of its wordings; the same seed asks both sides of a pair alike."""
    found = []
    for name in names:
        question = document.questions[name]
        labelled = from_row({**question, "instructions": rng.choice(question["instructions"]), "gold": document.gold(name, edit)}, TASK)
        found.append(replace(labelled, evidence=document.evidence(name, edit)))
    return found


def asked_more(questions: list[dict]) -> list[Labelled]:
    return [replace(from_row(raw, TASK), evidence=tuple(raw["quotes"])) for raw in questions]


def stated(pairs: list[Pair], rng: random.Random) -> list[Labelled]:
    """Both statements of every pair, as yes/no questions."""
    found = [replace(noul(statement, truth, TASK), evidence=tuple(pair.quotes)) for pair in pairs
             for statement, truth in ((pair.true, True), (pair.false, False))]
    return rng.sample(found, len(found))


def snippet(state: str, quotes: list[str]) -> str:
    """The sentences alone that hold the quotes, in the order of the state."""
    sentences = {sentence_of(state, quote): state.index(quote) for quote in quotes if quote in state}
    return "\n".join(sorted(sentences, key=sentences.__getitem__))


def in_short(document: Document, rng: random.Random) -> Example:
    """Some pairs of statements, or all questions about one list of options, with nothing of the document but the sentences that decide."""
    lists = sorted({raw["list"] for raw in document.more if "list" in raw})
    if lists and (not document.pairs or rng.random() < 0.4):
        number = rng.choice(lists)
        questions = [raw for raw in document.more if raw.get("list") == number]
        return Example(snippet(document.state, [quote for raw in questions for quote in raw["quotes"]]), asked_more(questions), TASK)
    pairs = rng.sample(document.pairs, min(len(document.pairs), rng.choice([1, 1, 2, 3, 4])))
    return Example(snippet(document.state, [quote for pair in pairs for quote in pair.quotes]), stated(pairs, rng), TASK)


def turned(document: Document, most: int, short: bool, rng: random.Random) -> list[Example]:
    """Two versions of a document, each with those of some turns that the other is without, asked the same: all answers differ, so
    nobody can know them who knows the questions alone.

    most: turns at most; short: the sentences alone that decide
    """
    taken = compatible(document, most, rng)
    state = document.state
    if short:
        quotes = [quote for turn in taken for number in turn.pairs for quote in document.pairs[number].quotes]
        quotes += [quote for turn in taken for number, _ in turn.more for quote in document.more[number]["quotes"]]
        part = snippet(state, [*quotes, *(turn.before for turn in taken)])
        state = part if all(turn.before in part for turn in taken) else state
    first = [rng.random() < 0.5 for _ in taken]
    return [Example(changed(state, taken, applied), about_turns(document, taken, applied, rng), TASK) for applied in (first, [not each for each in first])]


def compatible(document: Document, most: int, rng: random.Random) -> list[Turn]:
    """Some turns that change different places, none of them an answer of another"""
    taken: list[Turn] = []
    for turn in rng.sample(document.turns, len(document.turns)):
        if len(taken) < most and not any(disturb(document.state, turn, other) for other in taken):
            taken.append(turn)
    return taken


def disturb(state: str, one: Turn, other: Turn) -> bool:
    begin, start = state.index(one.before), state.index(other.before)
    overlap = begin < start + len(other.before) and start < begin + len(one.before)
    same = {*one.pairs, *one.unclear} & {*other.pairs, *other.unclear} or {number for number, _ in one.more} & {number for number, _ in other.more}
    return overlap or bool(same)


def changed(state: str, turns: list[Turn], applied: list[bool]) -> str:
    """The state with the turns that apply, from its end on: what one puts there is no place for another."""
    for turn, applies in sorted(zip(turns, applied), key=lambda each: -state.find(each[0].before)):
        place = state.find(turn.before)
        if applies and place >= 0:
            state = state[:place] + turn.after + state[place + len(turn.before):]
    return state


def about_turns(document: Document, turns: list[Turn], applied: list[bool], rng: random.Random) -> list[Labelled]:
    found = []
    for turn, applies in zip(turns, applied):
        evidence = (turn.after,) if applies else None
        for number in turn.pairs:
            pair = document.pairs[number]
            for statement, truth in ((pair.true, not applies), (pair.false, applies)):
                found.append(replace(noul(statement, truth, TASK), evidence=evidence or tuple(pair.quotes)))
        for number, gold in turn.more:
            raw = document.more[number]
            [labelled] = asked_more([{**raw, "gold": gold} if applies else raw])
            found.append(replace(labelled, evidence=evidence or labelled.evidence))
    return rng.sample(found, len(found))
