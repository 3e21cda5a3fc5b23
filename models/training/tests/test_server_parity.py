"""The server, the exported fp32 graphs and PyTorch answer random requests alike, from text to probability.

A tiny model with random weights stands in for kev, so that this takes seconds; `umpire_training.parity` compares a real
checkpoint with its graphs, over all of the requests.
"""

import json
import shutil

import pytest

from conftest import ROOT, TOKENIZER, random_model
from umpire_training.export import export
from umpire_training.golden import answer_case
from umpire_training.golden_cases import CASES
from umpire_training.kev_package import FLAT, manifest
from umpire_training.model import Shape
from umpire_training.onnx_model import GRAPHS, OnnxKev
from umpire_training.package import write_json, write_sums
from umpire_training.parity import Gap, answer_by_runs, compare, prepared_from_json, read_fixtures
from umpire_training.prompts import Limits
from umpire_training.runtime import open_session

EVERY = 7  # of the random requests; shares no factor with the 20 turns that their shapes take


@pytest.fixture(scope="module")
def small():
    return random_model(Shape(hidden=36, layers=3, heads=6, inner=64))


@pytest.fixture(scope="module")
def folder(small, text, tmp_path_factory):
    """A whole model folder, as the server wants it."""
    folder = tmp_path_factory.mktemp("kev")
    export(small, folder, "fp32")
    for name in ("tokenizer.json.gz", "tokenizer_config.json"):
        shutil.copy(TOKENIZER.parent / name, folder)
    write_json(folder / "model.json", manifest(small, ["fp32"], FLAT))
    write_json(folder / "golden.json", {"format": 1, "cases": [answer_case(CASES[0], {"fp32": small}, text, FLAT)]})
    write_sums(folder)
    return folder


@pytest.fixture(scope="module")
def graphs(folder, small):
    return OnnxKev({name: open_session(folder / f"{name}.fp32.onnx") for name in GRAPHS}, small.shape)


@pytest.fixture(scope="module")
def fixtures(every_fixture):
    return read_fixtures(every_fixture, None)[::EVERY]


def test_graphs_and_batches_equal_torch(small, graphs, fixtures):
    report = compare(small, graphs, fixtures)
    assert report.requests == len(fixtures) > 60
    assert report.graphs.exact and report.batch.exact, report


def test_the_server_equals_torch(small, folder, fixtures, node, tmp_path):
    """Requests in the limits of kev; the others have no manifest."""
    chosen = [f for f in fixtures if Limits(**f["limits"]) == Limits()]
    requests, answers = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    requests.write_text("".join(json.dumps(fixture) + "\n" for fixture in chosen))
    node("test/models/server-answers.ts", folder, requests, answers)
    gap = Gap()
    for number, (fixture, line) in enumerate(zip(chosen, answers.read_text().splitlines(), strict=True)):
        request, reply = prepared_from_json(fixture["prepared"]), json.loads(line)
        assert reply["input_tokens"] == request.input_tokens
        gap.add(number, answer_by_runs(small, request, Limits()), reply["probabilities"])
    assert len(chosen) > 50 and gap.exact, gap


def test_a_gap_is_not_exact():
    for found in ([[0.5, 0.5]], [[float("nan"), 0.1]]):
        gap = Gap()
        gap.add(0, [[0.9, 0.1]], found)
        assert not gap.exact
    assert not Gap().exact  # nothing compared
