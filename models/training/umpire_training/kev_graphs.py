"""The three graphs of the split encoder, as models/README.md lays them down: `encode`, `answer`, `head`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .encoder_graph import (
    MASK_VALUE,
    State,
    embed_tokens,
    first_positions,
    layer_norm,
    linear,
    merge,
    multi_head_attention,
    project,
    residual,
    small_table,
    split_heads,
)
from .graph import GraphBuilder
from .model import NOUL, Shape

# (queries, keys, values of the branches `[1, B, hidden]`; the state's keys, values `[1, heads, S, head_size]`) → `[1, B, hidden]`
Attend = Callable[[str, str, str, str, str], str]
BranchAttention = Callable[[GraphBuilder, Shape, str, str], Attend]

HEAD_EPSILON = 1e-5
SET_HEADS = 6


# ---- encode -----------------------------------------------------------------------------------


def build_encode(g: GraphBuilder, state: State, shape: Shape) -> None:
    """One window, unpadded and therefore without a mask → keys and values of every layer."""
    token_ids = g.input("token_ids", "int64", [1, "S"])
    segment, index = g.input("segment", "int64", [1]), g.input("window_index", "int64", [1])
    added = [first_positions(g, state, token_ids)]
    added.append(g.node("Add", small_table(g, state, segment, "segments"), small_table(g, state, index, "window_indexes")))
    x = embed_tokens(g, state, token_ids, added)
    for layer in range(shape.layers):
        query, *cached = project(g, state, x, layer, ("query", "key", "value"))
        key, value = (split_heads(g, part, shape.heads, shape.head_size) for part in cached)
        x = merge(g, state, x, multi_head_attention(g, shape.heads, query, key, value), layer)
        if layer + 1 < shape.layers:
            output_cache(g, shape, layer, key, value)
    finished = (linear(g, state, x, name, reads="finished_state") for name in ("state_key", "state_value"))
    output_cache(g, shape, shape.layers - 1, *(split_heads(g, part, shape.heads, shape.head_size) for part in finished))


def output_cache(g: GraphBuilder, shape: Shape, layer: int, key: str, value: str) -> None:
    for name, part in (("key", key), ("value", value)):
        g.output(part, f"{name}_{layer}", [1, shape.heads, "S", shape.head_size])


# ---- answer -----------------------------------------------------------------------------------


def build_answer(g: GraphBuilder, state: State, shape: Shape, attention: BranchAttention | None = None) -> None:
    """One chunk of branches beside the state's keys and values → vectors of its pieces."""
    token_ids, positions = (g.input(name, "int64", [1, "B"]) for name in ("token_ids", "positions"))
    branch, pieces = g.input("branch", "int64", [1, "B"]), g.input("pieces", "int64", ["P"])
    cache = [[g.input(f"{name}_{layer}", "float32", [1, shape.heads, "S", shape.head_size]) for name in ("key", "value")]
             for layer in range(shape.layers)]  # fmt: skip
    added = [small_table(g, state, positions, "positions"), small_table(g, state, g.constant(1), "segments")]
    x = embed_tokens(g, state, token_ids, added)
    attend = (attention or fused_attention)(g, shape, branch, cache[0][0])
    for layer, cached in enumerate(cache):
        x = merge(g, state, x, attend(*project(g, state, x, layer, ("query", "key", "value")), *cached), layer)
    # The last layer's values are projected from the finished state: their mean holds its sentence vector.
    g.output(piece_vectors(g, state, shape, x, cache[-1][1], branch, pieces), "piece_vectors", ["P", shape.hidden])


