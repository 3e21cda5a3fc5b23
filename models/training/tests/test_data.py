"""Data: no held-out task is ever opened for training, augmentation keeps the answer, figures are right."""

import gzip
import json
import random

import pytest
import torch

from umpire_training import generators, tasks
from umpire_training.augment import choice_from_labels, label_questions, restyle_all, words_of
from umpire_training.batch import collate
from umpire_training.calibrate import fit
from umpire_training.evaluate import Answer, answered_at, calibration_error, macro_f1
from umpire_training.licences import may_be_trained_on
from umpire_training.mix import Mix, asked_together, example_batches
from umpire_training.prompts import Limits, prepare
from umpire_training.rewording import CARRIED, FIVE_OF_SENTIMENT, TURNED, fewer, noul_criteria, threshold, vary_levels, without_gold
from umpire_training.train import Progress, loss_of, schedule, targets
from umpire_training.written import Document, Edit, documents

LABELS = {f"intent_{i}": f"wants thing number {i}" for i in range(40)}
CONFIG = {"groups": {"all": {"share": 1, "tasks": {"seen": 1.0}}}, "written_share": 0.2, "alone_share": 0.3, "pairs_share": 0.3, "turned_share": 0.5, "snippet_share": 0.2, "generated_share": 0.3, "long_share": 0.05, "topic_share": 0.0, "gathered_share": 0.0, "altered_share": 0.1, "altered_short": 0.5, "plain_share": 0.3,
          "criteria_share": 0.4, "max_characters": 500, "batch_tokens": 1500, "pool_examples": 24}


@pytest.fixture
def folder(tmp_path):
    def entry(name, split, licence="MIT"):
        return {"task": name, "split": split, "type": "choice", "format": "labels", "labels": LABELS,
                "instructions": ["What is wanted?"], "rows": 30, "licence": licence}

    (tmp_path / "train").mkdir()
    listed = [entry("seen", "train"), entry("unclear", "train", "not stated; Twitter terms"), entry("secret", "heldout")]
    (tmp_path / "tasks.json").write_text(json.dumps(listed))
    for name in ("seen", "unclear"):
        with gzip.open(tmp_path / "train" / f"{name}.jsonl.gz", "wt") as file:
            for i in range(30):
                file.write(json.dumps({"state": f"give me thing {i}", "label": f"intent_{i}"}) + "\n")
    return tmp_path


def test_training_never_opens_heldout(folder, monkeypatch):
    """The folder has no heldout/ at all, and whatever is opened is written down."""
    opened = []
    real = gzip.open
    monkeypatch.setattr(tasks.gzip, "open", lambda path, *rest, **more: opened.append(str(path)) or real(path, *rest, **more))
    found = tasks.training_tasks(folder)
    assert [task.name for task in found] == ["seen"]
    assert opened and all("/train/" in path for path in opened)
    assert all(entry["task"] != "secret" for entry in tasks.entries(folder, "train"))


def test_rows_for_calibration_are_not_trained_on(folder):
    trained = {row["state"] for task in tasks.training_tasks(folder, None, skip=10) for row in task.rows}
    kept = {row["state"] for task in tasks.training_tasks(folder, 10) for row in task.rows}
    assert len(kept) == 10 and not trained & kept


def test_augmented_choice_keeps_one_answer(folder):
    [task] = tasks.training_tasks(folder)
    rng = random.Random(3)
    for row in task.rows * 5:
        labelled = choice_from_labels(task, row, rng)
        assert sum(labelled.target) == pytest.approx(1) and len(labelled.target) == len(labelled.question.options) >= 2
        name, description = labelled.question.options[labelled.gold]
        wanted = row["label"].split("_")[1]
        assert wanted in words_of(name) or (description or name).endswith(f"number {wanted}") or wanted in name


def test_same_seed_same_questions(folder):
    [task] = tasks.training_tasks(folder)
    assert label_questions(task, task.rows[0], random.Random(5)) == label_questions(task, task.rows[0], random.Random(5))


def test_names_stay_apart():
    assert words_of("BookRestaurant") == ["Book", "Restaurant"] and words_of("alarm_set-now") == ["alarm", "set", "now"]
    assert restyle_all(["a_b", "a b"], random.Random(1)) == ["a_b", "a b"]


