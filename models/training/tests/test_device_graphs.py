"""The graphs for devices that are shipped come of the shipped weights, add none, and answer as PyTorch does with them."""

import collections
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from umpire_training.device_graphs import DEVICE_PRECISIONS, EMBED_NAMES, embed_in_torch, shipped_kev, write
from umpire_training.embed_mini import embed
from umpire_training.folder_file import read_folder_file, unpacked
from umpire_training.golden_cases import CASES
from umpire_training.onnx_model import OnnxKev
from umpire_training.prompts import question_from_json
from umpire_training.reference import forward_request
from umpire_training.runtime import open_session
from umpire_training.shipped import INLINE_BYTES, ShippedBuilder, ShippedWeights

MODELS = Path(__file__).resolve().parents[2]
FOLDERS = ("kev", "text-embed-mini")


@pytest.fixture(scope="module", params=FOLDERS)
def written(request, tmp_path_factory) -> tuple[Path, Path]:
    """The shipped folder, and a copy of it whose graphs for devices were made anew."""
    shipped, copy = MODELS / request.param, tmp_path_factory.mktemp("models") / request.param
    shutil.copytree(shipped, copy)
    for path in copy.glob("*.fp*.onnx"):
        path.unlink()
    write(copy)
    return shipped, copy


def test_the_command_gives_what_is_shipped(written):
    shipped, copy = written
    names = sorted(path.name for path in shipped.glob("*.onnx") if ".int8." not in path.name)
    assert names and names == sorted(path.name for path in copy.glob("*.fp*.onnx"))
    for name in [*names, "model.json", "SHA256SUMS"]:
        if name != "SHA256SUMS":  # it has the sum of golden.json, whose last digits are this host's
            assert (copy / name).read_bytes() == (shipped / name).read_bytes()
    sums = [dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines()) for folder in written]
    assert {name for name in sums[0] if sums[0][name] != sums[1][name]} <= {"golden.json"}


def test_graphs_hold_no_weights(written):
    shipped, _ = written
    for path in shipped.glob("*.fp*.onnx"):
        graph = onnx.load(path, load_external_data=False).graph
        inline = [tensor for tensor in graph.initializer if tensor.data_location != onnx.TensorProto.EXTERNAL]
        assert all(len(tensor.raw_data) <= INLINE_BYTES or tensor.name.startswith("constant_") for tensor in inline)
        places = {entry.value for tensor in graph.initializer for entry in tensor.external_data if entry.key == "location"}
        assert len(places) == 1 and places <= {"weights.int8.bin", "embed.int8.onnx"}


def test_weights_become_floats_when_a_graph_is_loaded(tmp_path):
    folder = MODELS / "kev"
    open_session(folder / "encode.fp32.onnx", optimized=tmp_path / "optimized.onnx")
    counts = collections.Counter(node.op_type for node in onnx.load(tmp_path / "optimized.onnx", load_external_data=False).graph.node)
    # The rows of the table alone are made floats in a run.
    assert counts["Cast"] == 1 and "DequantizeLinear" not in counts


@torch.inference_mode()
def test_kev_answers_as_pytorch_with_the_shipped_weights(text):
    folder = MODELS / "kev"
    graphs = json.loads((folder / "model.json").read_text())["graphs"]
    reference = shipped_kev(folder)
    opened = {precision: OnnxKev.open_named(folder, graphs[precision]) for precision in DEVICE_PRECISIONS}
    for case in CASES:
        questions = [question_from_json(raw) for raw in case["questions"]]
        wanted, _ = forward_request(reference, text, case["state"], questions)
        for precision, most in (("fp32", 1e-4), ("fp16", 0.01)):
            found, _ = forward_request(opened[precision], text, case["state"], questions)
            assert max(abs(p - q) for a, b in zip(wanted, found) for p, q in zip(a, b)) <= most


def test_text_embed_mini_gives_the_vectors_of_pytorch_with_the_shipped_weights(text):
    folder = MODELS / "text-embed-mini"
    unpacked(folder / "embed.int8.onnx")
    inputs = [text.ids(case["input"]) for case in json.loads(read_folder_file(folder / "golden.json"))["cases"]]
    wanted = embed_in_torch(folder, inputs).numpy()
    for precision, least in (("fp32", 0.999999), ("fp16", 0.9999)):
        assert ((embed(folder / f"embed.{precision}.onnx", inputs) * wanted).sum(axis=1) >= least).all()


def test_a_padded_row_has_the_vector_of_the_row_alone(text):
    session = open_session(MODELS / "text-embed-mini/embed.fp32.onnx")
    short, long = text.ids("a short text"), text.ids("a much longer text " * 30)
    rows = np.zeros((2, len(long)), np.int64)
    rows[0, : len(short)], rows[1] = short, long
    mask = (rows > 0).astype(np.int64)
    together = session.run(None, {"token_ids": rows, "attention_mask": mask})[0]
    alone = session.run(None, {"token_ids": rows[:1, : len(short)], "attention_mask": mask[:1, : len(short)]})[0]
    assert np.abs(together[0] - alone[0]).max() < 1e-5


@pytest.mark.parametrize("precision", DEVICE_PRECISIONS)
def test_a_weight_of_another_shape_or_name_is_refused(precision):
    shipped = ShippedWeights.read(MODELS / "kev")
    state = {name: array for name, array in shipped.state().items()}
    graph = ShippedBuilder("encode", precision, shipped)
    with pytest.raises(ValueError, match="state_key.weight.int8 is"):
        graph.linear("x", "state_key", state["state_key.weight"][:, :8].T, None)
    with pytest.raises(ValueError, match="not among the shipped"):
        graph.weight("unknown.weight", np.zeros(999, np.float32))


def test_renamed_weights_are_those_of_the_graph():
    shipped = ShippedWeights.read(MODELS / "text-embed-mini", EMBED_NAMES)
    assert {"words.weight.int8", "layers.5.outer.weight.scale", "layers.0.read.smoothing"} <= set(shipped.places)
    tensors = onnx.load_model_from_string(read_folder_file(MODELS / "text-embed-mini/embed.int8.onnx")).graph.initializer
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in tensors}
    assert np.array_equal(shipped.stored("layers.3.inner.weight.int8"), stored["encoder.layer.3.intermediate.dense.weight.int8"])
    assert np.array_equal(shipped.stored("positions.weight"), stored["embeddings.position_embeddings.weight"])
