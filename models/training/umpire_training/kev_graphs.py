"""The graphs of the split encoder, as models/README.md lays them down: `encode`, `answer`, `head`, and all three in one, `decide`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .encoder_graph import (
    MASK_VALUE,
    State,
    additive_mask,
    embed_tokens,
    first_positions,
    join_heads,
    layer_norm,
    linear,
    merge,
    multi_head_attention,
    plain_attention,
    project,
    residual,
    rows_by_head,
    small_table,
    split_heads,
)
from .graph import MICROSOFT, GraphBuilder
from .model import FURTHEST, LONG, MASKED, NOUL, Shape

# (queries, keys, values of the branches `[1, B, hidden]`; the state's keys, values `[1, heads, S, head_size]`) → `[1, B, hidden]`
Attend = Callable[[str, str, str, str, str], str]
BranchAttention = Callable[[GraphBuilder, Shape, str, str], Attend]

HEAD_EPSILON = 1e-5
# Scores whose exponentials, and sums of thousands of them, float32 can hold.
LEAST_SCORE, LARGEST_SCORE = -80.0, 75.0
# Those of the first layer, which compares tokens as they are, come to 84 and more; further up the largest seen is 13.
LAYERS_OF_LARGE_SCORES = 1
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
        if g.plain_attention:
            attended = plain_attention(g, shape.heads, shape.head_size, query, key, value)
        else:
            attended = multi_head_attention(g, shape.heads, query, key, value)
        x = merge(g, state, x, attended, layer)
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
    scale = long_scale(g, cache[0][0]) if shape.long_scale else None
    for layer, cached in enumerate(cache):
        if layer in (0, LAYERS_OF_LARGE_SCORES):
            attend = (attention or best_attention(g, layer))(g, shape, branch, cache[0][0])
        query, key, value = project(g, state, x, layer, ("query", "key", "value"))
        x = merge(g, state, x, attend(g.node("Mul", query, scale) if scale else query, key, value, *cached), layer)
    # The last layer's values are projected from the finished state: their mean holds its sentence vector.
    with g.in_float32() as wide:  # float16 has neither the products of such lengths nor the small number that is added to them
        means = branch_means(g, wide(x), branch, pieces)
        g.output(piece_vectors(g, state, shape, means, wide(cache[-1][1]), pieces), "piece_vectors", ["P", shape.hidden])
        # What the instructions saw in the state, whatever the options: learned heads read it.
        g.output(last(g, means), "view", [1, shape.hidden])


def long_scale(g: GraphBuilder, any_key: str) -> str:
    """What queries are multiplied by beside a long state: 1 up to `LONG` keys, then their logarithm over its own."""
    keys = g.to_float(g.node("Shape", any_key, start=2, end=3))
    return g.node("Max", g.node("Div", g.node("Log", keys), g.constant(math.log(LONG))), g.constant(1.0))


def best_attention(g: GraphBuilder, layer: int) -> BranchAttention:
    """Exponentials of scores as they are: where they stay small, and not in float16."""
    if g.plain_attention:
        return appended_attention
    return fused_attention if layer < LAYERS_OF_LARGE_SCORES or g.precision == "fp16" else two_sums


def two_sums(g: GraphBuilder, shape: Shape, branch: str, any_key: str) -> Attend:
    """exp(scores) × values and the sum of exp(scores), against the state and against the branches, added up and divided.

    Nothing is copied: neither the state's keys and values behind the branches', nor scores, nor parts to bring heads forward
    (the products read them with a stride). No pass looks for the largest score (`python -m umpire_training.time_graphs`)."""
    seen = g.node("Squeeze", g.to_float(sees(g, branch)), g.constant([0]))  # [1, B, B]

    def rows(x: str) -> str:
        return g.node("Reshape", x, g.constant([-1, shape.heads, shape.head_size]))

    def product(left: str, right: str, **attributes: int | float) -> str:
        return g.node("FusedMatMul", left, right, domain=MICROSOFT, **attributes)

    def weigh(query: str, key: str, **strides: int) -> str:
        scores = product(query, key, transBatchA=1, transB=1, alpha=shape.head_size**-0.5, **strides)
        return g.node("Exp", g.node("Clip", scores, g.constant(LEAST_SCORE), g.constant(LARGEST_SCORE)))

    def attend(query: str, own_key: str, own_value: str, key: str, value: str) -> str:
        query, own_key, own_value = (rows(x) for x in (query, own_key, own_value))  # [B, heads, head_size]
        key, value = (g.node("Reshape", x, g.constant([shape.heads, -1, shape.head_size])) for x in (key, value))
        weights = weigh(query, key), g.node("Mul", weigh(query, own_key, transBatchB=1), seen)  # [heads, B, S], [heads, B, B]
        total = g.node("Sum", g.node("MatMul", weights[0], value), product(weights[1], own_value, transBatchB=1))
        weight = g.node("Sum", *(g.node("ReduceSum", part, g.constant([2]), keepdims=1) for part in weights))
        context = g.node("Transpose", g.node("Div", total, weight), perm=[1, 0, 2])
        return g.node("Reshape", context, g.constant([1, -1, shape.hidden]))

    return attend


def fused_attention(g: GraphBuilder, shape: Shape, branch: str, any_key: str) -> Attend:
    """State's and branches' keys in one tensor, the mask as a bias."""
    state_length = g.node("Shape", any_key, start=2, end=3)
    before = g.node("Concat", g.constant([0, 0, 0]), state_length, g.constant([0, 0, 0, 0]), axis=0)
    bias = g.node("Pad", branch_mask(g, branch), before)  # [1, 1, B, S + B], nothing of the state is masked

    def attend(query: str, own_key: str, own_value: str, key: str, value: str) -> str:
        keys, values = (append(g, shape, cached, own) for cached, own in ((key, own_key), (value, own_value)))
        return multi_head_attention(g, shape.heads, query, keys, values, attention_bias=bias)

    return attend


def appended_attention(g: GraphBuilder, shape: Shape, branch: str, any_key: str) -> Attend:
    """As `fused_attention`, in plain operators."""
    state_length = g.node("Shape", any_key, start=2, end=3)
    before = g.node("Concat", g.constant([0, 0, 0]), state_length, g.constant([0, 0, 0, 0]), axis=0)
    bias = g.node("Pad", additive_mask(g, sees(g, branch)), before)  # [1, 1, B, S + B]

    def attend(query: str, own_key: str, own_value: str, key: str, value: str) -> str:
        keys, values = (append(g, shape, cached, own) for cached, own in ((key, own_key), (value, own_value)))
        return plain_attention(g, shape.heads, shape.head_size, query, keys, values, bias)

    return attend


def append(g: GraphBuilder, shape: Shape, cached: str, own: str) -> str:
    """`[1, heads, S, head_size]` and `[1, B, hidden]` → `[1, heads, S + B, head_size]`"""
    return g.node("Concat", cached, split_heads(g, own, shape.heads, shape.head_size), axis=2)


def sees(g: GraphBuilder, branch: str) -> str:
    """branch `[1, B]` → bool `[1, 1, B, B]`: whether the key is of the instructions or of the query's branch."""
    of_key = g.node("Unsqueeze", branch, g.constant([0, 1]))  # [1, 1, 1, B]
    of_query = g.node("Unsqueeze", branch, g.constant([0, 3]))  # [1, 1, B, 1]
    return g.node("Or", g.node("Equal", of_key, g.constant(0)), g.node("Equal", of_key, of_query))


