"""What a run reads and what it measures itself by: apart from each other, whole after a file, right where answers are known."""

import gzip
import json
from dataclasses import replace

import pytest
import torch

from umpire_training import dev, pack
from umpire_training.dev import Development, under_foreign_instructions
from umpire_training.evaluate import Answer
from umpire_training.prompts import Question
from umpire_training.tasks import Labelled
from umpire_training.written import documents

FIVE = ["very negative", "negative", "neutral", "positive", "very positive"]


def entry(name, split="train", labels=None, **more):
    return {"task": name, "split": split, "labels": labels, "instructions": ["Which?"], "licence": "MIT", **more}


def word(number: int) -> str:
    """Letters alone: texts are compared by them."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Six rows a development task, of which training must not see the first three."""
    monkeypatch.setattr(dev, "DEV_ROWS", 3)
    monkeypatch.setattr(pack, "DEV_ROWS", 3)
    labels = {"music": None, "weather": None}
    roles = {"type": "choice", "instructions": "Who?", "criteria": {"Ann": None, "Bob": None, "Cy": None}, "gold": "Bob"}
    scope = {"type": "choice", "instructions": "Route it.", "criteria": {"billing": None, "none of these": None}, "gold": "none of these"}
    yes = {"type": "noul", "instructions": "Is it so?", "gold": True}
    rows = [
        ("train", "mnli_dev", None, [yes]), ("train", "boolq", None, [yes]), ("train", "verb_roles", None, [roles, {**roles, "instructions": "Whom?"}]),
        ("train", "bot_scope", None, [scope]), ("train", "spam_mail", None, [yes]), ("train", "more", labels, "music"),
        ("train", "graded_sentiment", FIVE, "negative"), ("heldout", "secret", labels, "weather"),
    ]
    listed = []
    for split, name, own, content in rows:
        listed.append(entry(name, split, own, type="score" if own is FIVE else "choice"))
        (tmp_path / split).mkdir(exist_ok=True)
        with gzip.open(tmp_path / split / f"{name}.jsonl.gz", "wt") as file:
            for number in range(6):
                state = f"{word(number)} {name} text"
                file.write(json.dumps({"state": state, **({"label": content} if own else {"questions": content})}) + "\n")
    (tmp_path / "tasks.json").write_text(json.dumps(listed))
    return tmp_path


@pytest.fixture
def written(tmp_path):
    """Three documents, two of them for measuring."""
    def row(number):
        return {"id": f"w-{number}", "state": f"Parcel {number} came on Monday.", "questions": {
            "day": {"type": "choice", "instructions": ["When?", "day"], "criteria": {"Monday": None, "Friday": None}, "gold": "Monday"},
            "late": {"type": "noul", "instructions": ["Was it late?"], "gold": False},
        }, "edits": [{"from": "Monday", "to": "Friday", "gold": {"day": "Friday"}}],
            "pairs": [{"true": "It came on a Monday.", "false": "It came on a Friday.", "quote": "on Monday"}],
            "lists": [{"options": ["a letter", "a parcel"], "asks": [{"q": "What came?", "gold": "a parcel", "quote": f"Parcel {number}"}]}], "scales": []}

    (tmp_path / "written").mkdir()
    (tmp_path / "written/some.jsonl").write_text("".join(json.dumps(row(number)) + "\n" for number in (10, 11, 20)))
    return tmp_path / "written"


@pytest.fixture
def packed(folder, written):
    return pack.build(folder, [], [written], limit=10, heldout_rows=4, kept_rows=1)


def states(task) -> set[str]:
    return {row["state"] for row in task.rows}


def test_training_and_measuring_share_no_row(packed):
    assert {task.name: len(task.rows) for task in packed.tasks} == {
        "mnli_dev": 3, "boolq": 3, "verb_roles": 3, "bot_scope": 3, "spam_mail": 3, "graded_sentiment": 3, "more": 5}
    assert set(packed.dev) == {"mnli_dev", "boolq", "verb_roles", "bot_scope", "spam_mail", "graded_sentiment"}
    for task in packed.tasks:
        assert not states(task) & states(packed.dev.get(task.name, replace(task, rows=[])))
    assert [each.id for each in packed.written_dev] == ["w-10", "w-20"] and [each.id for each in packed.written] == ["w-11"]
    assert [len(task.rows) for task in packed.heldout] == [4]


