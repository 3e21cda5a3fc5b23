"""Statements about short texts, alone and several texts at once: what follows from which of them.

Tasks of entailment ask in many ways at once ("the text leaves open whether …", "is this false according to the text"), with
both texts in the state or one of them in the question. Here their premises, statements and verdicts are taken apart and asked plainly,
several statements about a text and several texts in a state, each with a name: the right place has to be found by what the question
says, and then compared. It is the step from a sentence to a document.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import replace

from .augment import noul
from .generators.common import PEOPLE, choice
from .tasks import Example, Labelled, Task

TASK = "statements"
FOLLOWS, RULED_OUT, OPEN, NOT = "follows", "ruled out", "open", "not"  # NOT: ruled out or open, the row does not say which
VERDICTS = {name: verdict for verdict, names in {
    FOLLOWS: ("entailment", "supported", "follows", "yes", "true"),
    RULED_OUT: ("contradiction", "contradicted", "ruled out", "no", "false"),
    OPEN: ("neutral", "not stated", "undecided", "maybe", "cannot tell")}.items() for name in names}
SOURCES = ("esnli_nouls", "esnli_relation", "mnli_dev", "nli_counterfactual", "nli_conjunction", "nli_premises", "conjnli")
TWO_TEXTS = re.compile(r"(?:Premise|First|Text|Passage): (.+)\n(?:Hypothesis|Second|Statement|Claim): (.+)", re.DOTALL)
ASKS_RULED_OUT = ("Does the text rule this out:", "The text contradicts this:", "Is this false according to the text:", "Given the text, this cannot be true:")
ASKS_OPEN = ("It cannot be told from the text whether this is true:", "not stated:", "The text leaves open whether this is so:",
             "Is this left unsettled by the text:", "Not enough is said to decide this:")
QUOTED = re.compile(r'"(.+)"', re.DOTALL)

ALONE = ["{s}", "{s}", "{s}", "True or false: {s}", "The text says or implies: {s}", "Statement: {s}", "Is this right? {s}", "{s} Is that so?"]
NAMED = ["{label}: {s}", "According to {label}: {s}", "{s} (judge by {label})", "Going by {label}: {s}", "Is this true of {label}? {s}",
         "What is said in {label} supports this: {s}", "In {label}: {s}"]
THREE_ALONE = ["What does the text say about this: {s}", "{s}", "Is this so, not so, or left open? {s}", "How does the text bear on this: {s}"]
THREE_NAMED = ["What does {label} say about this: {s}", "{label}: {s}", "How does {label} bear on this: {s}", "Going by {label} alone: {s}"]
THREE = [{FOLLOWS: "supported", RULED_OUT: "contradicted", OPEN: "not stated"}, {FOLLOWS: "yes", RULED_OUT: "no", OPEN: "cannot be told"},
         {FOLLOWS: "true", RULED_OUT: "false", OPEN: "unknown"}, {FOLLOWS: "it says so", RULED_OUT: "it says otherwise", OPEN: "it leaves that open"},
         {FOLLOWS: "follows", RULED_OUT: "ruled out", OPEN: "neither"}]
WHICH = ["Which of them says or implies this: {s}", "Where does it say: {s}", "Source of this statement: {s}", "Which one fits? {s}", "{s} (which one?)"]
NOWHERE = ["none of them", "none", "nowhere", "no source", "not said"]
LABELS = [lambda i, rng: f"Photo {i + 1}", lambda i, rng: f"Picture {'ABCDEFGH'[i]}", lambda i, rng: f"Note {i + 1}", lambda i, rng: f"Text {'ABCDEFGH'[i]}",
          lambda i, rng: f"#{rng.randint(100, 999)}", lambda i, rng: f"Entry of {rng.randint(1, 28)} {rng.choice(('March', 'May', 'June', 'October'))}",
          lambda i, rng: f"Room {rng.randint(100, 499)}", lambda i, rng: f"{rng.randint(6, 22):02}:{rng.randint(0, 59):02}",
          lambda i, rng: rng.choice(PEOPLE), lambda i, rng: rng.choice(PEOPLE).split()[0], lambda i, rng: f"Witness {i + 1}"]
WRITINGS = ["{label}: {text}", "{label}: {text}", "[{label}] {text}", "{label} - {text}", "{label}\n{text}", "- {label}: {text}"]
IN_THREE = 0.25  # share of the questions about one text that offer three answers instead of yes and no
SHORT = 4  # words: a statement of so few holds of many texts

Said = list[tuple[str, str]]  # statements about a text with their verdicts


def statements_of(tasks: list[Task]) -> tuple[list[tuple[str, Said]], list[tuple[str, Said]]]:
    """-> texts with statements about them; those of them of which one follows"""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for task in tasks:
        for row in task.rows if task.name in SOURCES else ():
            for text, statement, verdict in stated(row):
                found[text].setdefault(statement, verdict)
    texts = [(text, list(said.items())) for text, said in found.items()]
    return texts, [each for each in texts if any(verdict == FOLLOWS for _, verdict in each[1])]


def stated(row: dict) -> list[tuple[str, str, str]]:
    """(text, statement, verdict) of every question of a row that can be taken apart"""
    two = TWO_TEXTS.fullmatch(row["state"])
    if "label" in row:
        return [(two[1], two[2], VERDICTS[row["label"]])] if two and row["label"] in VERDICTS else []
    found = []
    for question in row["questions"]:
        if question["type"] == "choice" and question["gold"] in VERDICTS:
            if statement := two[2] if two else asked_about(question["instructions"]):
                found.append((two[1] if two else row["state"], statement, VERDICTS[question["gold"]]))
        elif question["type"] == "noul" and not two:
            kind = next((kind for heads, kind in ((ASKS_RULED_OUT, RULED_OUT), (ASKS_OPEN, OPEN)) if question["instructions"].startswith(heads)), FOLLOWS)
            if question["gold"] or kind == FOLLOWS:
                found.append((row["state"], asked_about(question["instructions"]) or question["instructions"], kind if question["gold"] else NOT))
    return found


def asked_about(instructions: str) -> str | None:
    """The statement in "What can be said of this: …" or between quotation marks"""
    head, colon, rest = instructions.partition(": ")
    if colon and len(head.split()) <= 12:
        return rest.strip() or None
    quoted = QUOTED.search(instructions)
    return quoted[1] if quoted else None


def plainly(text: str, said: Said, rng: random.Random) -> Example:
    """Up to six statements about a text as they are: whether it follows, and nothing else. Comparing is learned in this form first (TRIALS.md)."""
    return Example(text, [noul(statement, verdict == FOLLOWS, "") for statement, verdict in rng.sample(said, min(len(said), 6))], TASK)


def gathered(texts: list[tuple[str, Said]], backed: list[tuple[str, Said]], which: float, rng: random.Random) -> Example:
    """One to six texts in a state, and up to eight questions about them.

    which: share of questions for the one of several texts that says something
    backed: those of the texts of which a statement follows, drawn more often: about half of the answers are yes
    """
    count = rng.choice([1, 1, 2, 3, 4, 5, 6])
    drawn = list(dict(rng.choice(backed if rng.random() < 0.8 else texts) for _ in range(count)).items())
    count = len(drawn)
    if count == 1:
        [(state, said)] = drawn
        return Example(state, [about(statement, verdict, None, rng.random() < IN_THREE, rng) for statement, verdict in rng.sample(said, min(len(said), 6))], TASK)
    naming, labels = rng.choice(LABELS), []
    while len(labels) < count:
        if (label := naming(len(labels), rng)) not in labels:
            labels.append(label)
    writing, between = rng.choice(WRITINGS), rng.choice(["\n", "\n", "\n\n"])
    state = between.join(writing.format(label=label, text=text) for label, (text, _) in zip(labels, drawn, strict=True))
    asked = [(place, statement, verdict) for place, (_, said) in enumerate(drawn) for statement, verdict in two_of(said, rng)]
    texts = [text for text, _ in drawn]
    return Example(state, [question(labels, texts, *each, which, rng) for each in rng.sample(asked, min(len(asked), 8))], TASK)


def two_of(said: Said, rng: random.Random) -> Said:
    """Two statements at most, first one that follows if there is one"""
    mixed = rng.sample(said, len(said))
    return sorted(mixed, key=lambda each: each[1] != FOLLOWS)[:2]


def question(labels: list[str], texts: list[str], place: int, statement: str, verdict: str, which: float, rng: random.Random) -> Labelled:
    """About a statement that was made for the text at `place`; which text decides is its evidence."""
    form = "which" if rng.random() < which else "three" if rng.random() < IN_THREE else "statement"
    if form == "which" and verdict in (FOLLOWS, RULED_OUT):
        options = [(label, None) for label in labels]
        if verdict == RULED_OUT or rng.random() < 0.3:
            options.append((rng.choice(NOWHERE), None))
        gold = place if verdict == FOLLOWS else len(labels)
        asked = choice(rng.choice(WHICH).format(s=statement), options, gold, rng, vary=False)
        return replace(asked, evidence=(texts[place],) if verdict == FOLLOWS else ())
    if form == "three" and verdict == FOLLOWS and rng.random() < 0.5:
        form = "statement"  # else three fifths of these would follow
    elsewhere = [other for other in range(len(labels)) if other != place]
    if verdict == FOLLOWS and len(statement.split()) > SHORT and rng.random() < 0.25:
        place, verdict = rng.choice(elsewhere), NOT  # true, but of another text
    return replace(about(statement, verdict, labels[place], form == "three", rng), evidence=(texts[place],))


def about(statement: str, verdict: str, label: str | None, three: bool, rng: random.Random) -> Labelled:
    """Whether the text (of that name) supports the statement: yes/no, or in three where the verdict is known"""
    if three and verdict != NOT:
        names = rng.choice(THREE)
        wording = rng.choice(THREE_ALONE if label is None else THREE_NAMED)
        options = [(names[each], None) for each in (FOLLOWS, RULED_OUT, OPEN)]
        return choice(wording.format(s=statement, label=label), options, (FOLLOWS, RULED_OUT, OPEN).index(verdict), rng, vary=False)
    wording = rng.choice(ALONE if label is None else NAMED)
    return noul(wording.format(s=statement, label=label), verdict == FOLLOWS, "")