def branch_mask(g: GraphBuilder, branch: str) -> str:
    """The same as something to add to scores."""
    return g.node("Where", sees(g, branch), g.constant(0.0), g.constant(MASK_VALUE))


def branch_numbers(g: GraphBuilder, pieces: str) -> str:
    """Those of the pieces, then 0, that of the instructions: `[P + 1]`"""
    return g.node("Concat", pieces, g.constant([0]), axis=0)


def branch_means(g: GraphBuilder, x: str, branch: str, pieces: str) -> str:
    """Means of each piece's and of the instructions' last states, `[P + 1, hidden]`"""
    return member_mean(g, g.node("Squeeze", x, g.constant([0])), branch_numbers(g, pieces), branch)


def piece_vectors(g, state, shape, means, state_value, pieces) -> str:
    """Projected `branch_means`, then the cosines of both with the state's mean and with the mean of its likest places, each in
    `heads` partial sums."""
    numbers = branch_numbers(g, pieces)
    mean, lead = all_but_last(g, means), last(g, means)
    sides = (linear(g, state, part, name, keep_float=True) for name, part in (("match_piece", mean), ("match_lead", lead)))
    left = g.node("Concat", *sides, axis=0)
    whole = g.node("Reshape", g.node("ReduceMean", state_value, g.constant([2]), keepdims=1), g.constant([1, shape.hidden]))
    places = likest_places(g, state, shape, left, state_value, numbers)
    right = linear(g, state, g.node("Concat", places, whole, axis=0), "match_state", keep_float=True)  # [P + 2, hidden]
    matches = (partial_cosines(g, shape, left, part) for part in (last(g, right), all_but_last(g, right)))
    match = g.node("Concat", *matches, axis=-1)  # [P + 1, 2 heads]
    shape_of = g.node("Concat", g.node("Shape", pieces), g.constant([2 * shape.heads]), axis=0)
    lead_part = g.linear(lead, "lead_projection", state["lead_projection.weight"].T, None, keep_float=True)
    if shape.pair:
        at_lead = g.node("Slice", right, g.constant([-2]), g.constant([-1]), g.constant([0]))
        pair = compared(g, shape, last(g, left), at_lead)
        # `Add` of two products would be fused into either of them, and not into the same one in every graph: other bits.
        lead_part = g.node("Sum", lead_part, g.linear(pair, "pair_projection", state["pair_projection.weight"].T, None, keep_float=True))
    projected = g.node("Add", linear(g, state, mean, "piece_projection", keep_float=True), lead_part)
    return g.node("Concat", projected, all_but_last(g, match), g.node("Expand", last(g, match), shape_of), axis=-1)


