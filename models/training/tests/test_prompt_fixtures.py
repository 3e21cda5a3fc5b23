"""The server's prompts (test/models/prompt-fixtures.ts) and ours are the same, id for id."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from umpire_training.prompts import Limits, Text, prepare, question_from_json

ROOT = Path(__file__).parents[3]
FIXTURES = json.loads((ROOT / "test/models/fixtures/prompts.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def text() -> Text:
    return Text(ROOT / "models/text-embed-mini/tokenizer.json")


@pytest.mark.parametrize("fixture", FIXTURES, ids=range(len(FIXTURES)))
def test_prompts_equal_those_of_the_server(fixture: dict, text: Text) -> None:
    questions = [question_from_json(raw) for raw in fixture["questions"]]
    assert asdict(prepare(fixture["state"], questions, text, Limits(**fixture["limits"]))) == fixture["prepared"]
