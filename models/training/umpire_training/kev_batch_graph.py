"""The graphs that answer several questions about several documents in one run, for devices: `batch` and `head-rows`.

On a device keys and values never come back to the host: windows are encoded and questions answered against them in the same run.
Rows are padded; what is padded is masked to exactly nothing, so a row's answer does not depend on its neighbours but for the
order of sums. Not for int8, whose scales are of a whole tensor (models/README.md has the contract).
"""

from __future__ import annotations

import math

import numpy as np
from onnx import numpy_helper

from .encoder_graph import State, embed_tokens, first_positions, linear, merge, project, small_table
from .graph import GraphBuilder
from .kev_graphs import read_options
from .model import LONG, MASKED, NOUL, Shape

EPSILON = 1e-12
Heads = tuple[str, str]  # keys, values: [rows, heads, tokens, head_size]


# ---- batch ------------------------------------------------------------------------------------


def build_batch(g: GraphBuilder, state: State, shape: Shape) -> None:
    """Rows of windows, then rows of questions beside those of the windows that `windows_of` names."""
    window_ids, window_tokens = g.input("window_ids", "int64", ["W", "L"]), g.input("window_tokens", "int64", ["W"])
    segment, index = g.input("segment", "int64", ["W"]), g.input("window_index", "int64", ["W"])
    token_ids, positions, branch = (g.input(name, "int64", ["Q", "B"]) for name in ("token_ids", "positions", "branch"))
    pieces, windows_of = g.input("pieces", "int64", ["P"]), g.input("windows_of", "int64", ["Q", "M"])

    is_token = tokens_of(g, window_ids, window_tokens)  # bool [W, L]
    cache = encode_rows(g, state, shape, (window_ids, segment, index), is_token)
    g.output(mean_of(g, joined(g, shape, cache[-1][1]), is_token), "window_vectors", ["W", shape.hidden])

    chosen = g.node("Max", windows_of, g.constant(0))  # [Q, M]
    is_window = g.node("GreaterOrEqual", windows_of, g.constant(0))
    is_key = g.node("And", g.node("Gather", is_token, chosen, axis=0), g.node("Unsqueeze", is_window, g.constant([2])))
    is_key = g.node("Reshape", is_key, g.constant([0, -1]))  # [Q, M · L]
    cache = [(of_rows(g, shape, key, chosen), of_rows(g, shape, value, chosen)) for key, value in cache]
    x = answer_rows(g, state, shape, (token_ids, positions, branch), cache, is_key)
    found = piece_rows(g, state, shape, x, joined(g, shape, cache[-1][1]), (branch, pieces), is_key)
    g.output(found, "piece_vectors", ["Q", "P", shape.hidden])


def encode_rows(g: GraphBuilder, state: State, shape: Shape, window: tuple[str, str, str], is_token: str) -> list[Heads]:
    """-> per layer keys and values `[W, heads, L, head_size]`, the last of them of the finished state"""
    token_ids, segment, index = window
    added = g.node("Add", small_table(g, state, segment, "segments"), small_table(g, state, index, "window_indexes"))
    x = embed_tokens(g, state, token_ids, [first_positions(g, state, token_ids), g.node("Unsqueeze", added, g.constant([1]))])
    bias = g.node("Unsqueeze", masked(g, is_token), g.constant([1, 2]))  # [W, 1, 1, L]
    cache = []
    for layer in range(shape.layers):
        query, *cached = project(g, state, x, layer, ("query", "key", "value"))
        key, value = (by_head(g, shape, part) for part in cached)
        scores = g.node("Add", scores_of(g, shape, by_head(g, shape, query), key), bias)
        x = merge(g, state, x, joined(g, shape, weigh(g, scores, value)), layer)
        cache.append((key, value))
    finished = (by_head(g, shape, linear(g, state, x, name, reads="finished_state")) for name in ("state_key", "state_value"))
    return [*cache[:-1], tuple(finished)]