def fused_attention(g: GraphBuilder, shape: Shape, branch: str, any_key: str) -> Attend:
    """State's and branches' keys in one tensor, the mask as a bias. The copy of the state costs less than it saves
    (`python -m umpire_training.time_graphs`)."""
    state_length = g.node("Shape", any_key, start=2, end=3)
    before = g.node("Concat", g.constant([0, 0, 0]), state_length, g.constant([0, 0, 0, 0]), axis=0)
    bias = g.node("Pad", branch_mask(g, branch), before)  # [1, 1, B, S + B], nothing of the state is masked

    def attend(query: str, own_key: str, own_value: str, key: str, value: str) -> str:
        keys, values = (append(g, shape, cached, own) for cached, own in ((key, own_key), (value, own_value)))
        return multi_head_attention(g, shape.heads, query, keys, values, attention_bias=bias)

    return attend


def append(g: GraphBuilder, shape: Shape, cached: str, own: str) -> str:
    """`[1, heads, S, head_size]` and `[1, B, hidden]` → `[1, heads, S + B, head_size]`"""
    return g.node("Concat", cached, split_heads(g, own, shape.heads, shape.head_size), axis=2)


def branch_mask(g: GraphBuilder, branch: str) -> str:
    """branch `[1, B]` → additive `[1, 1, B, B]`: 0 where the key is of the instructions or of the query's branch."""
    of_key = g.node("Unsqueeze", branch, g.constant([0, 1]))  # [1, 1, 1, B]
    of_query = g.node("Unsqueeze", branch, g.constant([0, 3]))  # [1, 1, B, 1]
    sees = g.node("Or", g.node("Equal", of_key, g.constant(0)), g.node("Equal", of_key, of_query))
    return g.node("Where", sees, g.constant(0.0), g.constant(MASK_VALUE))


def piece_vectors(g, state, shape, x, state_value, branch, pieces) -> str:
    """Projected means of each piece's and of the instructions' last states, then the cosines of both with the state's mean
    and with the mean of its likest places, each in `heads` partial sums."""
    rows = g.node("Squeeze", x, g.constant([0]))
    mean, lead = member_mean(g, rows, pieces, branch), member_mean(g, rows, g.constant([0]), branch)
    values = g.node("Reshape", g.node("Transpose", state_value, perm=[0, 2, 1, 3]), g.constant([-1, shape.hidden]))  # [S, hidden]
    whole = linear(g, state, g.node("ReduceMean", values, g.constant([0]), keepdims=1), "match_state", keep_float=True)
    matches = []
    for kind, (name, vector) in enumerate((("match_piece", mean), ("match_lead", lead))):
        left = linear(g, state, vector, name, keep_float=True)
        place = linear(g, state, likest_places(g, state, left, values, kind), "match_state", keep_float=True)
        matches += [partial_cosines(g, shape, left, right) for right in (whole, place)]
    shape_of = g.node("Concat", g.node("Shape", pieces), g.constant([shape.heads]), axis=0)
    matches[2:] = [g.node("Expand", match, shape_of) for match in matches[2:]]
    lead_part = g.linear(lead, "lead_projection", state["lead_projection.weight"].T, None, keep_float=True)
    projected = g.node("Add", linear(g, state, mean, "piece_projection", keep_float=True), lead_part)
    return g.node("Concat", projected, *matches, axis=-1)


def likest_places(g: GraphBuilder, state: State, left: str, values: str, kind: int) -> str:
    """left `[N, hidden]`, values of the state `[S, hidden]` → their means by likeness `[N, hidden]`"""
    norm = g.node("Sqrt", g.node("Add", square_sum(g, left), g.constant(1e-12)))
    to_values = g.weight("match_state.weight.sought", state["match_state.weight"])
    sought = g.node("MatMul", g.node("Div", left, norm), to_values)
    sought = g.node("Mul", sought, g.weight(f"sharpness.{kind}", state["sharpness"][kind : kind + 1]))
    scores = g.node("MatMul", sought, g.node("Transpose", values, perm=[1, 0]))
    return g.node("MatMul", g.node("Softmax", scores, axis=-1), values)


def member_mean(g: GraphBuilder, rows: str, numbers: str, branch: str) -> str:
    """rows `[B, hidden]`, numbers `[N]`, branch `[1, B]` → `[N, hidden]`, means of the rows of each branch number."""
    member = g.to_float(g.node("Equal", g.node("Unsqueeze", numbers, g.constant([1])), branch))  # [N, B]
    shares = g.node("Div", member, g.node("ReduceSum", member, g.constant([1]), keepdims=1))
    return g.node("MatMul", shares, rows)


