"""Sentences of a text beside the same sentences altered: finding the place, and comparing word by word.

A number, name or date gives way to another of the text, two of them change places, a "not" comes or goes, a word becomes its
opposite. Of a sentence and its alteration one is true; of a sentence with a gap one filler is right, though all stand in the text. Likeness as a
whole says nothing here, the state decides. Any text will do, so there is no end of it; statements in other words (`written.py`,
`statements.py`) build on what is learned here.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

from .augment import noul
from .evidence import SENTENCE_END
from .generators.common import PEOPLE, choice
from .tasks import Example, Labelled, Task
from .written import Document

TASK = "altered"
# Tasks whose states are prose of several sentences.
SOURCES = ("boolq", "passages_open", "passages_closed", "negation_passages", "several_documents", "small_stories", "sgd_dialogues", "town_dialogues", "spam_mail",
           "drug_reviews", "paper_fields", "medical_abstracts", "pubmedqa", "cosmos", "page_support", "grounded_reply", "esnli_nouls", "mnli_dev",
           "nli_premises", "who_did_what", "info_tables", "package_sections", "bot_scope", "guardrail", "news_targets", "sentence_answers")
FROM_WRITTEN = 0.35  # share of the texts that are written documents
TRIES = 12
WORDS = (5, 32)  # of a sentence
MOST_CHARACTERS = 3000

MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
SMALL = "two three four five six seven eight nine ten eleven twelve twenty thirty fifty".split()
KINDS = {
    "number": re.compile(r"(?<![\w.])[$€£#]?\d+(?:[.,:/-]\d+)*%?(?![\w])"),
    "date": re.compile(rf"\b(?:{'|'.join(MONTHS + DAYS)})\b"),
    "count": re.compile(rf"\b(?:{'|'.join(SMALL)})\b"),
    "name": re.compile(rf"(?<=[a-z,;] )(?!(?:I|{'|'.join(MONTHS + DAYS)})\b)[A-Z][a-zA-Z]+(?: [A-Z][a-zA-Z]+){{0,2}}\b"),
}
NEGATED = re.compile(r"\b(is|are|was|were|can|could|will|would|should|must|do|does|did|has|have|had|may|might)(?: not|n't)\b|\b(can)(?:not|'t)\b|\bnever ", re.IGNORECASE)
AFFIRMED = re.compile(r"\b(is|are|was|were|can|could|will|would|should|must|may|might)\b(?! not|n't| [A-Z]|[?])")
OPPOSITES = [pair.split("/") for pair in (
    "before/after more/less first/last always/never open/closed accepted/rejected bought/sold increased/decreased higher/lower above/below inside/outside "
    "early/late earlier/later old/new big/small large/small long/short high/low good/bad better/worse best/worst easy/difficult right/wrong true/false all/none most/few "
    "many/few everyone/nobody everything/nothing with/without up/down left/right north/south east/west hot/cold warm/cool fast/slow strong/weak light/heavy rich/poor full/empty "
    "happy/unhappy satisfied/dissatisfied young/old male/female men/women man/woman boy/girl he/she his/her public/private free/paid full/partial allowed/forbidden "
    "approved/refused granted/denied agreed/refused included/excluded present/absent started/stopped begins/ends began/ended arrived/left won/lost found/lost passed/failed sent/received "
    "lent/borrowed paid/owed gained/lost rose/fell grew/shrank opened/closed enabled/disabled signed/unsigned internal/external domestic/foreign common/rare safe/dangerous "
    "clean/dirty wet/dry loud/quiet near/far deep/shallow thick/thin wide/narrow major/minor maximum/minimum least/most positive/negative same/different possible/impossible "
    "successful/unsuccessful legal/illegal likely/unlikely able/unable known/unknown complete/incomplete correct/incorrect necessary/unnecessary morning/evening day/night today/tomorrow "
    "yesterday/tomorrow next/previous winter/summer spring/autumn buyer/seller customer/supplier tenant/landlord employee/employer teacher/student parent/child mother/father "
    "brother/sister son/daughter husband/wife only/also despite/because although/because until/after and/or").split()]
OPPOSITE = {a: b for first, second in OPPOSITES for a, b in ((second, first), (first, second))}
WORD = re.compile(r"\b[a-z]+\b")

STATED = ["{s}", "{s}", "{s}", "True or false: {s}", "The text says: {s}", "Is this right? {s}", "According to the text: {s}", "Statement: {s}", "{s} Is that so?"]
GAP = ["___", "…", "[?]", "(what?)"]
FILL = ["What belongs in the gap? {s}", "{s}", "Complete by the text: {s}", "Fill in: {s}", "Which one stands here? {s}"]
STANDS = ["Which of these does the text say?", "What is true by the text?", "Which statement is right?", "Which one is in the text?", "Choose what is said."]
OPENERS = re.compile(r"^(?:However|Also|And|But|So|Then|In addition|Therefore|Moreover|Finally|For example|As a result|Well|Yes|No|Ok|Hi|Hello),? +", re.IGNORECASE)


@dataclass
class Filler:
    start: int  # in its sentence
    text: str
    kind: str


def sentences_of(state: str) -> list[str]:
    """Sentences and lines of usual length that stand in the state once, in order."""
    parts = [part.strip() for part in SENTENCE_END.split(state)]
    return [part for part in parts if WORDS[0] <= len(part.split()) <= WORDS[1] and state.count(part) == 1]


def fillers_of(sentence: str) -> list[Filler]:
    return [Filler(match.start(), match[0], kind) for kind, pattern in KINDS.items() for match in pattern.finditer(sentence)]


def pool_of(state: str) -> dict[str, list[str]]:
    """All fillers of a text, by kind"""
    pool: dict[str, list[str]] = {}
    for filler in fillers_of(state):
        pool.setdefault(filler.kind, []).append(filler.text)
    return pool


def put(sentence: str, filler: Filler, text: str) -> str:
    return sentence[: filler.start] + text + sentence[filler.start + len(filler.text):]


def another(filler: Filler, pool: dict[str, list[str]], rng: random.Random) -> str:
    """Of the same kind, from the text where it has one; else near at hand."""
    others = [text for text in pool.get(filler.kind, ()) if text != filler.text and text not in filler.text and filler.text not in text]
    if others and rng.random() < 0.8:
        return rng.choice(others)
    if filler.kind == "number":
        digits = [i for i, letter in enumerate(filler.text) if letter.isdigit()]
        place = rng.choice(digits)
        return filler.text[:place] + rng.choice([d for d in "123456789" if d != filler.text[place]]) + filler.text[place + 1:]
    usual = {"date": MONTHS if filler.text in MONTHS else DAYS, "count": SMALL, "name": PEOPLE}[filler.kind]
    return rng.choice([text for text in usual if text != filler.text])


def other_filler(sentence: str, pool: dict[str, list[str]], rng: random.Random) -> str | None:
    found = fillers_of(sentence)
    if not found:
        return None
    filler = rng.choice(found)
    return put(sentence, filler, another(filler, pool, rng))


def places_changed(sentence: str, pool: dict[str, list[str]], rng: random.Random) -> str | None:
    """Two fillers of one kind, each where the other was."""
    found = fillers_of(sentence)
    twos = [(a, b) for a in found for b in found if a.start + len(a.text) <= b.start and a.kind == b.kind and a.text != b.text]
    if not twos:
        return None
    first, second = rng.choice(twos)
    return put(put(sentence, second, first.text), first, second.text)


def negated(sentence: str, pool: dict[str, list[str]], rng: random.Random) -> str | None:
    if match := NEGATED.search(sentence):
        kept = match[1] or match[2] or ""
        return sentence[: match.start()] + kept + sentence[match.end():]
    found = list(AFFIRMED.finditer(sentence))
    if not found:
        return None
    match = rng.choice(found[:2])
    return sentence[: match.end()] + rng.choice([" not", " not", " never"]) + sentence[match.end():]


def opposite(sentence: str, pool: dict[str, list[str]], rng: random.Random) -> str | None:
    found = [match for match in WORD.finditer(sentence) if match[0] in OPPOSITE]
    if not found:
        return None
    match = rng.choice(found)
    return sentence[: match.start()] + OPPOSITE[match[0]] + sentence[match.end():]


ALTERATIONS = (other_filler, other_filler, places_changed, negated, opposite, opposite)


def altered(sentence: str, pool: dict[str, list[str]], rng: random.Random) -> str | None:
    """The sentence with one thing changed, or None where nothing is known to change."""
    for alter in rng.sample(ALTERATIONS, len(ALTERATIONS)):
        found = alter(sentence, pool, rng)
        if found and found != sentence:
            return found
    return None


def told(sentence: str, rng: random.Random) -> str:
    """As somebody else writes it down; the same seed changes both sides of a pair alike."""
    said = OPENERS.sub("", sentence) if rng.random() < 0.6 else sentence
    said = re.sub(r"^[-*>\d.)\s]*(?:\w{2,12}: )?", "", said) if rng.random() < 0.5 else said
    if rng.random() < 0.35:
        said = re.sub(r"\b(?:the|a|an) ", "", said)
    if rng.random() < 0.3:
        said = re.sub(r"\b(?:very|really|just|also|quite|still|already|then|now|actually|simply|only) ", "", said)
    if rng.random() < 0.25:
        said = re.sub(r" \([^)]*\)", "", said)
    if rng.random() < 0.3:
        said = said.lower()
    elif rng.random() < 0.5:
        said = said[:1].upper() + said[1:]
    return said.rstrip(" .;,") + rng.choice([".", ".", ""])


def plain_pair(sentence: str, pool: dict[str, list[str]], rng: random.Random) -> list[Labelled]:
    """Yes/no about the sentence and about its alteration, as they are."""
    other = altered(sentence, pool, rng)
    return [known(noul(text, truth, TASK), sentence) for text, truth in ((sentence, True), (other, False))] if other else []


def pair_of(sentence: str, pool: dict[str, list[str]], rng: random.Random) -> list[Labelled]:
    """Yes/no about the sentence and about its alteration, in the same words."""
    other = altered(sentence, pool, rng)
    if not other:
        return []
    seed, wording = rng.random(), rng.choice(STATED)
    sides = [(told(text, random.Random(seed)), truth) for text, truth in ((sentence, True), (other, False))]
    return [known(noul(wording.format(s=said), truth, TASK), sentence) for said, truth in sides] if sides[0][0] != sides[1][0] else []


def gap_in(sentence: str, pool: dict[str, list[str]], rng: random.Random) -> list[Labelled]:
    """A choice of what stands in a gap of the sentence: fillers of one kind, from the text where it has them."""
    found = [filler for filler in fillers_of(sentence) if sentence.count(filler.text) == 1]
    if not found:
        return []
    filler, options = rng.choice(found), []
    for _ in range(rng.choice([2, 3, 4, 5, 7]) * 2):
        option = another(filler, pool, rng)
        if option not in options and option not in sentence:
            options.append(option)
    options = [filler.text, *options[: rng.choice([1, 2, 3, 5])]]
    if len(options) < 2:
        return []
    asked = rng.choice(FILL).format(s=told(put(sentence, filler, rng.choice(GAP)), rng))
    return [known(choice(asked, [(option, None) for option in options], 0, rng, vary=False), sentence)]


def right_one(sentence: str, pool: dict[str, list[str]], rng: random.Random) -> list[Labelled]:
    """A choice between the sentence and its alterations."""
    others = {found for _ in range(6) if (found := altered(sentence, pool, rng))}
    seed = rng.random()
    options = list(dict.fromkeys(told(text, random.Random(seed)) for text in (sentence, *sorted(others)[: rng.choice([1, 2, 3])])))
    return [known(choice(rng.choice(STANDS), [(option, None) for option in options], 0, rng, vary=False), sentence)] if len(options) > 1 else []


def known(labelled: Labelled, sentence: str) -> Labelled:
    return replace(labelled, task=TASK, evidence=(sentence,))


class Altered:
    """Draws texts and asks about them.

    short: share of the texts cut to one to four sentences
    """

    def __init__(self, tasks: list[Task], written: list[Document], short: float, rng: random.Random):
        self.tasks = [task for task in tasks if task.name in SOURCES and task.rows]
        self.written, self.short, self.rng = written, short, rng

    def text(self) -> str:
        rng = self.rng
        if self.written and (not self.tasks or rng.random() < FROM_WRITTEN):
            return rng.choice(self.written).state
        state = rng.choice(rng.choice(self.tasks).rows)["state"]
        return state if len(state) <= MOST_CHARACTERS else state[:MOST_CHARACTERS].rsplit(" ", 1)[0]

    def example(self, plain: bool) -> Example | None:
        """plain: yes/no about whole sentences, as they are

        None where a dozen texts offered nothing to change, which only texts of hardly any words do.
        """
        for _ in range(TRIES):
            state = self.text()
            if self.rng.random() < self.short:
                state = self.cut(state)
            if questions := self.questions(state, plain):
                return Example(state, questions, TASK)
        return None

    def cut(self, state: str) -> str:
        parts = sentences_of(state)
        count = self.rng.choice([1, 1, 2, 3, 4])
        start = self.rng.randrange(max(1, len(parts) - count + 1))
        return " ".join(parts[start: start + count]) or state

    def questions(self, state: str, plain: bool) -> list[Labelled]:
        rng, found, pool, sentences = self.rng, [], pool_of(state), sentences_of(state)
        for sentence in rng.sample(sentences, min(len(sentences), rng.choice([1, 2, 3, 4]))):
            found += (plain_pair if plain else rng.choice([pair_of, pair_of, gap_in, right_one]))(sentence, pool, rng)
        return rng.sample(found, len(found))
