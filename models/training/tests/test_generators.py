"""The generators: same seed, same data; balanced yes/no questions; the right answer among the options; texts that vary."""

from __future__ import annotations

import random

import pytest

from umpire_training import generators

NEW = ["rubrics", "tracking", "rules", "schemas", "reviews", "topics", "question_kinds"]
SAMPLES = 2000  # cheap: nothing is tokenised


@pytest.fixture(scope="module", params=NEW)
def examples(request):
    rng = random.Random(11)
    return [generators.GENERATORS[request.param][0](rng) for _ in range(SAMPLES)]


def questions(examples, kind=None):
    return [labelled for e in examples for labelled in e.questions if kind in (None, labelled.question.type)]


@pytest.mark.parametrize("name", NEW)
def test_same_seed_same_example(name):
    generate = generators.GENERATORS[name][0]
    for seed in range(30):
        assert generate(random.Random(seed)) == generate(random.Random(seed))


def test_nouls_are_balanced(examples):
    nouls = questions(examples, "noul")
    assert len(nouls) > SAMPLES / 3
    assert 0.4 <= sum(labelled.gold for labelled in nouls) / len(nouls) <= 0.6


def test_answers_stand_among_the_options(examples):
    for labelled in questions(examples):
        options = labelled.question.options
        shown = [option if labelled.question.type == "score" else option[0] for option in options]
        assert len(options) == len(labelled.target) >= 2 and len(set(shown)) == len(shown)
        assert sum(labelled.target) == pytest.approx(1) and max(labelled.target) >= 0.5


def test_gold_has_no_fixed_place(examples):
    places = [labelled.gold for labelled in questions(examples, "choice") if len(labelled.question.options) == 3]
    assert all(0.15 < places.count(place) / len(places) < 0.55 for place in range(3))


def test_no_text_is_empty_or_unfinished(examples):
    for example in examples:
        texts = [example.state] + [part for q in example.questions for part in (q.question.instructions, *(d for _, d in q.question.options if d is not None))]
        assert all(text.strip() for text in texts) and example.questions
        assert not any(mark in text for text in texts for mark in ("{}", "|]", "[|", "\0"))


def test_states_vary(examples):
    assert len({example.state for example in examples}) >= 0.95 * SAMPLES


def test_generate_draws_from_all():
    rng = random.Random(4)
    assert {generators.generate(rng).task for _ in range(1500)} == {f"generated_{name}" for name in generators.GENERATORS}
