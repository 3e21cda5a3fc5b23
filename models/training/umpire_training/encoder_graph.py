"""Layers of the encoder as graph nodes, named as `KevModel` names its weights; attention differs by graph and is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .graph import MICROSOFT, GraphBuilder
from .model import MASKED

State = Mapping[str, np.ndarray]
# (layer, queries, keys, values), each [batch, tokens, hidden] → context [batch, tokens, hidden]
Attention = Callable[[int, str, str, str], str]

ENCODER_EPSILON = 1e-12
# Not −10000: exp(−50) is already nothing, and smaller values leave denormals that cost twice the time.
MASK_VALUE = -50.0


def linear(g: GraphBuilder, state: State, x: str, name: str, reads: str = "", keep_float: bool = False) -> str:
    """The linear layer `name`; torch stores `[out, in]`, the graph multiplies by `[in, out]`."""
    return g.linear(x, name, state[f"{name}.weight"].T, state[f"{name}.bias"], reads=reads, keep_float=keep_float)


def layer_norm(g: GraphBuilder, state: State, x: str, name: str, epsilon: float = ENCODER_EPSILON) -> str:
    return g.layer_norm(x, name, state[f"{name}.weight"], state[f"{name}.bias"], epsilon)


def embed_tokens(g: GraphBuilder, state: State, token_ids: str, added: list[str]) -> str:
    """Word rows `[batch, tokens, hidden]` plus what is `added` (positions, segments, …), normalised."""
    total = g.table(token_ids, "words.weight", state["words.weight"])
    for value in added:
        total = g.node("Add", total, value)
    return layer_norm(g, state, total, "embedding_norm")


def small_table(g: GraphBuilder, state: State, index: str, name: str) -> str:
    """Rows of a small table (positions, segments, …); kept in float, it weighs little."""
    return g.table(index, f"{name}.weight", state[f"{name}.weight"], keep_float=True)


def first_positions(g: GraphBuilder, state: State, token_ids: str) -> str:
    """Position rows 0.. for token ids `[batch, tokens]` → `[tokens, hidden]`."""
    length = g.node("Shape", token_ids, start=1, end=2)
    table = g.weight("positions.weight", state["positions.weight"])
    return g.node("Slice", table, g.constant([0]), length)


def project(g: GraphBuilder, state: State, x: str, layer: int, names: tuple[str, ...]) -> list[str]:
    """The layer's projections of `x`; int8 graphs smooth what they read once for all of them."""
    return [linear(g, state, x, f"layers.{layer}.{name}", reads=f"layers.{layer}.read") for name in names]


def merge(g: GraphBuilder, state: State, x: str, context: str, layer: int) -> str:
    """Everything of a layer after its attention, post-norm: `[batch, tokens, hidden]`."""
    base = f"layers.{layer}"
    attended = linear(g, state, context, f"{base}.output")
    x = layer_norm(g, state, residual(g, attended, x), f"{base}.attention_norm")
    inner = g.node("Gelu", linear(g, state, x, f"{base}.inner"))
    outer = linear(g, state, inner, f"{base}.outer")
    return layer_norm(g, state, residual(g, outer, x), f"{base}.norm")


def residual(g: GraphBuilder, branch: str, x: str) -> str:
    """`Sum`, not `Add`: the runtime would make SkipLayerNormalization of the latter, four times slower on a CPU."""
    return g.node("Sum", branch, x)


def encoder_layer(g: GraphBuilder, state: State, x: str, layer: int, attention: Attention) -> str:
    """One whole transformer layer."""
    return merge(g, state, x, attention(layer, *project(g, state, x, layer, ("query", "key", "value"))), layer)


def split_heads(g: GraphBuilder, x: str, heads: int, head_size: int) -> str:
    """`[1, tokens, hidden]` → `[1, heads, tokens, head_size]`"""
    parts = g.node("Reshape", x, g.constant([1, -1, heads, head_size]))
    return g.node("Transpose", parts, perm=[0, 2, 1, 3])


def join_heads(g: GraphBuilder, x: str, hidden: int) -> str:
    """`[1, heads, tokens, head_size]` → `[1, tokens, hidden]`"""
    return g.node("Reshape", g.node("Transpose", x, perm=[0, 2, 1, 3]), g.constant([1, -1, hidden]))


def multi_head_attention(g: GraphBuilder, heads: int, query: str, key: str, value: str, **inputs: str) -> str:
    """ORT's fused attention. Queries `[B, S, hidden]`; keys and values likewise or `[B, heads, T, head_size]`;
    `inputs` may name a `key_padding_mask` or an `attention_bias`."""
    optional = [inputs.get(name, "") for name in ("bias", "key_padding_mask", "attention_bias")]
    while optional and not optional[-1]:
        optional.pop()
    return g.node(
        "MultiHeadAttention", query, key, value, *optional,
        domain=MICROSOFT, num_heads=heads, mask_filter_value=MASK_VALUE,
    )  # fmt: skip


def plain_attention(g: GraphBuilder, heads: int, head_size: int, query: str, key: str, value: str, bias: str = "") -> str:
    """The same in plain operators. Queries `[B, S, hidden]`, keys and values `[B, heads, T, head_size]`; `bias` is added to the
    scores. These are float32 in every precision: in the first layer they come to 84, where float16 has steps of a sixteenth."""
    with g.in_float32() as wide:
        parts = g.node("Reshape", wide(query), g.constant([0, 0, heads, head_size]))
        by_head = g.node("Mul", g.node("Transpose", parts, perm=[0, 2, 1, 3]), g.constant(head_size**-0.5))
        scores = g.node("MatMul", by_head, g.node("Transpose", wide(key), perm=[0, 1, 3, 2]))
        weights = g.node("Softmax", g.node("Add", scores, bias) if bias else scores, axis=-1)
    context = g.node("MatMul", g.to_float(weights) if g.float_type is np.float16 else weights, value)
    return g.node("Reshape", g.node("Transpose", context, perm=[0, 2, 1, 3]), g.constant([0, 0, heads * head_size]))


def rows_by_head(g: GraphBuilder, x: str, heads: int, head_size: int) -> str:
    """`[B, tokens, hidden]` → `[B, heads, tokens, head_size]`"""
    return g.node("Transpose", g.node("Reshape", x, g.constant([0, 0, heads, head_size])), perm=[0, 2, 1, 3])


def additive_mask(g: GraphBuilder, seen: str) -> str:
    """bool → float32 to add to scores: what is not seen has no weight at all."""
    with g.in_float32():
        return g.node("Where", seen, g.constant(0.0), g.constant(MASKED))
