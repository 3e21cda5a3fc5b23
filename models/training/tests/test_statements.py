"""Statements taken out of tasks of entailment, and asked about one text of several."""

import random

import pytest

from umpire_training.statements import FOLLOWS, NOT, OPEN, RULED_OUT, gathered, plainly, stated, statements_of
from umpire_training.tasks import Task

DOG, CAT, SHIP = "A brown dog sleeps under the kitchen table.", "The cat has not come home since Monday.", "The ship left port two hours late."
TEXTS = [(DOG, [("An animal lies under a table.", FOLLOWS), ("The dog runs in the park.", RULED_OUT)]),
         (CAT, [("The cat is still away from home.", FOLLOWS), ("The cat is in the cellar now.", OPEN)]),
         (SHIP, [("The departure of the ship was delayed.", FOLLOWS), ("It left before its time in the plan.", NOT)])]
VERDICT = {statement: (text, verdict) for text, said in TEXTS for statement, verdict in said}


def choice(instructions, gold, names=("yes", "no", "maybe")):
    return {"type": "choice", "instructions": instructions, "criteria": dict.fromkeys(names), "gold": gold}


def noul(instructions, gold):
    return {"type": "noul", "instructions": instructions, "gold": gold}


@pytest.mark.parametrize(("row", "found"), [
    ({"state": "Premise: It rains.\nHypothesis: It is wet.", "label": "entailment"}, [("It rains.", "It is wet.", FOLLOWS)]),
    ({"state": "Passage: It rains.\nClaim: It is wet.", "questions": [choice("Judge the second by the first.", "maybe")]}, [("It rains.", "It is wet.", OPEN)]),
    ({"state": "It rains.", "questions": [choice("What can be said of this: It is dry.", "no")]}, [("It rains.", "It is dry.", RULED_OUT)]),
    ({"state": "It rains.", "questions": [choice('Status of the statement "It is dry."', "no")]}, [("It rains.", "It is dry.", RULED_OUT)]),
    ({"state": "It rains.", "questions": [noul("It follows from the text that: It is wet.", False)]}, [("It rains.", "It is wet.", NOT)]),
    ({"state": "It rains.", "questions": [noul("It is wet.", True)]}, [("It rains.", "It is wet.", FOLLOWS)]),
    ({"state": "It rains.", "questions": [noul("The text contradicts this: It is dry.", True)]}, [("It rains.", "It is dry.", RULED_OUT)]),
    ({"state": "It rains.", "questions": [noul("The text contradicts this: It is dry.", False)]}, []),  # it follows, or is open
    ({"state": "It rains.", "questions": [noul("not stated: He is in.", True)]}, [("It rains.", "He is in.", OPEN)]),
    ({"state": "It rains.", "questions": [choice("How does the second text relate to the first?", "yes")]}, []),
])
def test_a_row_is_taken_apart(row, found):
    assert stated(row) == found


def test_statements_about_one_text_come_together():
    rows = [{"state": DOG, "questions": [noul("Fits the text: It sleeps.", True)]}, {"state": DOG, "questions": [noul("It barks.", False)]}]
    texts, backed = statements_of([Task("mnli_dev", "mixed", None, [], rows), Task("spam_mail", "mixed", None, [], [{"state": CAT, "questions": []}])])
    assert texts == backed == [(DOG, [("It sleeps.", FOLLOWS), ("It barks.", NOT)])]


def test_plainly_a_text_is_asked_its_statements_as_they_are():
    example = plainly(*TEXTS[1], random.Random(1))
    assert example.state == CAT and {(each.question.instructions, each.gold) for each in example.questions} == {("The cat is still away from home.", 1), ("The cat is in the cellar now.", 0)}


def asked(seed):
    """-> (state, type, instructions, statement, names, gold) of many questions"""
    rng = random.Random(seed)
    for example in (gathered(TEXTS, TEXTS, 0.3, rng) for _ in range(400)):
        for labelled in example.questions:
            shown = labelled.question
            [statement] = [each for each in VERDICT if each in shown.instructions]
            names = [name for name, _ in shown.options]
            yield example.state, shown.type, shown.instructions, statement, names, names[labelled.gold]


def test_what_is_true_is_said_by_the_text_that_the_question_names():
    kinds = set()
    for state, kind, instructions, statement, names, gold in asked(3):
        text, verdict = VERDICT[statement]
        assert any(each in state for each, _ in TEXTS)
        own = state == text or any(name in instructions for name in labels_before(state, text))
        if kind == "noul":
            assert (gold == "true") == (own and verdict == FOLLOWS), (state, instructions)
        elif any(name in names for name in labels_before(state, text)):
            kinds.add("which")
            assert gold in labels_before(state, text) if verdict == FOLLOWS else gold not in state
        else:
            kinds.add("three")
            assert verdict != NOT and own and len(names) == 3
    assert kinds == {"which", "three"}


def labels_before(state, text):
    """The name that the state gives to a text, however it is written"""
    before = state[: state.index(text)].rstrip() if text in state else ""
    last = before.splitlines()[-1:] or [""]
    name = last[0].strip().removeprefix("- ").removesuffix(" -").rstrip(":").strip("[]")
    return [name] if name else []


def test_neither_answer_is_rare_and_the_same_seed_draws_the_same():
    found = list(asked(5))
    yes = [gold == "true" for _, kind, *_, gold in found if kind == "noul"]
    assert 0.3 < sum(yes) / len(yes) < 0.6
    assert found == list(asked(5)) != list(asked(6))