@pytest.mark.parametrize("name", list(generators.GENERATORS))
def test_generators(name):
    rng = random.Random(2)
    for _ in range(200):
        example = generators.GENERATORS[name][0](rng)
        assert example.state and example.questions
        for labelled in example.questions:
            assert sum(labelled.target) == pytest.approx(1) and len(labelled.target) == len(labelled.question.options) >= 2
            names = [option if labelled.question.type == "score" else option[0] for option in labelled.question.options]
            assert len(set(names)) == len(names)


DOCUMENT = Document("a-1", "The parcel came on Monday.", {
    "day": {"type": "choice", "instructions": ["When?", "day"], "criteria": {"Monday": None, "Friday": None}, "gold": "Monday"},
    "late": {"type": "noul", "instructions": ["Was it late?"], "gold": False},
}, [Edit("Monday", "Friday", {"day": "Friday"})])


def test_batches_and_targets(folder, text):
    mix = Mix(tasks.training_tasks(folder), CONFIG, 1, [DOCUMENT])
    stream = example_batches(mix, text, Limits(branch_tokens=64))
    for _ in range(4):
        examples, requests = next(stream)
        batch = collate(requests)
        target = targets(examples, batch)
        assert torch.allclose(target.sum(-1), torch.ones(len(target)), atol=1e-5)
        assert (target[~batch.option_mask] == 0).all()


def test_both_sides_of_a_pair_are_asked_alike_and_answered_apart(folder):
    mix, pairs = Mix(tasks.training_tasks(folder), CONFIG, 4, [DOCUMENT]), 0
    for _ in range(30):
        unit = mix.pair()
        if len(unit) == 2:
            pairs += 1
            first, second = ({q.question.instructions: q for q in example.questions} for example in unit)
            assert first.keys() == second.keys() and unit[0].state != unit[1].state
            [asked] = [q for text, q in first.items() if text in ("When?", "day")]
            assert asked.question.options[asked.gold][0] == "Monday"
            other = second[asked.question.instructions]
            assert other.question.options[other.gold][0] == "Friday"
    assert pairs > 15


def test_what_is_asked_about_one_state_is_asked_together():
    def row(state, *instructions):
        return {"state": state, "questions": [{"type": "noul", "instructions": text, "gold": text != "no"} for text in instructions]}

    task = tasks.Task("t", "noul", None, [], [row("a", "one"), row("b", "two", "no"), row("a", "three", "one")])
    together = asked_together(task).rows
    assert [(r["state"], [q["instructions"] for q in r["questions"]]) for r in together] == [("a", ["one", "three"]), ("b", ["two", "no"])]
    assert len(task.rows) == 3
    labelled = tasks.Task("t", "choice", {"x": None}, ["?"], [{"state": "a", "label": "x"}] * 2)
    assert asked_together(labelled) is labelled


def test_a_tenth_of_the_documents_is_never_trained_on(tmp_path):
    file = tmp_path / "some.jsonl"
    file.write_text("".join(json.dumps({"id": f"d-{i:03}", "state": f"text {i}", "questions": {}}) + "\n" for i in range(25)))
    dev, train = ({each.id for each in documents([tmp_path], dev=kept)} for kept in (True, False))
    assert dev == {"d-000", "d-010", "d-020"} and len(train) == 22 and not dev & train


@pytest.mark.parametrize("licence, allowed", [("MIT", True), ("not stated", False), ("CC BY 3.0; Twitter terms", False), ("AGPL-3.0", False)])
def test_licences(licence, allowed):
    assert may_be_trained_on("some_task", licence) is allowed
    assert may_be_trained_on("cosmos", "not stated in the repository") and not may_be_trained_on("fact_checks", "CC0")


# --- rewording: the answer stays with its meaning -----------------------------------------------------------------

LEVELS = tasks.Labelled(tasks.Question("score", "sentiment", [("", level) for level in FIVE_OF_SENTIMENT[0]]), [0.0, 1.0, 0.0, 0.0, 0.0])


def test_levels_in_other_words_keep_their_place():
    rng, seen = random.Random(1), set()
    for _ in range(400):
        varied = vary_levels(LEVELS, rng)
        assert sum(varied.target) == pytest.approx(1) and len(varied.target) == len(varied.question.options) >= 2
        seen.add((varied.question.type, len(varied.target), varied.gold))
    assert {kind for kind, *_ in seen} == {"score", "choice", "noul"} and len(seen) > 10