def test_a_pack_is_the_same_after_its_file(packed, tmp_path):
    pack.save(packed, tmp_path / "runs/a.pack")
    assert pack.load(tmp_path / "runs/a.pack") == packed


def test_packed_files_are_read(written):
    plain = (written / "some.jsonl").read_bytes()
    (written / "some.jsonl").unlink()
    (written / "some.jsonl.gz").write_bytes(gzip.compress(plain))
    assert [each.id for each in documents([written], dev=True)] == ["w-10", "w-20"]


@torch.inference_mode()
def test_every_figure_is_measured(packed, tiny, text):
    found = Development(packed.heldout, packed.dev, packed.written_dev, 3, 2).figures(tiny, text)
    outside = {name: value for name, value in found.items() if not 0 <= value <= 1}
    # Levels may be several away, nothing in this scope task is inside, and no yes stands beside a no; the pairs are counted.
    assert set(outside) <= {"sentiment levels away", "scope in kept", "entailment ranked", "passages ranked", "plain statements ranked", "written pairs asked"}, outside
    assert found["written pairs asked"] == 2 and found["written choice by chance"] == 0.5 and found["roles by chance"] == pytest.approx(1 / 3, abs=1e-3)
    assert {"entailment", "passages", "levels", "scope", "spam", "sentiment exact", "scope out found", "written noul", "roles swapped", "statements in short", "altered ranked", "altered in short ranked"} <= set(found)


class Knowing(Development):
    """Its model answers by a rule of the test: gold, but for those named as wrong."""

    def __init__(self, packed, wrong):
        super().__init__(packed.heldout, packed.dev, packed.written_dev, 3, 2)
        self.wrong = wrong

    def ask(self, examples):
        return [Answer(q.task, q.question.type, [10.0 * (share > 0.5) * (-1 if self.wrong(e, q) else 1) for share in q.target], q.target,
                       [name for name, _ in q.question.options]) for e in examples for q in e.questions]


def test_a_pair_is_right_where_both_sides_are(packed):
    right = Knowing(packed, lambda example, question: False)
    assert right.written_figures(right.ask)["written pairs"] == 1.0
    half = Knowing(packed, lambda example, question: "Friday" in example.state)
    figures = half.written_figures(half.ask)
    assert figures["written pairs"] == 0.0 and figures["written choice"] == figures["written noul"] == 1.0


def test_statements_are_in_order_where_the_true_one_is_ahead(packed):
    assert set(Knowing(packed, lambda example, question: False).statement_figures(Knowing(packed, lambda example, question: False).ask).values()) == {1.0}
    yes = Knowing(packed, lambda example, question: question.question.instructions == "It came on a Friday.")  # both are called true
    assert yes.statement_figures(yes.ask) == {"statements": 0.5, "statements in order": 0.0, "statements in short": 0.5, "statements in short in order": 0.0}
    bare = Development([], {}, [replace(document, pairs=[]) for document in packed.written_dev], 0, 0)
    assert bare.statement_figures(yes.ask) == {}


def test_scope_counts_found_and_kept_apart(packed):
    known = Knowing(packed, lambda example, question: False)
    options = ["billing", "none of these"]
    inside = Answer("bot_scope", "choice", [0.0, 5.0], [1.0, 0.0], options)
    outside = Answer("bot_scope", "choice", [0.0, 5.0], [0.0, 1.0], options)
    assert known.scope_figures([inside, outside, outside]) == {"scope out found": 1.0, "scope in kept": 0.0}


def test_foreign_instructions_are_another_states():
    import random

    def ask(words):
        return Labelled(Question("choice", words, [("a", None), ("b", None)]), [1.0, 0.0])

    shown = under_foreign_instructions([("one", ask("first?")), ("one", ask("second?")), ("two", ask("third?"))], random.Random(1))
    assert [e.questions[0].question.instructions for e in shown[:2]] == ["third?", "third?"]
    assert shown[2].questions[0].question.instructions in ("first?", "second?") and all(e.questions[0].gold == 0 for e in shown)
    assert under_foreign_instructions([("one", ask("alone?"))], random.Random(1)) == []
