"""all-MiniLM-L6-v2 as the model folder `text-embed-mini`: export, golden vectors, parity, figures of the card.

    python -m umpire_training.embed_mini --out ../text-embed-mini --data DIR     # write the folder, then check it
    python -m umpire_training.device_graphs --folder ../text-embed-mini         # then the graphs for devices
    python -m umpire_training.embed_mini --out ../text-embed-mini --check        # check only
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from . import package
from .base import base_folder
from .encoder_graph import (
    Attention,
    State,
    additive_mask,
    embed_tokens,
    encoder_layer,
    first_positions,
    multi_head_attention,
    plain_attention,
    rows_by_head,
    small_table,
)
from .folder_file import read_folder_file
from .graph import PRECISIONS, GraphBuilder
from .quantize import InputStatistics, Quantizer
from .runtime import open_session
from .statistics import Collector
from .tasks import data_folder, heldout_tasks, training_tasks
from .model import from_minilm
from .prompts import CLS, SEP, Text

LAYERS, HEADS, DIMENSIONS, INPUT_TOKENS = 6, 12, 384, 256
CALIBRATION_ROWS = 10  # of every training task
CHECK_ROWS = 25  # of every held-out task
LEAST_COSINE = {"fp32": 0.9999, "fp16": 0.999, "int8": 0.99}

MANIFEST = {
    "format": 1,
    "id": "text-embed-mini",
    "type": "embedding",
    "family": "text-encoder",
    "description": "Sentence embeddings for search, clustering and similarity: English, 384 dimensions.",
    "release_date": "2026-11-21",
    "owned_by": "sentence-transformers",
    "licence": "Apache-2.0",
    "graphs": {},
    "limits": {"input_tokens": INPUT_TOKENS},
    "price": {"input_micro_usd_per_million_tokens": 0, "output_micro_usd_per_million_tokens": 0},
    "dimensions": DIMENSIONS,
}

GOLDEN_INPUTS = [
    "hello",
    "The invoice was charged twice, please refund one payment.",
    "Wie spät ist es in Zürich? Überprüfe bitte die Größe.",
    "naïve café — “quotes” … 5 € ½ ﬁle",
    "東京は日本の首都です。 Привет, мир! שלום",
    "🚀 shipped v2.0 👩‍💻 #launch @team https://example.com/a?b=c&d=1",
    "The tokens [SEP] and [CLS] in a text are text, and so is [MASK].",
    "def mean(xs):\n\treturn sum(xs) / len(xs)  # {\"json\": [1, 2.5, null]}",
    " ".join(["A long paragraph about rivers, bridges and the towns that grew beside them."] * 16),
]


def encoder_state() -> State:
    """The original weights under the names that `KevModel` gives them."""
    return {name: value.numpy() for name, value in from_minilm(base_folder()).state_dict().items()}


def build(state: State, precision: str, quantizer: Quantizer | None = None) -> GraphBuilder:
    g = GraphBuilder("embed", precision, quantizer=quantizer)
    build_embed(g, state)
    return g


def build_embed(g: GraphBuilder, state: State) -> None:
    """Graph `embed`: token ids and mask `[B, S]` → mean-pooled unit vectors `[B, 384]`."""
    token_ids, mask = g.input("token_ids", "int64", ["B", "S"]), g.input("attention_mask", "int64", ["B", "S"])
    added = [first_positions(g, state, token_ids), small_table(g, state, g.constant(0), "segments")]
    x = embed_tokens(g, state, token_ids, added)
    attend = plain_attend(g, mask) if g.plain_attention else fused_attend(g, mask)
    for layer in range(LAYERS):
        x = encoder_layer(g, state, x, layer, attend)
    with g.in_float32() as wide:
        g.output(_pool(g, wide(x), mask), "embeddings", ["B", DIMENSIONS])


def fused_attend(g: GraphBuilder, mask: str) -> Attention:
    padding = g.cast(mask, "int32")
    return lambda _, q, k, v: multi_head_attention(g, HEADS, q, k, v, key_padding_mask=padding)


def plain_attend(g: GraphBuilder, mask: str) -> Attention:
    size = DIMENSIONS // HEADS
    bias = additive_mask(g, g.node("Unsqueeze", g.cast(mask, "bool"), g.constant([1, 2])))  # [B, 1, 1, S]
    return lambda _, q, k, v: plain_attention(g, HEADS, size, q, *(rows_by_head(g, part, HEADS, size) for part in (k, v)), bias)


def _pool(g: GraphBuilder, x: str, mask: str) -> str:
    """Mean over the tokens of the mask, then unit length: `[B, S, H]` → `[B, H]`."""
    weights = g.node("Unsqueeze", g.to_float(mask), g.constant([2]))
    # No division by the count: unit length follows, and a mean of nothing would be 0 / 0.
    total = g.node("ReduceSum", g.node("Mul", x, weights), g.constant([1]), keepdims=0)
    if g.plain_attention:  # CUDA has no LpNormalization
        return g.node("Div", total, g.node("ReduceL2", total, g.constant([1]), keepdims=1))
    return g.node("LpNormalization", total, axis=-1, p=2)


def export(folder: Path, precision: str, quantizer: Quantizer | None = None) -> Path:
    path = folder / f"embed.{precision}.onnx"
    build(encoder_state(), precision, quantizer).save(path)
    return path


def feed(ids: list[int]) -> dict[str, np.ndarray]:
    """Inputs of the graph for one text, unpadded; `ids` without specials."""
    row = np.array([[CLS, *ids, SEP]], np.int64)
    return {"token_ids": row, "attention_mask": np.ones_like(row)}


def calibrated(data: Path, text: Text) -> Quantizer:
    """A quantizer that knows what the layers read on a few states of every training task."""
    states = [row["state"] for task in training_tasks(data, limit=CALIBRATION_ROWS) for row in task.rows]
    statistics: dict[str, InputStatistics] = {}
    collector = Collector(build(encoder_state(), "fp32"), statistics)
    for state in states:
        collector.run(None, feed(text.ids(state)[: INPUT_TOKENS - 2]))
    return Quantizer(statistics)


def embed(graph: Path, inputs: list[list[int]]) -> np.ndarray:
    """Every input alone through a graph; ids without specials → `[inputs, 384]`."""
    session = open_session(graph)
    return np.stack([session.run(None, feed(ids))[0][0] for ids in inputs])


def reference(inputs: list[list[int]]) -> np.ndarray:
    """The same ids through sentence-transformers in float32 → `[inputs, 384]`."""
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(base_folder()), device="cpu")
    feeds = [{"input_ids" if name == "token_ids" else name: torch.from_numpy(array) for name, array in feed(ids).items()}
             for ids in inputs]  # fmt: skip
    with torch.inference_mode():
        return np.stack([model.forward(one)["sentence_embedding"][0].numpy() for one in feeds])


def golden(graph: Path, text: Text) -> dict:
    """Golden cases: reference vectors and those of the int8 graph."""
    inputs = [text.ids(case) for case in GOLDEN_INPUTS]
    cases = []
    for case, ids, fp32, int8 in zip(GOLDEN_INPUTS, inputs, reference(inputs), embed(graph, inputs)):
        vectors = {"fp32": fp32, "int8": int8}
        rounded = {name: [float(f"{x:.7g}") for x in vector] for name, vector in vectors.items()}
        cases.append({"input": case, "input_tokens": len(ids), "embeddings": rounded})
    return {"format": 1, "cases": cases}


def write(folder: Path, data: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    package.write_tokenizer(folder, INPUT_TOKENS)
    text = Text(folder / "tokenizer.json")
    graph = export(folder, "int8", calibrated(data, text))
    package.write_json(folder / "model.json", MANIFEST | {"graphs": {"int8": {"embed": graph.name}}})
    package.write_json(folder / "golden.json", golden(graph, text), indent=None)
    package.pack(folder / "golden.json")
    package.write_sums(folder)


def check(folder: Path, data: Path | None) -> bool:
    """Prints the parity of every precision with sentence-transformers; False when a golden input falls short."""
    text = Text(folder / "tokenizer.json")
    sets = {"golden": [text.ids(case["input"]) for case in json.loads(read_folder_file(folder / "golden.json"))["cases"]]}
    if data:
        rows = [row["state"] for task in heldout_tasks(data, limit=CHECK_ROWS) for row in task.rows]
        sets["held-out tasks"] = [text.ids(state)[: INPUT_TOKENS - 2] for state in rows]
    passed = True
    print("| graph | texts | least cosine | mean cosine | needed |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for label, inputs in sets.items():
            wanted = reference(inputs)
            for precision in PRECISIONS:
                path = folder / f"embed.{precision}.onnx"
                path = path if path.exists() else export(Path(scratch), precision)
                cosines = (embed(path, inputs) * wanted).sum(axis=1)
                least = LEAST_COSINE[precision]
                passed &= label != "golden" or bool(cosines.min() >= least)
                print(f"| {precision} | {len(inputs)}, {label} | {cosines.min():.5f} | {cosines.mean():.5f} | {least} |")
    return passed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", help="folder of decision data: calibration texts, and held-out texts for --check")
    parser.add_argument("--check", action="store_true", help="only compare an existing folder with the reference")
    options = parser.parse_args()
    if not options.check:
        write(options.out, data_folder(options.data))
    raise SystemExit(0 if check(options.out, options.data and Path(options.data)) else 1)


if __name__ == "__main__":
    main()
