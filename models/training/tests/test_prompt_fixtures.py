"""The server's prompts (test/models/prompt-fixtures.ts) and ours are the same, id for id."""

import gzip
import hashlib
import json
from dataclasses import asdict

import pytest

from conftest import ROOT
from umpire_training.parity import prepared_from_json, read_fixtures
from umpire_training.prompts import Limits, prepare, question_from_json

FIXTURES = json.loads(gzip.decompress((ROOT / "test/models/fixtures/prompts.json.gz").read_bytes()))
SUMS = json.loads(gzip.decompress((ROOT / "test/models/fixtures/prompt-sums.json.gz").read_bytes()))


def ours(fixture: dict, text) -> dict:
    questions = [question_from_json(raw) for raw in fixture["questions"]]
    return asdict(prepare(fixture["state"], questions, text, Limits(**fixture["limits"])))


@pytest.mark.parametrize("fixture", FIXTURES, ids=range(len(FIXTURES)))
def test_prompts_equal_those_of_the_server(fixture, text):
    assert ours(fixture, text) == fixture["prepared"]


@pytest.fixture(scope="module")
def fixtures(every_fixture) -> list[dict]:
    return read_fixtures(every_fixture, None)


def test_every_random_prompt_equals_that_of_the_server(fixtures, text):
    assert len(fixtures) == SUMS["count"] >= 400
    for fixture, committed in zip(fixtures, SUMS["sums"], strict=True):
        prepared = ours(fixture, text)
        assert prepared == fixture["prepared"]
        assert hashlib.sha256(json.dumps(prepared, separators=(",", ":")).encode()).hexdigest() == committed


def test_random_requests_take_every_path(fixtures):
    """What the fixtures claim to cover, they cover."""
    prepared = [fixture["prepared"] for fixture in fixtures]
    questions = [question for request in prepared for question in request["questions"]]
    state_tokens = [sum(map(len, request["windows"])) for request in prepared]
    assert min(state_tokens) == 2 and max(state_tokens) > 5000
    assert sum(len(request["windows"]) > 4 for request in prepared) > 20
    assert max(len(request["questions"]) for request in prepared) > 20
    assert {question["type"] for question in questions} == {"choice", "noul", "score"}
    sizes = [len(question["order"]) for question in questions]
    assert min(sizes) == 1 and sum(size >= 150 for size in sizes) > 10
    assert sum(len(question["windows"]) > 0 for question in questions) > 20  # instructions longer than a window
    assert sum(len(question["chunks"]) > 1 for question in questions) > 50
    assert any(len(c["options"]) > len(set(c["options"])) for q in questions for c in q["chunks"])  # options in pieces
    texts = json.dumps([[fixture["state"], fixture["questions"]] for fixture in fixtures])
    for part in ("[SEP]", "\\ud83d\\ude00", "\\u6771", "\\u0000", "\\ud800", "\\u0301"):
        assert part in texts


def test_prepared_requests_survive_json():
    assert all(asdict(prepared_from_json(fixture["prepared"])) == fixture["prepared"] for fixture in FIXTURES)