def answer_rows(g: GraphBuilder, state: State, shape: Shape, rows: tuple[str, str, str], cache: list[Heads], is_key: str) -> str:
    """-> `[Q, B, hidden]`, the last states of the branches"""
    token_ids, positions, branch = rows
    added = [small_table(g, state, positions, "positions"), small_table(g, state, g.constant(1), "segments")]
    x = embed_tokens(g, state, token_ids, added)
    of_state = g.node("Unsqueeze", masked(g, is_key), g.constant([1, 2]))  # [Q, 1, 1, M · L]
    of_own = g.node("Unsqueeze", masked(g, sees_rows(g, branch)), g.constant([1]))  # [Q, 1, B, B]
    scale = long_scale_rows(g, is_key) if shape.long_scale else None
    for layer, (key, value) in enumerate(cache):
        query, *own = project(g, state, x, layer, ("query", "key", "value"))
        query = by_head(g, shape, g.node("Mul", query, scale) if scale else query)
        own_key, own_value = (by_head(g, shape, part) for part in own)
        parts = [g.node("Add", scores_of(g, shape, query, key), of_state), g.node("Add", scores_of(g, shape, query, own_key), of_own)]
        values = g.node("Concat", value, own_value, axis=2)
        x = merge(g, state, x, joined(g, shape, weigh(g, g.node("Concat", *parts, axis=3), values)), layer)
    return x


def piece_rows(g: GraphBuilder, state: State, shape: Shape, x: str, values: str, members: tuple[str, str], is_key: str) -> str:
    """As `kev_graphs.piece_vectors`, for each row. x `[Q, B, hidden]`, values of the state `[Q, S, hidden]` -> `[Q, P, hidden]`"""
    branch, pieces = members
    numbers = g.node("Concat", pieces, g.constant([0]), axis=0)  # the instructions last
    member = g.node("Equal", g.node("Unsqueeze", numbers, g.constant([0, 2])), g.node("Unsqueeze", branch, g.constant([1])))
    member = g.to_float(member)  # [Q, P + 1, B]
    count = g.node("Max", g.node("ReduceSum", member, g.constant([2]), keepdims=1), g.constant(1.0))
    means = g.node("MatMul", g.node("Div", member, count), x)
    mean, lead = without_last(g, means), only_last(g, means)
    g.output(g.node("Squeeze", lead, g.constant([1])), "views", ["Q", shape.hidden])
    sides = (linear(g, state, part, name, keep_float=True) for name, part in (("match_piece", mean), ("match_lead", lead)))
    left = g.node("Concat", *sides, axis=1)  # [Q, P + 1, hidden]
    whole = g.node("Unsqueeze", mean_of(g, values, is_key), g.constant([1]))
    places = likest_rows(g, state, left, values, is_key)
    right = linear(g, state, g.node("Concat", places, whole, axis=1), "match_state", keep_float=True)
    match = g.node("Concat", *(cosine_rows(g, shape, left, part) for part in (only_last(g, right), without_last(g, right))), axis=-1)
    lead_part = g.linear(lead, "lead_projection", state["lead_projection.weight"].T, None, keep_float=True)
    if shape.pair:
        at_lead = g.node("Slice", right, g.constant([-2]), g.constant([-1]), g.constant([1]))
        pair = compared_rows(g, shape, only_last(g, left), at_lead)
        lead_part = g.node("Sum", lead_part, g.linear(pair, "pair_projection", state["pair_projection.weight"].T, None, keep_float=True))
    projected = g.node("Add", linear(g, state, mean, "piece_projection", keep_float=True), lead_part)
    own = without_last(g, match)
    of_lead = g.node("Expand", only_last(g, match), g.node("Shape", own))
    return g.node("Concat", projected, own, of_lead, axis=-1)