def compared(g: GraphBuilder, shape: Shape, left: str, right: str) -> str:
    """[1, hidden] twice → product and difference of both at one length, `[1, 2 hidden]`"""
    sides = []
    for side in (left, right):
        norm = g.node("Sqrt", g.node("Add", square_sum(g, side), g.constant(1e-12)))
        sides.append(g.node("Mul", g.node("Div", side, norm), g.constant(shape.hidden**0.5)))
    return g.node("Concat", g.node("Mul", *sides), g.node("Sub", *sides), axis=-1)


def all_but_last(g: GraphBuilder, rows: str) -> str:
    return g.node("Slice", rows, g.constant([0]), g.constant([-1]), g.constant([0]))


def last(g: GraphBuilder, rows: str) -> str:
    return g.node("Slice", rows, g.constant([-1]), g.constant([2**31]), g.constant([0]))


def likest_places(g: GraphBuilder, state: State, shape: Shape, left: str, state_value: str, numbers: str) -> str:
    """left `[N, hidden]`, values of the state `[1, heads, S, head_size]` → their means by likeness `[N, hidden]`"""
    norm = g.node("Sqrt", g.node("Add", square_sum(g, left), g.constant(1e-12)))
    to_values = g.weight("match_state.weight.sought", state["match_state.weight"])
    sought = g.node("MatMul", g.node("Div", left, norm), to_values)
    of_piece, of_lead = (g.weight(f"sharpness.{kind}", state["sharpness"][kind : kind + 1]) for kind in (0, 1))
    is_lead = g.node("Equal", g.node("Unsqueeze", numbers, g.constant([1])), g.constant(0))  # [N, 1]
    sought = g.node("Mul", sought, g.node("Where", is_lead, of_lead, of_piece))
    by_head = split_heads(g, g.node("Unsqueeze", sought, g.constant([0])), shape.heads, shape.head_size)
    # Head by head, as the values lie: they are never turned round.
    scores = g.node("FusedMatMul", by_head, state_value, domain=MICROSOFT, transB=1)
    likeness = g.node("Softmax", g.node("ReduceSum", scores, g.constant([1]), keepdims=1), axis=-1)  # [1, 1, N, S]
    places = join_heads(g, g.node("MatMul", likeness, state_value), shape.hidden)
    return g.node("Squeeze", places, g.constant([0]))


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
    """Vectors of all options of one question → logits. Small, so fp32 in every precision."""
    with g.in_float32():
        add_head(g, state, shape)


def add_head(g: GraphBuilder, state: State, shape: Shape) -> None:
    vectors = g.input("option_vectors", "float32", [1, "K", shape.hidden])
    kind, levels = g.input("question_type", "int64", [1]), g.input("levels", "int64", [1, "K"])
    places = g.node("Add", level_places(g, kind, levels), g.node("Mul", kind, g.constant(shape.levels)))  # [1, K]
    g.output(read_options(g, state, shape, vectors, kind, places), "logits", [1, "K"])


