"""The graphs of a shipped folder for devices: fp16 and fp32, over the weights of its int8 graphs (`shipped.py`).

    python -m umpire_training.device_graphs --folder ../kev ../text-embed-mini

Writes the graphs beside those of int8, names them in the manifest, adds their answers to the golden cases and sums everything
up anew. The golden answers of fp32 are PyTorch's with the shipped weights, those of fp16 the graphs' own on a processor.
Weights and int8 graphs stay as they are, to the byte; needs no training data.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import onnx
import torch

from . import embed_mini, package
from .embed_mini import build_embed
from .export import BUILDERS
from .folder_file import read_folder_file, unpacked
from .golden import answer_case
from .graph import GraphBuilder
from .kev_batch_graph import build_batch, build_head_rows
from .model import KevModel, Shape
from .onnx_model import OnnxKev
from .prompts import CLS, SEP, Text
from .shipped import ShippedBuilder, ShippedWeights

DEVICE_PRECISIONS = ("fp16", "fp32")
KEV_BUILDERS = BUILDERS | {"batch": build_batch, "head-rows": build_head_rows}
# So small that they are fp32 beside fp16, too.
ALWAYS_FP32 = {"head", "head-rows"}
# The names that text-embed-mini's int8 graph has its weights by, and the builders' own.
EMBED_NAMES = {
    r"^encoder\.layer\.(\d+)\.attention\.self\.(query|key|value)\b": r"layers.\1.\2",
    r"^encoder\.layer\.(\d+)\.input\.": r"layers.\1.read.",
    r"^encoder\.layer\.(\d+)\.attention\.output\.dense\b": r"layers.\1.output",
    r"^encoder\.layer\.(\d+)\.attention\.output\.LayerNorm\b": r"layers.\1.attention_norm",
    r"^encoder\.layer\.(\d+)\.intermediate\.dense\b": r"layers.\1.inner",
    r"^encoder\.layer\.(\d+)\.output\.dense\b": r"layers.\1.outer",
    r"^encoder\.layer\.(\d+)\.output\.LayerNorm\b": r"layers.\1.norm",
    r"^embeddings\.word_embeddings\b": "words",
    r"^embeddings\.position_embeddings\b": "positions",
    r"^embeddings\.token_type_embeddings\b": "segments",
    r"^embeddings\.LayerNorm\b": "embedding_norm",
}


def write(folder: Path) -> None:
    """Graphs, manifest, golden cases and sums of a folder that has int8 graphs."""
    path = folder / "model.json"
    manifest = json.loads(path.read_text())
    write_graphs, golden_answers = FAMILIES[manifest["family"]]
    manifest["graphs"] |= write_graphs(folder)
    package.write_json(path, manifest)
    golden = json.loads(read_folder_file(folder / "golden.json"))
    golden_answers(folder, manifest, golden["cases"])
    package.write_json(folder / "golden.json", golden, indent=None)
    package.pack(folder / "golden.json")
    package.write_sums(folder)
    for precision in DEVICE_PRECISIONS:
        for graph in folder.glob(f"*.{precision}.onnx"):
            package.pack(graph, keep=True)  # the packed one is what is kept under version control


# ---- split-encoder ----------------------------------------------------------------------------


def kev_graphs_of(precision: str) -> dict[str, str]:
    """File names by role, as the manifest has them."""
    return {role: f"{role}.{'fp32' if role in ALWAYS_FP32 else precision}.onnx" for role in KEV_BUILDERS}


def shape_of(folder: Path, shipped: ShippedWeights) -> Shape:
    """What the folder was trained with; its graphs tell by what they have."""
    answer = onnx.load_model_from_string(read_folder_file(folder / "answer.int8.onnx")).graph
    rivals = shipped.places.get("head_module.rivals.weight")
    return Shape(
        pair="pair_projection.weight" in shipped.places,
        rivals=rivals.dims[1] if rivals else 0,
        long_scale=any(node.op_type == "Log" for node in answer.node),
    )


def write_kev_graphs(folder: Path) -> dict[str, dict[str, str]]:
    shipped = ShippedWeights.read(folder)
    state, shape = shipped.state(), shape_of(folder, shipped)
    graphs = {precision: kev_graphs_of(precision) for precision in DEVICE_PRECISIONS}
    for precision, files in graphs.items():
        for role, name in files.items():
            if f".{precision}." in name:
                save(ShippedBuilder(role, precision, shipped), folder / name, lambda g: KEV_BUILDERS[role](g, state, shape))
    return graphs


def shipped_kev(folder: Path) -> KevModel:
    """What the folder ships, in PyTorch: int8 weights as the floats that they stand for."""
    shipped = ShippedWeights.read(folder)
    model = KevModel(shape_of(folder, shipped))
    model.load_state_dict({name: torch.tensor(array) for name, array in shipped.state().items()})
    return model.eval()


@torch.inference_mode()
def add_kev_answers(folder: Path, manifest: dict, cases: list[dict]) -> None:
    sources = {"fp32": shipped_kev(folder), "fp16": OnnxKev.open_named(folder, manifest["graphs"]["fp16"])}
    text = Text(folder / "tokenizer.json")
    for case in cases:
        case["probabilities"] |= answer_case(case, sources, text, manifest["temperatures"])["probabilities"]


# ---- text-encoder -----------------------------------------------------------------------------


def write_embed_graphs(folder: Path) -> dict[str, dict[str, str]]:
    unpacked(folder / "embed.int8.onnx")  # a runtime maps the weights from there
    shipped = ShippedWeights.read(folder, EMBED_NAMES)
    state = shipped.state()
    graphs = {precision: {"embed": f"embed.{precision}.onnx"} for precision in DEVICE_PRECISIONS}
    for precision, files in graphs.items():
        save(ShippedBuilder("embed", precision, shipped), folder / files["embed"], lambda g: build_embed(g, state))
    return graphs


@torch.inference_mode()
def embed_in_torch(folder: Path, inputs: list[list[int]]) -> torch.Tensor:
    """Vectors `[inputs, dimensions]` of the shipped weights; ids without specials."""
    model = KevModel(Shape())
    shipped = ShippedWeights.read(folder, EMBED_NAMES).state()
    model.load_state_dict({name: torch.tensor(array) for name, array in shipped.items()}, strict=False)
    # The encoder alone: its last layer ends in what the model gives, not in keys and values of a state.
    vectors = []
    for ids in inputs:
        row = torch.tensor([[CLS, *ids, SEP]])
        x = model.embedding_norm(model.words(row) + model.positions.weight[: row.shape[1]] + model.segments.weight[0])
        for layer in model.layers:
            parts = (model.split(part(x)) for part in (layer.query, layer.key, layer.value))
            x = layer.merge(x, model.join(torch.nn.functional.scaled_dot_product_attention(*parts)))
        vectors.append(torch.nn.functional.normalize(x.mean(1), dim=-1)[0])
    return torch.stack(vectors)


def add_vectors(folder: Path, manifest: dict, cases: list[dict]) -> None:
    text = Text(folder / "tokenizer.json")
    inputs = [text.ids(case["input"]) for case in cases]
    fp16 = embed_mini.embed(folder / manifest["graphs"]["fp16"]["embed"], inputs)
    for case, *vectors in zip(cases, embed_in_torch(folder, inputs), fp16, strict=True):
        rounded = ([float(f"{x:.7g}") for x in vector] for vector in vectors)
        case["embeddings"] |= dict(zip(("fp32", "fp16"), rounded, strict=True))


# ---- both -------------------------------------------------------------------------------------


def save(builder: GraphBuilder, path: Path, add_nodes: Callable[[GraphBuilder], None]) -> None:
    add_nodes(builder)
    builder.save(path)


FAMILIES = {"split-encoder": (write_kev_graphs, add_kev_answers), "text-encoder": (write_embed_graphs, add_vectors)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, nargs="+", required=True)
    for folder in parser.parse_args().folder:
        write(folder)


if __name__ == "__main__":
    main()
