"""all-MiniLM-L6-v2 as the model folder `text-embed-mini`: export, golden vectors, parity, figures of the card.

    python -m umpire_training.embed_mini --out ../text-embed-mini               # write the folder, then check it
    python -m umpire_training.embed_mini --out ../text-embed-mini --check       # check only
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from . import package
from .base import base_folder, base_state
from .encoder_graph import State, embed_by_index, embed_tokens, encoder_layer, multi_head_attention
from .graph import PRECISIONS, GraphBuilder
from .runtime import open_session
from .prompts import CLS, SEP, Text

LAYERS, HEADS, DIMENSIONS, INPUT_TOKENS = 6, 12, 384, 256
LEAST_COSINE = {"fp32": 0.9999, "fp16": 0.999, "int8": 0.99}

MANIFEST = {
    "format": 1,
    "id": "text-embed-mini",
    "type": "embedding",
    "family": "text-encoder",
    "description": "Sentence embeddings for search, clustering and similarity: English, 384 dimensions, up to 256 tokens.",
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


def build(state: State, precision: str) -> GraphBuilder:
    """Graph `embed`: token ids and mask `[B, S]` → mean-pooled unit vectors `[B, 384]`."""
    g = GraphBuilder("embed", precision)
    token_ids, mask = g.input("token_ids", "int64", ["B", "S"]), g.input("attention_mask", "int64", ["B", "S"])
    length = g.node("Shape", token_ids, start=1, end=2)
    positions = g.node("Slice", g.constant(np.arange(INPUT_TOKENS)), g.constant([0]), length)
    first_type = g.constant(0)
    added = [embed_by_index(g, state, positions, "position_embeddings"),
             embed_by_index(g, state, first_type, "token_type_embeddings")]  # fmt: skip
    x = embed_tokens(g, state, token_ids, added)
    padding = g.cast(mask, "int32")
    for layer in range(LAYERS):
        x = encoder_layer(g, state, x, layer, lambda _, q, k, v: multi_head_attention(
            g, HEADS, q, k, v, key_padding_mask=padding))  # fmt: skip
    g.output(_pool(g, x, mask), "embeddings", ["B", DIMENSIONS])
    return g


def _pool(g: GraphBuilder, x: str, mask: str) -> str:
    """Mean over the tokens of the mask, then unit length: `[B, S, H]` → `[B, H]`."""
    weights = g.node("Unsqueeze", g.to_float(mask), g.constant([2]))
    # No division by the count: unit length follows, and a mean of nothing would be 0 / 0.
    total = g.node("ReduceSum", g.node("Mul", x, weights), g.constant([1]), keepdims=0)
    return g.node("LpNormalization", total, axis=-1, p=2)


def export(folder: Path, precision: str) -> Path:
    path = folder / f"embed.{precision}.onnx"
    build(base_state(), precision).save(path)
    return path


def embed(path: Path, ids: list[int]) -> np.ndarray:
    """One unpadded input through a graph; `ids` without specials → `[384]`."""
    row = np.array([[CLS, *ids, SEP]], np.int64)
    return open_session(path).run(None, {"token_ids": row, "attention_mask": np.ones_like(row)})[0][0]


def reference(ids: list[int]) -> np.ndarray:
    """The same ids through sentence-transformers, in float32 → `[384]`."""
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(base_folder()), device="cpu")
    row = torch.tensor([[CLS, *ids, SEP]])
    with torch.inference_mode():
        out = model.forward({"input_ids": row, "attention_mask": torch.ones_like(row)})
    return out["sentence_embedding"][0].numpy()


def golden(graph: Path, folder: Path) -> dict:
    """Golden cases: reference vectors and those of the int8 graph."""
    text = Text(folder / "tokenizer.json")
    cases = []
    for text in GOLDEN_INPUTS:
        ids = tokenize(tokenizer, text)
        vectors = {"fp32": reference(ids), "int8": embed(graph, ids)}
        rounded = {name: [float(f"{x:.7g}") for x in vector] for name, vector in vectors.items()}
        cases.append({"input": text, "input_tokens": len(ids), "embeddings": rounded})
    return {"format": 1, "cases": cases}


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    graph = export(folder, "int8")
    package.write_tokenizer(folder, INPUT_TOKENS)
    package.write_json(folder / "model.json", MANIFEST | {"graphs": {"int8": {"embed": graph.name}}})
    package.write_json(folder / "golden.json", golden(graph, folder), indent=None)
    package.write_sums(folder)


def check(folder: Path) -> bool:
    """Prints the parity of every precision with sentence-transformers over the golden inputs; False when one falls short."""
    cases = json.loads((folder / "golden.json").read_text())["cases"]
    inputs = [(tokenize(load_tokenizer(folder), case["input"]), case["embeddings"]["fp32"]) for case in cases]
    passed = True
    print("| graph | least cosine | mean cosine | needed |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for precision in PRECISIONS:
            path = folder / f"embed.{precision}.onnx"
            path = path if path.exists() else export(Path(scratch), precision)
            cosines = [float(embed(path, ids) @ np.array(vector)) for ids, vector in inputs]
            passed &= min(cosines) >= LEAST_COSINE[precision]
            print(f"| {precision} | {min(cosines):.6f} | {np.mean(cosines):.6f} | {LEAST_COSINE[precision]} |")
    return passed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--check", action="store_true", help="only compare an existing folder with the reference")
    options = parser.parse_args()
    if not options.check:
        write(options.out)
    raise SystemExit(0 if check(options.out) else 1)


if __name__ == "__main__":
    main()