def read_options(g: GraphBuilder, state: State, shape: Shape, vectors: str, kind: str, places: str) -> str:
    """vectors `[N, K, hidden]`, places `[N, K]`; what is looked up by kind is the same for all options of a question → logits `[N, K]`"""
    _, own, lead = g.node("Split", vectors, g.constant([shape.projected, 2 * shape.heads, 2 * shape.heads]), outputs=3, axis=-1)
    own = g.node("Mul", own, small_table(g, state, kind, "head_module.match"))
    lead = g.node("Mul", lead, small_table(g, state, places, "head_module.lead_match"))
    match = g.node("ReduceSum", g.node("Add", own, lead), g.constant([2]), keepdims=0)
    bias = g.node("Squeeze", small_table(g, state, places, "head_module.level_bias"), g.constant([2]))
    x = g.node("Add", vectors, small_table(g, state, kind, "head_module.type_embedding"))
    x = g.node("Add", x, small_table(g, state, places, "head_module.level_embedding"))
    x = layer_norm(g, state, set_layer(g, state, shape, x), "head_module.norm", HEAD_EPSILON)
    inner = g.node("Gelu", linear(g, state, x, "head_module.inner", keep_float=True))
    logits = g.node("Squeeze", linear(g, state, inner, "head_module.outer", keep_float=True), g.constant([2]))
    logits = g.node("Add", logits, g.node("Add", match, bias))
    if shape.rivals:
        logits = g.node("Add", logits, rivals(g, state, x, logits))
    return logits


def rivals(g: GraphBuilder, state: State, x: str, logits: str) -> str:
    """What the other options' logits `[1, K]` add to an option's own."""
    count = g.node("Squeeze", g.node("Shape", logits, start=1))
    numbers = g.node("Range", g.constant(0), count, g.constant(1))
    itself = g.node("Equal", g.node("Unsqueeze", numbers, g.constant([0])), g.node("Unsqueeze", numbers, g.constant([1])))  # [K, K]
    others = g.node("Where", itself, g.constant(MASKED), g.node("Unsqueeze", logits, g.constant([1])))  # [1, K, K]
    apart = [
        g.node("Clip", g.node("Sub", logits, g.node(kind, others, g.constant([2]), keepdims=0)), g.constant(-FURTHEST), g.constant(FURTHEST))
        for kind in ("ReduceMax", "ReduceLogSumExp")
    ]
    parts = [g.node("Unsqueeze", part, g.constant([2])) for part in (*apart, g.node("Sigmoid", apart[1]))]
    beside = g.linear(g.node("Concat", *parts, axis=-1), "head_module.rivals", state["head_module.rivals.weight"].T, None, keep_float=True)
    hidden = g.node("Gelu", g.node("Add", linear(g, state, x, "head_module.own_rivals", keep_float=True), beside))
    added = g.linear(hidden, "head_module.rivals_outer", state["head_module.rivals_outer.weight"].T, None, keep_float=True)
    return g.node("Squeeze", added, g.constant([2]))


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
    if g.plain_attention:
        size = shape.hidden // SET_HEADS
        key, value = (rows_by_head(g, part, SET_HEADS, size) for part in (key, value))
        attended = plain_attention(g, SET_HEADS, size, query, key, value)
    else:
        attended = multi_head_attention(g, SET_HEADS, query, key, value)
    attended = linear(g, state, attended, f"{base}.output", keep_float=True)
    gate = g.weight(f"{base}.gate.tanh", np.tanh(state[f"{base}.gate"]))
    return residual(g, g.node("Mul", attended, gate), x)


# ---- decide -----------------------------------------------------------------------------------


def build_decide(g: GraphBuilder, state: State, shape: Shape) -> None:
    """The other three in one run, node for node: a document of one window, a question of one chunk with a piece per option.

    The keys and values are outputs too, for whoever wants to ask again."""
    window = {"token_ids": g.input("state_ids", "int64", [1, "S"]), "segment": g.constant([0]), "window_index": g.constant([0])}
    cache = g.embed(lambda: build_encode(g, state, shape), window)
    found = g.embed(lambda: build_answer(g, state, shape), cache)
    options = {"option_vectors": g.node("Unsqueeze", found["piece_vectors"], g.constant([0]))}
    logits = g.embed(lambda: build_head(g, state, shape), options)["logits"]
    g.output(logits, "logits", [1, "P"])
    g.output(found["view"], "view", [1, shape.hidden])
    for layer in range(shape.layers):
        output_cache(g, shape, layer, cache[f"key_{layer}"], cache[f"value_{layer}"])
