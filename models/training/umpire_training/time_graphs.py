"""Time and memory of the `answer` graph by how its branches attend to the state: the measurement behind `attend_in_two_blocks`.

    python -m umpire_training.time_graphs [--threads 1]

Random weights in int8; every row is a process of its own, because the runtime's arena never shrinks. Memory is the peak of
the process over what it held before the first run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from .encoder_graph import join_heads, multi_head_attention, split_heads
from .export import export, load_model
from .graph import MICROSOFT, GraphBuilder
from .kev_graphs import attend_in_two_blocks
from .runtime import open_session

SIZES = ((42, 130), (42, 1050), (300, 2070), (512, 4096))  # branch tokens, state keys
TOKENS_PER_PIECE = 6
CODE_BITS, CODE_STEP = 9, 50.0


def both(g, shape, own, state):
    """State's and branches' keys (or values) in one tensor: a copy of the state, in every layer."""
    return g.node("Concat", state, split_heads(g, own, shape.heads, shape.head_size), axis=2)


def attend_with_bias(g, shape, query, own_key, own_value, key, value, mask) -> str:
    """One fused attention over copied keys and values, the mask as a full bias `[1, 1, B, S + B]`."""
    length = g.node("Shape", key, start=2, end=3)
    pads = g.node("Concat", g.constant([0, 0, 0]), length, g.constant([0, 0, 0, 0]), axis=0)
    key, value = both(g, shape, own_key, key), both(g, shape, own_value, value)
    return multi_head_attention(g, shape.heads, query, key, value, attention_bias=g.node("Pad", mask, pads))


def attend_with_codes(g, shape, query, own_key, own_value, key, value, mask) -> str:
    """Flash attention, which takes no bias: the mask becomes further channels of queries and keys.

    A branch's number is written in bits ±1; the channels add −50 per differing bit, and nothing for keys without a code.
    """
    of_query, of_own = branch_codes(g, shape)
    width = shape.head_size + CODE_BITS + 1
    query = g.node("Concat", split_heads(g, query, shape.heads, shape.head_size), of_query, axis=-1)
    query = join_heads(g, query, shape.heads * width)
    own = g.node("Concat", split_heads(g, own_key, shape.heads, shape.head_size), of_own, axis=-1)
    wider = g.constant([0, 0, 0, 0, 0, 0, 0, CODE_BITS + 1])
    keys = g.node("Concat", g.node("Pad", key, wider), own, axis=2)
    values = g.node("Pad", both(g, shape, own_value, value), wider)  # the operator wants values as wide as keys
    context = g.node("MultiHeadAttention", query, keys, values, domain=MICROSOFT,
                     num_heads=shape.heads, scale=shape.head_size**-0.5)  # fmt: skip
    parts = g.node("Reshape", context, g.constant([1, -1, shape.heads, width]))
    parts = g.node("Slice", parts, g.constant([0]), g.constant([shape.head_size]), g.constant([3]))
    return g.node("Reshape", parts, g.constant([1, -1, shape.hidden]))


def branch_codes(g: GraphBuilder, shape) -> tuple[str, str]:
    """Further channels of the queries and of the branches' keys, `[1, heads, B, CODE_BITS + 1]`; made once per graph."""
    if not hasattr(g, "codes"):
        column = g.node("Unsqueeze", "branch", g.constant([1, 3]))  # [1, 1, B, 1]
        bits = g.node("Mod", g.node("Div", column, g.constant([2**i for i in range(CODE_BITS)])), g.constant(2))
        signs = g.node("Sub", g.node("Mul", g.to_float(bits), g.constant(2.0)), g.constant(1.0))
        coded = g.to_float(g.node("Greater", column, g.constant(0)))
        half = CODE_STEP / 2 * shape.head_size**0.5
        ones = g.node("Add", g.node("Mul", coded, g.constant(0.0)), g.constant(1.0))
        of_query = g.node("Concat", g.node("Mul", signs, g.constant(half)),
                          g.node("Mul", ones, g.constant(-half * CODE_BITS)), axis=-1)  # fmt: skip
        of_key = g.node("Mul", g.node("Concat", signs, ones, axis=-1), coded)
        size = g.constant([1, shape.heads, 1, 1])
        g.codes = g.node("Expand", of_query, size), g.node("Expand", of_key, size)
    return g.codes


VARIANTS = {
    "two blocks, one softmax": attend_in_two_blocks,
    "copy, fused with bias": attend_with_bias,
    "copy, flash with coded mask": attend_with_codes,
}


def feeds(shape, branch_tokens: int, state_keys: int) -> dict[str, np.ndarray]:
    """A plausible chunk: a quarter instructions, then pieces of `TOKENS_PER_PIECE` tokens."""
    rng = np.random.default_rng(1)
    first = branch_tokens // 4
    branch = np.concatenate([np.zeros(first, np.int64), 1 + np.arange(branch_tokens - first) // TOKENS_PER_PIECE])
    cache = {f"{kind}_{layer}": rng.standard_normal((1, shape.heads, state_keys, shape.head_size), np.float32)
             for layer in range(shape.layers) for kind in ("key", "value")}  # fmt: skip
    return cache | {
        "token_ids": rng.integers(1000, 20000, (1, branch_tokens)),
        "positions": np.arange(branch_tokens)[None] % 256,
        "branch": branch[None],
        "pieces": np.arange(1, branch.max() + 1),
    }


def measure(path: Path, branch_tokens: int, state_keys: int, threads: int) -> dict:
    """Median milliseconds and peak mebibytes of one size, in this process."""
    session = open_session(path, threads)
    feed = feeds(load_model(None).shape, branch_tokens, state_keys)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts from what is held now
    before = peak_mib()
    times, stop = [], time.perf_counter() + 4
    while len(times) < 5 or time.perf_counter() < stop:
        start = time.perf_counter()
        vectors = session.run(None, feed)[0]
        times.append(time.perf_counter() - start)
    return {"ms": float(np.median(times)) * 1000, "least_ms": min(times) * 1000, "mib": peak_mib() - before, "sum": float(np.abs(vectors).sum())}


def peak_mib() -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)  # graph, branch tokens, state keys
    options = parser.parse_args()
    if options.one:
        graph, branch_tokens, state_keys = options.one
        print(json.dumps(measure(Path(graph), int(branch_tokens), int(state_keys), options.threads)))
        return
    print("| variant | B | S | ms, median | ms, least | MiB |\n|---|---|---|---|---|---|")
    model = load_model(None)
    for label, attend in VARIANTS.items():
        with tempfile.TemporaryDirectory() as folder:
            export(model, Path(folder), "int8", answer={"attend": attend})
            for size in SIZES:
                command = [sys.executable, "-m", "umpire_training.time_graphs", "--threads", str(options.threads),
                           "--one", f"{folder}/answer.int8.onnx", *map(str, size)]  # fmt: skip
                row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                print(f"| {label} | {size[0]} | {size[1]} | {row['ms']:.1f} | {row['least_ms']:.1f} | {row['mib']:.0f} |", row["sum"], flush=True)


if __name__ == "__main__":
    main()
