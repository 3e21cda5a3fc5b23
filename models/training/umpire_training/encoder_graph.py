"""Layers of a BERT encoder as graph nodes. Weight names follow BERT's checkpoint; attention differs by graph and is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .graph import MICROSOFT, GraphBuilder

State = Mapping[str, np.ndarray]
# (queries, keys, values) of one layer, each [batch, tokens, hidden] → context [batch, tokens, hidden]
Attention = Callable[[int, str, str, str], str]

LAYER_NORM_EPSILON = 1e-12
# Not −10000: exp(−50) is already nothing, and smaller values leave denormals that cost twice the time.
MASK_VALUE = -50.0


def linear(g: GraphBuilder, state: State, x: str, name: str, reads: str = "") -> str:
    """The checkpoint's linear layer `name`; torch stores `[out, in]`, the graph multiplies by `[in, out]`."""
    return g.linear(x, name, state[f"{name}.weight"].T, state[f"{name}.bias"], reads=reads)


def layer_norm(g: GraphBuilder, state: State, x: str, name: str) -> str:
    return g.layer_norm(x, name, state[f"{name}.weight"], state[f"{name}.bias"], LAYER_NORM_EPSILON)


def embed_tokens(g: GraphBuilder, state: State, token_ids: str, added: list[str]) -> str:
    """Word rows `[batch, tokens, hidden]` plus what is `added` (positions, types), normalised."""
    total = g.table(token_ids, "embeddings.word_embeddings.weight", state["embeddings.word_embeddings.weight"])
    for value in added:
        total = g.node("Add", total, value)
    return layer_norm(g, state, total, "embeddings.LayerNorm")


def embed_by_index(g: GraphBuilder, state: State, index: str, table: str) -> str:
    """Rows of a small table (positions, token types); kept in float, it weighs little."""
    return g.table(index, f"embeddings.{table}.weight", state[f"embeddings.{table}.weight"], keep_float=True)


def encoder_layer(g: GraphBuilder, state: State, x: str, layer: int, attention: Attention) -> str:
    """One post-norm transformer layer over `[batch, tokens, hidden]`."""
    base = f"encoder.layer.{layer}"
    query, key, value = (
        linear(g, state, x, f"{base}.attention.self.{name}", reads=f"{base}.input") for name in ("query", "key", "value")
    )
    context = linear(g, state, attention(layer, query, key, value), f"{base}.attention.output.dense")
    x = layer_norm(g, state, g.node("Add", context, x), f"{base}.attention.output.LayerNorm")
    inner = g.node("Gelu", linear(g, state, x, f"{base}.intermediate.dense"))
    outer = linear(g, state, inner, f"{base}.output.dense")
    return layer_norm(g, state, g.node("Add", outer, x), f"{base}.output.LayerNorm")


def multi_head_attention(g: GraphBuilder, heads: int, query: str, key: str, value: str, **inputs: str) -> str:
    """ORT's fused attention; `inputs` may name a `key_padding_mask` or an `attention_bias`."""
    optional = [inputs.get(name, "") for name in ("bias", "key_padding_mask", "attention_bias")]
    while optional and not optional[-1]:
        optional.pop()
    return g.node(
        "MultiHeadAttention", query, key, value, *optional,
        domain=MICROSOFT, num_heads=heads, mask_filter_value=MASK_VALUE,
    )  # fmt: skip