def partial_cosines(g: GraphBuilder, shape: Shape, left: str, right: str) -> str:
    """`[N, hidden]`, `[N or 1, hidden]` → `[N, heads]`, which sum up to the cosine."""
    squares = g.node("Mul", square_sum(g, left), square_sum(g, right))
    norms = g.node("Sqrt", g.node("Add", squares, g.constant(1e-12)))
    products = g.node("Div", g.node("Mul", left, right), norms)
    by_head = g.node("Reshape", products, g.constant([-1, shape.heads, shape.head_size]))
    return g.node("ReduceSum", by_head, g.constant([2]), keepdims=0)


def square_sum(g: GraphBuilder, x: str) -> str:
    return g.node("ReduceSumSquare", x, g.constant([1]))


# ---- head -------------------------------------------------------------------------------------


def build_head(g: GraphBuilder, state: State, shape: Shape) -> None:
    """Vectors of all options of one question → logits. Small, so fp32 also beside int8 graphs."""
    vectors = g.input("option_vectors", "float32", [1, "K", shape.hidden])
    kind, levels = g.input("question_type", "int64", [1]), g.input("levels", "int64", [1, "K"])
    places = g.node("Add", level_places(g, kind, levels), g.node("Mul", kind, g.constant(shape.levels)))  # [1, K]
    _, own, lead = g.node("Split", vectors, g.constant([shape.projected, 2 * shape.heads, 2 * shape.heads]), outputs=3, axis=-1)
    own = g.node("Mul", own, small_table(g, state, kind, "head_module.match"))  # [1, 2 heads] for all options
    lead = g.node("Mul", lead, small_table(g, state, places, "head_module.lead_match"))
    match = g.node("ReduceSum", g.node("Add", own, lead), g.constant([2]), keepdims=0)
    bias = g.node("Squeeze", small_table(g, state, places, "head_module.level_bias"), g.constant([2]))
    x = g.node("Add", vectors, small_table(g, state, kind, "head_module.type_embedding"))
    x = g.node("Add", x, small_table(g, state, places, "head_module.level_embedding"))
    x = layer_norm(g, state, set_layer(g, state, shape, x), "head_module.norm", HEAD_EPSILON)
    inner = g.node("Gelu", linear(g, state, x, "head_module.inner", keep_float=True))
    logits = g.node("Squeeze", linear(g, state, inner, "head_module.outer", keep_float=True), g.constant([2]))
    g.output(g.node("Add", logits, g.node("Add", match, bias)), "logits", [1, "K"])


def level_places(g: GraphBuilder, kind: str, levels: str) -> str:
    """`levels`, but 1, 2 for the options false and true of a yes/no question."""
    counted = g.node("Range", g.constant(1), g.node("Add", g.node("Squeeze", g.node("Shape", levels, start=1)), g.constant(1)), g.constant(1))
    is_noul = g.cast(g.node("Equal", kind, g.constant(NOUL)), "int64")
    return g.node("Add", levels, g.node("Mul", counted, is_noul))


def set_layer(g: GraphBuilder, state: State, shape: Shape, x: str) -> str:
    """Gated attention of the options on each other, without positions: `[1, K, hidden]` → same."""
    base = "head_module.set_layer"
    normal = layer_norm(g, state, x, f"{base}.norm", HEAD_EPSILON)
    query, key, value = g.node("Split", linear(g, state, normal, f"{base}.qkv", keep_float=True), outputs=3, axis=-1, num_outputs=3)
    attended = linear(g, state, multi_head_attention(g, SET_HEADS, query, key, value), f"{base}.output", keep_float=True)
    gate = g.weight(f"{base}.gate.tanh", np.tanh(state[f"{base}.gate"]))
    return residual(g, g.node("Mul", attended, gate), x)