def test_a_run_of_levels_holds_the_gold_one():
    rng = random.Random(2)
    for gold in range(5):
        for _ in range(60):
            levels, target = fewer([f"level {i}" for i in range(5)], [float(i == gold) for i in range(5)], rng)
            [place] = [i for i, share in enumerate(target) if share]
            assert f"level {gold}" in levels[place].split(" or ") and 2 <= len(levels) <= 5


def test_a_threshold_is_met_from_its_level_on():
    rng, answers = random.Random(3), set()
    names = ["frozen", "cold", "warm", "hot"]
    for _ in range(80):
        asked = threshold("How warm?", names, [0.0, 0.0, 1.0, 0.0], "", rng)
        plain = asked.question.instructions.replace(", ".join(names), "")
        [least] = [i for i, name in enumerate(names) if name in plain.split("How warm?")[0] + plain.split("How warm?")[1]]
        assert asked.gold == (least <= 2)
        answers.add(least)
    assert answers == {1, 2, 3}


@pytest.mark.parametrize("truth", [True, False])
def test_criteria_turn_the_answer_with_them(truth):
    """Where the words of `true` mean no, false is right for what is so."""
    rng, kinds = random.Random(5), set()
    asked = tasks.Labelled(tasks.Question("noul", "It rains.", [("false", None), ("true", None)]), [1.0 - truth, float(truth)])
    for _ in range(300):
        found = noul_criteria(asked, rng, share=1.0)
        no, yes = (text for _, text in found.question.options)
        turned = (no, yes) in TURNED or any((no, yes) == (b.format("It rains."), a.format("It rains.")) for a, b in CARRIED)
        assert (found.gold == 1) == (truth != turned)
        kinds.add(turned)
    assert kinds == {True, False}


def test_none_takes_the_place_of_the_right_option():
    plain = tasks.Labelled(tasks.Question("choice", "?", [("a", None), ("b", None), ("c", None)]), [0.0, 1.0, 0.0])
    found = without_gold(plain, ("none", None), random.Random(1))
    names = [name for name, _ in found.question.options]
    assert sorted(names) == ["a", "c", "none"] and names[found.gold] == "none" and sum(found.target) == 1


def test_targets_follow_the_sorted_order(text):
    question = tasks.Labelled(tasks.Question("choice", "?", [("zebra", None), ("ant", None)]), [1.0, 0.0])
    batch = collate([prepare("x", [question.question], text)])
    assert targets([tasks.Example("x", [question])], batch).tolist() == [[0.0, 1.0]]


def test_ranked_loss_prefers_near_levels(text):
    levels = tasks.Question("score", "?", [("", name) for name in "abc"])
    batch = collate([prepare("x", [levels], text)])
    target = torch.tensor([[1.0, 0.0, 0.0]])
    near, far = (loss_of(torch.tensor([row]), target, batch, 1.0)[0] for row in ([0.0, 2.0, 0.0], [0.0, 0.0, 2.0]))
    assert near < far


def test_schedule():
    config = {"warmup": 0.1, "decay_from": 0.8, "final_lr": 0.02}
    assert schedule(0.1, config) == schedule(0.5, config) == schedule(0.8, config) == pytest.approx(1)
    assert schedule(0.05, config) == pytest.approx(0.5) and schedule(1.0, config) == pytest.approx(0.02)
    assert 0.02 < schedule(0.95, config) < schedule(0.85, config) < 1
    assert Progress(100, None)(50) == 0.5
    assert Progress(100, "2001-01-01T00:00")(0) >= 1
    assert Progress(100, None, start=0.8, first=0.8)(50) == pytest.approx(0.9)


def test_figures():
    assert macro_f1([("a", "a"), ("a", "b")]) == pytest.approx((2 / 3 + 0) / 2)
    assert calibration_error([0.9, 0.9], [True, False]) == pytest.approx(0.4)
    assert answered_at([0.9, 0.8, 0.7], [True, True, False], 0.05) == pytest.approx(2 / 3)


def test_temperature_found():
    """Logits that are three times too sure: the temperature says so."""
    rng = torch.Generator().manual_seed(1)
    answers = []
    for i in range(600):
        logits = torch.randn(4, generator=rng)
        gold = int(torch.multinomial(torch.softmax(logits, -1), 1, generator=rng))
        answers.append(Answer(f"task{i % 3}", "choice", (3 * logits).tolist(), [float(k == gold) for k in range(4)], list("abcd")))
    assert fit(answers, {"task0"})["choice"]["3-5"] == pytest.approx(3, rel=0.25)
