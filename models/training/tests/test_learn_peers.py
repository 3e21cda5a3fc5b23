"""The script beside the learning bench: frozen rows as the bench writes them, figures as the server's, regression on known rows."""

import hashlib
import json
import struct

import numpy as np
import pytest

from umpire_training import learn_peers


def write_rows(path, states, vectors, zero_shot, targets):
    """As src/learning/rows-file.ts writes them."""
    question = {"type": "choice", "asked": "0" * 64, "options": ["1" * 64, "2" * 64], "states": states}
    header = json.dumps({"dimensions": vectors.shape[1], "questions": [question]}).encode()
    numbers = b"".join(
        v.astype("<f4").tobytes() + z.astype("<f8").tobytes() + t.astype("<f8").tobytes()
        for v, z, t in zip(vectors, zero_shot, targets, strict=True)
    )
    body = b"umprows1" + struct.pack("<I", len(header)) + header + numbers
    path.write_bytes(body + hashlib.sha256(body).digest())


@pytest.fixture
def frozen(tmp_path):
    """Forty rows; the last two of four dimensions, the embedder's, say which option is right."""
    random = np.random.default_rng(3)
    labels = np.arange(40) % 2
    vectors = random.normal(0, 0.1, (40, 4))
    vectors[np.arange(40), 2 + labels] += 1
    states = [f"{i:064x}" for i in range(40)]
    write_rows(tmp_path / "made-up.rows", states, vectors, np.full((40, 2), 0.5), np.eye(2)[labels])
    draw = {"rowsPerOption": 8, "seed": 1, "training": list(range(16)), "test": list(range(16, 40))}
    task = {"task": "made up", "file": "made-up.rows", "parts": [2, 2], "draws": [draw]}
    (tmp_path / "draws.json").write_text(json.dumps({"tasks": [task]}))
    return tmp_path


def test_rows_are_read_as_the_bench_writes_them(frozen):
    rows = learn_peers.read_rows(frozen / "made-up.rows")
    assert (len(rows.states), rows.options, rows.vectors.shape) == (40, 2, (40, 4))
    assert (rows.labels == np.arange(40) % 2).all()


def test_a_broken_file_is_refused(frozen):
    path = frozen / "made-up.rows"
    path.write_bytes(path.read_bytes()[:-40] + b"x" * 40)
    with pytest.raises(SystemExit, match="broken"):
        learn_peers.read_rows(path)


def test_documents_have_the_servers_hash():
    # test/bench/quality/learning/frozen-tasks.test.ts has the same one.
    found = learn_peers.hash_of_state("“naïve” \n\t\u0001 \u2028 /\\")
    assert found == "2ad36b374e098cd0437ddfb14c4bb3c254ccd1b46531d48a851183fb903e9147"


def test_figures_are_those_of_the_server():
    probabilities = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.45, 0.55]])
    found = learn_peers.judge(probabilities, np.array([0, 1, 1, 0]))
    assert found["accuracy"] == 0.5
    assert found["nll"] == pytest.approx(-np.log([0.9, 0.2, 0.7, 0.45]).mean())
    # Four bins of one answer each.
    assert found["ece"] == pytest.approx((0.1 + 0.8 + 0.3 + 0.55) / 4)


@pytest.mark.parametrize("peers", [1, 2])
def test_both_regressions_are_kept_beside_other_peers(frozen, monkeypatch, peers):
    pytest.importorskip("sklearn")
    (frozen / "peers.json").write_text(json.dumps({"format": 1, "peers": [{"name": "SetFit", "version": "0", "draws": []}]}))
    monkeypatch.setattr("sys.argv", ["learn_peers", "--rows", str(frozen)])
    for _ in range(peers):
        learn_peers.main()
    found = json.loads((frozen / "peers.json").read_text())["peers"]
    assert [peer["name"] for peer in found] == ["SetFit", "scikit-learn, C = 1", "scikit-learn, C chosen"]
    for peer in found[1:]:
        [draw] = peer["draws"]
        assert (draw["task"], draw["rowsPerOption"], draw["seed"], draw["accuracy"]) == ("made up", 8, 1, 1.0)


def test_options_without_rows_have_no_probability():
    pytest.importorskip("sklearn")
    x = np.array([[0.0], [1.0], [0.1], [0.9]])
    assert (learn_peers.regress(x, np.array([0, 2, 0, 2]), 3, x, 1.0)[:, 1] == 0).all()
    assert (learn_peers.regress(x, np.array([1, 1, 1, 1]), 3, x, 1.0) == [0, 1, 0]).all()
