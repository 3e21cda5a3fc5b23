"""The exported graphs answer as the PyTorch model does, are built of the operators they should be, and share their weights."""

import collections
import hashlib
import json
import random
from pathlib import Path

import numpy as np
import onnx
import pytest

from umpire_training.export import BUILDERS, export
from umpire_training.folder_file import content_names, read_folder_file, unpacked
from umpire_training.golden_cases import CASES
from umpire_training.graph import ALIGNMENT, PRECISIONS
from umpire_training.onnx_model import GRAPHS, OnnxKev
from umpire_training.prompts import Limits, Question, prepare, question_from_json
from umpire_training.reference import forward_request
from umpire_training.runtime import open_session

WORDS = "the red invoice of 2019 was paid [SEP] late überall 東京 unbelievably, internationalization! 😀 a-b_c".split()
MODELS = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    for precision in PRECISIONS:
        export(model, folder, precision)
    return folder


def sentence(random_source: random.Random, most: int) -> str:
    return " ".join(random_source.choices(WORDS, k=random_source.randint(0, most)))


def random_question(r: random.Random) -> Question:
    kind = r.choice(["choice", "noul", "score"])
    if kind == "noul":
        return Question(kind, sentence(r, 12), [(name, sentence(r, 6) or None) for name in ("false", "true")])
    if kind == "score":
        return Question(kind, sentence(r, 12), [("", f"{i} {sentence(r, 5)}") for i in range(r.randint(2, 10))])
    count = r.choice([1, 2, 3, 8, 60])
    described = r.random() < 0.5
    options = [(f"{sentence(r, 2)} {i}", sentence(r, 20) if described else None) for i in range(count)]
    return Question(kind, sentence(r, r.choice([12, 400])), options)


def difference(model, other, text, state, questions) -> float:
    """Largest |Δp| over the answers to all questions."""
    wanted, _ = forward_request(model, text, state, questions)
    found, _ = forward_request(other, text, state, questions)
    return max(abs(p - q) for a, b in zip(wanted, found) for p, q in zip(a, b))


@pytest.mark.parametrize("seed", range(8))
def test_fp32_graphs_equal_torch(model, folder, text, seed):
    r = random.Random(seed)
    graphs = OnnxKev.open(folder, "fp32")
    questions = [random_question(r) for _ in range(3)]
    assert difference(model, graphs, text, sentence(r, r.choice([5, 60, 600])), questions) <= 1e-4


@pytest.mark.parametrize(("precision", "most"), [("fp32", 1e-4), ("fp16", 0.01), ("int8", 0.1)])
def test_golden_requests_in_every_precision(model, folder, text, precision, most):
    graphs = OnnxKev.open(folder, precision)
    for case in CASES:
        questions = [question_from_json(raw) for raw in case["questions"]]
        assert difference(model, graphs, text, case["state"], questions) <= most


def test_golden_requests_take_every_path(text):
    prepared = [prepare(c["state"], [question_from_json(q) for q in c["questions"]], text, Limits()) for c in CASES]
    questions = [question for request in prepared for question in request.questions]
    assert max(len(request.windows) for request in prepared) > 2
    assert max(len(question.chunks) for question in questions) > 1
    assert max(len(question.windows) for question in questions) > 0
    assert any(len(chunk.options) > len(set(chunk.options)) for question in questions for chunk in question.chunks)
    assert min(len(question.order) for question in questions) == 1


def test_order_of_options_changes_nothing(folder, text):
    graphs = OnnxKev.open(folder, "int8")
    options = [(f"option {i}", None) for i in range(40)]
    shuffled = random.Random(3).sample(options, len(options))
    answers = [dict(zip(given, forward_request(graphs, text, "a state", [Question("choice", "which", given)])[0][0]))
               for given in (options, shuffled)]  # fmt: skip
    assert answers[0] == answers[1]