def likest_rows(g: GraphBuilder, state: State, left: str, values: str, is_key: str) -> str:
    """left `[Q, N, hidden]`, values `[Q, S, hidden]` -> their means by likeness `[Q, N, hidden]`; the last of N is the instructions'"""
    sought = g.node("Div", wide(g, left), length_of(g, left))
    to_values = g.weight("match_state.weight.sought", state["match_state.weight"])
    sought = g.node("MatMul", narrow(g, sought), to_values)
    of_piece, of_lead = (g.weight(f"sharpness.{kind}", state["sharpness"][kind : kind + 1]) for kind in (0, 1))
    sharp = [g.node("Mul", without_last(g, sought), of_piece), g.node("Mul", only_last(g, sought), of_lead)]
    turned = g.node("Transpose", wide(g, values), perm=[0, 2, 1])
    scores = g.node("MatMul", wide(g, g.node("Concat", *sharp, axis=1)), turned)  # [Q, N, S]
    return weigh(g, g.node("Add", scores, g.node("Unsqueeze", masked(g, is_key), g.constant([1]))), values)


def cosine_rows(g: GraphBuilder, shape: Shape, left: str, right: str) -> str:
    """`[Q, N, hidden]`, `[Q, N or 1, hidden]` -> `[Q, N, heads]`, which sum up to the cosine"""
    lengths = g.node("Mul", length_of(g, left), length_of(g, right))
    products = g.node("Div", g.node("Mul", wide(g, left), wide(g, right)), lengths)
    parts = g.node("Reshape", products, g.constant([0, 0, shape.heads, shape.head_size]))
    return narrow(g, g.node("ReduceSum", parts, g.constant([3]), keepdims=0))


def compared_rows(g: GraphBuilder, shape: Shape, left: str, right: str) -> str:
    """`[Q, 1, hidden]` twice -> product and difference of both at one length, `[Q, 1, 2 hidden]`"""
    long = wide_constant(g, math.sqrt(shape.hidden))
    sides = [narrow(g, g.node("Mul", g.node("Div", wide(g, side), length_of(g, side)), long)) for side in (left, right)]
    return g.node("Concat", g.node("Mul", *sides), g.node("Sub", *sides), axis=-1)


# ---- head-rows --------------------------------------------------------------------------------


def build_head_rows(g: GraphBuilder, state: State, shape: Shape) -> None:
    """`head` for several questions of as many options each."""
    vectors = g.input("option_vectors", "float32", ["N", "K", shape.hidden])
    kind, levels = g.input("question_type", "int64", ["N"]), g.input("levels", "int64", ["N", "K"])
    column = g.node("Unsqueeze", kind, g.constant([1]))  # [N, 1]
    count = g.node("Squeeze", g.node("Shape", levels, start=1))
    counted = g.node("Range", g.constant(1), g.node("Add", count, g.constant(1)), g.constant(1))
    is_noul = g.cast(g.node("Equal", column, g.constant(NOUL)), "int64")
    places = g.node("Add", g.node("Add", levels, g.node("Mul", counted, is_noul)), g.node("Mul", column, g.constant(shape.levels)))
    g.output(read_options(g, state, shape, vectors, column, places), "logits", ["N", "K"])


# ---- rows -------------------------------------------------------------------------------------


def tokens_of(g: GraphBuilder, ids: str, counts: str) -> str:
    """ids `[N, T]`, counts `[N]` -> bool `[N, T]`: the places below the count"""
    length = g.node("Squeeze", g.node("Shape", ids, start=1, end=2))
    places = g.node("Range", g.constant(0), length, g.constant(1))
    return g.node("Less", places, g.node("Unsqueeze", counts, g.constant([1])))


def sees_rows(g: GraphBuilder, branch: str) -> str:
    """branch `[Q, B]`, −1 where padded -> bool `[Q, B, B]`: whether the key is of the instructions or of the query's branch"""
    of_key, of_query = g.node("Unsqueeze", branch, g.constant([1])), g.node("Unsqueeze", branch, g.constant([2]))
    return g.node("Or", g.node("Equal", of_key, g.constant(0)), g.node("Equal", of_key, of_query))


