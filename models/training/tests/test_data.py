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
from umpire_training.mix import Mix, example_batches
from umpire_training.prompts import Limits, prepare
from umpire_training.train import Progress, loss_of, schedule, targets

LABELS = {f"intent_{i}": f"wants thing number {i}" for i in range(40)}
CONFIG = {"task_weights": {}, "generated_share": 0.3, "long_share": 0.05, "max_characters": 500, "batch_tokens": 1500, "pool_examples": 24}


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


def test_batches_and_targets(folder, text):
    mix = Mix(tasks.training_tasks(folder), CONFIG, 1)
    stream = example_batches(mix, text, Limits(branch_tokens=64))
    for _ in range(4):
        examples, requests = next(stream)
        batch = collate(requests)
        target = targets(examples, batch)
        assert torch.allclose(target.sum(-1), torch.ones(len(target)), atol=1e-5)
        assert (target[~batch.option_mask] == 0).all()


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
    config = {"warmup": 0.1, "final_lr": 0.02}
    assert schedule(0.1, config) == pytest.approx(1) and schedule(1.0, config) == pytest.approx(0.02)
    assert schedule(0.05, config) == pytest.approx(0.5)
    assert Progress(100, None)(50) == 0.5
    assert Progress(100, "2001-01-01T00:00")(0) >= 1


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