def test_a_question_is_answered_alike_alone_and_among_others(folder, text):
    graphs = OnnxKev.open(folder, "int8")
    r = random.Random(5)
    questions = [random_question(r) for _ in range(3)]
    together, _ = forward_request(graphs, text, "some state", questions)
    assert together == [forward_request(graphs, text, "some state", [question])[0][0] for question in questions]


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_one_run_gives_the_bits_of_three(folder, precision):
    graphs = OnnxKev.open(folder, precision)
    decide = open_session(folder / f"decide.{precision}.onnx")
    r = np.random.default_rng(11)
    for state_tokens, instructions, options in ((2, 3, 1), (40, 9, 4), (256, 30, 12)):
        branch = np.concatenate([np.zeros(instructions, np.int64), np.repeat(np.arange(1, options + 1), 3)])[None]
        positions = np.concatenate([np.arange(instructions), np.tile(instructions + np.arange(3), options)])[None]
        state_ids, token_ids = (r.integers(1000, 20000, (1, size)) for size in (state_tokens, branch.size))
        chunk = {"token_ids": token_ids, "positions": positions, "branch": branch, "pieces": np.arange(1, options + 1)}
        kind = {"question_type": np.array([2]), "levels": np.arange(1, options + 1)[None]}
        names = [output.name for output in decide.get_outputs()]
        found = dict(zip(names, decide.run(None, {"state_ids": state_ids} | chunk | kind)))
        window = {"token_ids": state_ids, "segment": np.array([0]), "window_index": np.array([0])}
        cache = dict(zip(graphs.cache_names, graphs.sessions["encode"].run(None, window)))
        vectors = graphs.sessions["answer"].run(None, chunk | cache)[0]
        wanted = cache | {"logits": graphs.sessions["head"].run(None, {"option_vectors": vectors[None]} | kind)[0]}
        assert found.keys() == wanted.keys() | {"view"}  # what learned heads read
        assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_int8_runs_fused_operators(folder, tmp_path):
    counts = {}
    for name in BUILDERS:
        open_session(folder / f"{name}.int8.onnx", optimized=tmp_path / f"{name}.onnx")
        nodes = onnx.load(tmp_path / f"{name}.onnx", load_external_data=False).graph.node
        counts[name] = collections.Counter(node.op_type for node in nodes)
        print(name, dict(counts[name]))
    assert counts["encode"]["DynamicQuantizeMatMul"] == 6 * 6 + 2
    assert counts["answer"]["DynamicQuantizeMatMul"] == 6 * 6
    assert counts["decide"]["DynamicQuantizeMatMul"] == 12 * 6 + 2
    assert counts["encode"]["MultiHeadAttention"] == 6 and counts["answer"]["MultiHeadAttention"] == 1
    for name in BUILDERS:
        assert not counts[name].keys() & {"MatMulInteger", "DynamicQuantizeLinear", "SkipLayerNormalization"}


@pytest.mark.parametrize("precision", PRECISIONS)
def test_graphs_share_one_weights_file(folder, precision):
    places = collections.defaultdict(set)
    for name in BUILDERS:
        graph = onnx.load(folder / f"{name}.{precision}.onnx", load_external_data=False).graph
        for tensor in graph.initializer:
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                data = {entry.key: entry.value for entry in tensor.external_data}
                assert data["location"] == f"weights.{precision}.bin" and int(data["offset"]) % ALIGNMENT == 0
                places[tensor.name].add((int(data["offset"]), int(data["length"])))
    assert all(len(found) == 1 for found in places.values())
    end = max(offset + length for found in places.values() for offset, length in found)
    assert end == (folder / f"weights.{precision}.bin").stat().st_size


@pytest.mark.parametrize("precision", PRECISIONS)
def test_graph_inputs_and_outputs_are_float32_and_int64(folder, precision):
    for name in BUILDERS:
        graph = onnx.load(folder / f"{name}.{precision}.onnx", load_external_data=False).graph
        kinds = {value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)}
        assert kinds <= {onnx.TensorProto.FLOAT, onnx.TensorProto.INT64}


# ---- the folders as they are shipped ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kev", "text-embed-mini"])
def test_shipped_files_match_their_checksums(name):
    folder = shipped(name)
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    sums = dict(reversed(line.split("  ")) for line in lines)
    assert list(sums) == sorted(sums)
    assert list(sums) == content_names(folder)
    for file, digest in sums.items():
        content = read_folder_file(folder / file)
        assert hashlib.sha256(content).hexdigest() == digest
        assert len(content) < 50e6


def test_shipped_kev_gives_its_golden_answers():
    from umpire_training.prompts import Text

    folder = shipped("kev")
    temperatures = json.loads((folder / "model.json").read_text())["temperatures"]
    graphs, text = OnnxKev.open(folder, "int8"), Text(folder / "tokenizer.json")
    for case in json.loads(read_folder_file(folder / "golden.json"))["cases"]:
        questions = [question_from_json(raw) for raw in case["questions"]]
        answers, tokens = forward_request(graphs, text, case["state"], questions, temperatures=temperatures)
        assert tokens == case["input_tokens"]
        for found, wanted in zip(answers, case["probabilities"]["int8"]):
            assert np.abs(np.array(found) - wanted).max() < 0.05  # another CPU may round elsewhere


def test_shipped_embeddings_match_the_reference():
    from umpire_training.embed_mini import embed
    from umpire_training.prompts import Text

    folder = shipped("text-embed-mini")
    text = Text(folder / "tokenizer.json")
    cases = json.loads(read_folder_file(folder / "golden.json"))["cases"]
    vectors = embed(unpacked(folder / "embed.int8.onnx"), [text.ids(case["input"]) for case in cases])
    for case, vector in zip(cases, vectors):
        assert len(text.ids(case["input"])) == case["input_tokens"]
        assert vector @ np.array(case["embeddings"]["fp32"]) >= 0.99
        assert vector @ np.array(case["embeddings"]["int8"]) >= 0.99


def shipped(name: str) -> Path:
    folder = MODELS / name
    if not (folder / "SHA256SUMS").exists():
        pytest.skip(f"models/{name} is not packaged")
    return folder
