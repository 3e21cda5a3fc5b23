"""Of a sentence and its alteration one is true, and which one only the text says."""

import random

import pytest

from umpire_training.altered import TASK, Altered, gap_in, negated, opposite, other_filler, pair_of, places_changed, pool_of, right_one, sentences_of, told
from umpire_training.evidence import places_of
from umpire_training.prompts import Limits
from umpire_training.tasks import Task
from umpire_training.written import Document

LETTER = """Dear Ms Osei,
the committee met on Tuesday and Jonas Falk asked for 400 more chairs. Later that evening Petra Lind said no to 250 of them.
The hall is open before the concert, and the caretaker will lock it after eleven. On Friday the committee was told that Petra Lind never agreed."""


@pytest.mark.parametrize(("alter", "sentence", "found"), [
    (negated, "The hall is open today.", {"The hall is not open today.", "The hall is never open today."}),
    (negated, "Petra never agreed to it.", {"Petra agreed to it."}),
    (negated, "They can't come, nor can we.", {"They can come, nor can we."}),
    (negated, "Two chairs in a row.", {None}),
    (opposite, "He came before the concert.", {"He came after the concert."}),
    (opposite, "The fold of the paper.", {None}),  # no "old" inside of a word
    (places_changed, "Then Jonas Falk paid what Petra Lind asked.", {"Then Petra Lind paid what Jonas Falk asked."}),
    (places_changed, "He paid 400 for 250.", {"He paid 250 for 400."}),
    (places_changed, "He paid 400.", {None}),
    (other_filler, "nothing to change", {None}),
])
def test_one_thing_is_changed(alter, sentence, found):
    assert {alter(sentence, {}, random.Random(seed)) for seed in range(40)} == found


def test_what_a_filler_gives_way_to_is_mostly_another_of_the_text():
    pool = pool_of(LETTER)
    assert set(pool) >= {"name", "number", "date"} and {"Jonas Falk", "Petra Lind"} <= set(pool["name"])
    others = [other_filler("The committee met on Tuesday.", pool, random.Random(seed)) for seed in range(100)]
    assert 70 < others.count("The committee met on Friday.") < 100
    assert "The committee met on Tuesday." not in others


def test_both_sides_of_a_pair_are_told_alike_and_differ():
    pool, pairs = pool_of(LETTER), 0
    for seed in range(200):
        for sentence in sentences_of(LETTER):
            if pair := pair_of(sentence, pool, random.Random(seed)):
                pairs += 1
                (yes, no) = pair
                assert (yes.gold, no.gold) == (1, 0) and yes.evidence == no.evidence == (sentence,)
                own, other = yes.question.instructions.split(), no.question.instructions.split()
                assert own != other and abs(len(own) - len(other)) <= 3
    assert pairs > 300


def test_plain_statements_are_a_sentence_of_the_text_and_another():
    for seed in range(50):
        example = Altered([], [Document("d1", LETTER, {}, [])], 0.0, random.Random(seed)).example(plain=True)
        for labelled in example.questions:
            assert labelled.question.type == "noul" and (labelled.question.instructions in LETTER) == (labelled.gold == 1)


def test_the_right_option_is_what_the_text_says():
    pool = pool_of(LETTER)
    for seed in range(200):
        rng = random.Random(seed)
        sentence = "Later that evening Petra Lind said no to 250 of them."
        [gap] = gap_in(sentence, pool, rng)
        names = [name for name, _ in gap.question.options]
        assert names[gap.gold] in sentence and len(set(names)) == len(names) > 1
        assert not any(name in sentence for i, name in enumerate(names) if i != gap.gold)
        [which] = right_one(sentence, pool, rng)
        options = [name for name, _ in which.question.options]
        assert len(set(options)) == len(options) > 1
        same = [told(sentence, random.Random(each)) for each in range(300)]
        assert options[which.gold] in same or options[which.gold].lower().rstrip(".") in {each.lower().rstrip(".") for each in same}


def test_texts_come_from_tasks_and_documents_and_their_evidence_is_found(text):
    tasks = [Task("boolq", "mixed", None, [], [{"state": LETTER, "questions": []}]), Task("not_prose", "mixed", None, [], [{"state": "x", "questions": []}])]
    document = Document("d1", LETTER.replace("chairs", "tables"), {}, [])
    drawn = Altered(tasks, [document], 0.5, random.Random(4))
    states, short, marked = set(), 0, 0
    for _ in range(150):
        example = drawn.example(plain=False)
        assert example.task == TASK and example.questions
        short += len(example.state) < len(LETTER) - 20
        states.add("tables" in example.state)
        places = places_of(example.state, [each.evidence for each in example.questions], text, Limits())
        assert all(each.evidence[0] in example.state for each in example.questions)
        marked += any(places)
    assert states == {True, False} and 40 < short < 110 and marked > 60


def test_a_text_without_anything_to_change_is_left_out():
    assert Altered([], [Document("d1", "hm", {}, [])], 0.5, random.Random(4)).example(plain=False) is None