def long_scale_rows(g: GraphBuilder, is_key: str) -> str:
    """`kev_graphs.long_scale` by the keys of each row, `[Q, 1, 1]`"""
    keys = g.node("ReduceSum", g.cast(is_key, "float32"), g.constant([1]), keepdims=1)
    scale = g.node("Max", g.node("Div", g.node("Log", keys), wide_constant(g, math.log(LONG))), wide_constant(g, 1.0))
    return narrow(g, g.node("Unsqueeze", scale, g.constant([2])))


def by_head(g: GraphBuilder, shape: Shape, x: str) -> str:
    """`[N, T, hidden]` -> `[N, heads, T, head_size]`"""
    parts = g.node("Reshape", x, g.constant([0, 0, shape.heads, shape.head_size]))
    return g.node("Transpose", parts, perm=[0, 2, 1, 3])


def joined(g: GraphBuilder, shape: Shape, x: str) -> str:
    """`[N, heads, T, head_size]` -> `[N, T, hidden]`"""
    return g.node("Reshape", g.node("Transpose", x, perm=[0, 2, 1, 3]), g.constant([0, 0, shape.hidden]))


def of_rows(g: GraphBuilder, shape: Shape, x: str, chosen: str) -> str:
    """`[W, heads, L, head_size]`, chosen `[Q, M]` -> `[Q, heads, M · L, head_size]`"""
    gathered = g.node("Transpose", g.node("Gather", x, chosen, axis=0), perm=[0, 2, 1, 3, 4])
    return g.node("Reshape", gathered, g.constant([0, shape.heads, -1, shape.head_size]))


def scores_of(g: GraphBuilder, shape: Shape, query: str, key: str) -> str:
    """In float32 whatever the precision: scores of the first layer come to 84, where float16 has steps of a sixteenth."""
    query = g.node("Mul", wide(g, query), wide_constant(g, shape.head_size**-0.5))
    return g.node("MatMul", query, g.node("Transpose", wide(g, key), perm=[0, 1, 3, 2]))


def weigh(g: GraphBuilder, scores: str, values: str) -> str:
    return g.node("MatMul", narrow(g, g.node("Softmax", scores, axis=-1)), values)


def masked(g: GraphBuilder, seen: str) -> str:
    """bool -> what is added to scores, float32"""
    return g.node("Where", seen, wide_constant(g, 0.0), wide_constant(g, MASKED))


def mean_of(g: GraphBuilder, rows: str, counts: str) -> str:
    """rows `[N, T, hidden]`, counts bool `[N, T]` -> `[N, hidden]`, the mean of those that count"""
    shares = g.cast(counts, "float32")
    shares = g.node("Div", shares, g.node("Max", g.node("ReduceSum", shares, g.constant([1]), keepdims=1), wide_constant(g, 1.0)))
    mean = g.node("MatMul", g.node("Unsqueeze", shares, g.constant([1])), wide(g, rows))
    return narrow(g, g.node("Squeeze", mean, g.constant([1])))


def length_of(g: GraphBuilder, x: str) -> str:
    """`[.., hidden]` -> `[.., 1]`, float32"""
    squares = g.node("ReduceSumSquare", wide(g, x), g.constant([2]))
    return g.node("Sqrt", g.node("Add", squares, wide_constant(g, EPSILON)))


def without_last(g: GraphBuilder, rows: str) -> str:
    return g.node("Slice", rows, g.constant([0]), g.constant([-1]), g.constant([1]))


def only_last(g: GraphBuilder, rows: str) -> str:
    return g.node("Slice", rows, g.constant([-1]), g.constant([2**31]), g.constant([1]))


def wide(g: GraphBuilder, x: str) -> str:
    """float32, whatever the graph's own type"""
    return g.cast(x, "float32") if g.float_type == np.float16 else x


def narrow(g: GraphBuilder, x: str) -> str:
    return g.to_float(x) if g.float_type == np.float16 else x


def wide_constant(g: GraphBuilder, value: float) -> str:
    name = f"constant_wide_{value!r}"
    if name not in g.initializers:
        g.initializers[name] = numpy_helper.from_array(np.asarray(value, np.float32), name)
    return name
