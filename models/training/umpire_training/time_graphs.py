"""Time of `encode`, and time and memory of `answer` by how its branches attend to the state: why it is `two_sums`.

    python -m umpire_training.time_graphs [--threads 1] [--encode-only]

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

from .encoder_graph import join_heads, split_heads
from .export import export, load_model
from .graph import MICROSOFT, GraphBuilder
from .kev_graphs import Attend, append, branch_mask, fused_attention, two_sums
from .model import Shape
from .runtime import open_session

SIZES = ((42, 130), (42, 1050), (300, 2070), (512, 4096))  # branch tokens, state keys
WINDOWS = (32, 128, 256)  # tokens of a window
TOKENS_PER_PIECE = 6
CODE_BITS, CODE_STEP = 9, 50.0


def two_blocks(g: GraphBuilder, shape: Shape, branch: str, any_key: str) -> Attend:
    """Scores against the state and against the branches, one softmax over both, two products: no copy of the state."""
    mask = branch_mask(g, branch)

    def scores(query: str, key: str) -> str:
        return g.node("FusedMatMul", query, key, domain=MICROSOFT, transB=1, alpha=shape.head_size**-0.5)

    def attend(query: str, own_key: str, own_value: str, key: str, value: str) -> str:
        query, own_key, own_value = (heads_of(g, shape, part) for part in (query, own_key, own_value))
        own = g.node("Add", scores(query, own_key), mask)
        both = g.node("Softmax", g.node("Concat", scores(query, key), own, axis=-1), axis=-1)
        lengths = g.node("Concat", *(g.node("Shape", part, start=2, end=3) for part in (key, own_key)), axis=0)
        on_state, on_own = g.node("Split", both, lengths, outputs=2, axis=-1)
        return join_heads(g, g.node("Add", g.node("MatMul", on_state, value), g.node("MatMul", on_own, own_value)), shape.hidden)

    return attend


def flash_with_codes(g: GraphBuilder, shape: Shape, branch: str, any_key: str) -> Attend:
    """Flash attention takes no bias: the mask becomes further channels of queries and keys.

    A branch's number is written in bits ±1; the channels add −50 per differing bit, and nothing for keys without a code.
    """
    of_query, of_own = branch_codes(g, shape, branch)
    width = shape.head_size + CODE_BITS + 1
    wider = g.constant([0, 0, 0, 0, 0, 0, 0, CODE_BITS + 1])

    def attend(query: str, own_key: str, own_value: str, key: str, value: str) -> str:
        query = join_heads(g, g.node("Concat", heads_of(g, shape, query), of_query, axis=-1), shape.heads * width)
        own = g.node("Concat", heads_of(g, shape, own_key), of_own, axis=-1)
        keys = g.node("Concat", g.node("Pad", key, wider), own, axis=2)
        values = g.node("Pad", append(g, shape, value, own_value), wider)  # the operator wants values as wide as keys
        context = g.node("MultiHeadAttention", query, keys, values, domain=MICROSOFT,
                         num_heads=shape.heads, scale=shape.head_size**-0.5)  # fmt: skip
        parts = g.node("Reshape", context, g.constant([1, -1, shape.heads, width]))
        parts = g.node("Slice", parts, g.constant([0]), g.constant([shape.head_size]), g.constant([3]))
        return g.node("Reshape", parts, g.constant([1, -1, shape.hidden]))

    return attend


def heads_of(g: GraphBuilder, shape: Shape, x: str) -> str:
    return split_heads(g, x, shape.heads, shape.head_size)


def branch_codes(g: GraphBuilder, shape: Shape, branch: str) -> tuple[str, str]:
    """Further channels of the queries and of the branches' keys, `[1, heads, B, CODE_BITS + 1]`."""
    column = g.node("Unsqueeze", branch, g.constant([1, 3]))  # [1, 1, B, 1]
    bits = g.node("Mod", g.node("Div", column, g.constant([2**i for i in range(CODE_BITS)])), g.constant(2))
    signs = g.node("Sub", g.node("Mul", g.to_float(bits), g.constant(2.0)), g.constant(1.0))
    coded = g.to_float(g.node("Greater", column, g.constant(0)))
    ones = g.node("Add", g.node("Mul", coded, g.constant(0.0)), g.constant(1.0))
    half = CODE_STEP / 2 * shape.head_size**0.5
    terms = g.node("Mul", signs, g.constant(half)), g.node("Mul", ones, g.constant(-half * CODE_BITS))
    of_key = g.node("Mul", g.node("Concat", signs, ones, axis=-1), coded)
    size = g.constant([1, shape.heads, 1, 1])
    return g.node("Expand", g.node("Concat", *terms, axis=-1), size), g.node("Expand", of_key, size)


VARIANTS = {
    "two sums of exponentials": two_sums,
    "copied state, fused, mask as bias": fused_attention,
    "two blocks of scores, one softmax": two_blocks,
    "copied state, flash, mask in channels": flash_with_codes,
}


def feeds(shape: Shape, branch_tokens: int, state_keys: int) -> dict[str, np.ndarray]:
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


def window(tokens: int) -> dict[str, np.ndarray]:
    """Inputs of `encode`."""
    token_ids = np.random.default_rng(1).integers(1000, 20000, (1, tokens))
    return {"token_ids": token_ids, "segment": np.array([0]), "window_index": np.array([0])}


def measure(path: Path, feed: dict[str, np.ndarray], threads: int) -> dict:
    """Milliseconds and peak mebibytes of one size, in this process."""
    session = open_session(path, threads)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts from what is held now
    before = peak_mib()
    times, stop = [], time.perf_counter() + 4
    while len(times) < 5 or time.perf_counter() < stop:
        start = time.perf_counter()
        session.run(None, feed)
        times.append(time.perf_counter() - start)
    return {"ms": float(np.median(times)) * 1000, "least_ms": min(times) * 1000, "mib": peak_mib() - before}


def peak_mib() -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def in_own_process(graph: Path, sizes: tuple[int, ...], threads: int) -> dict:
    command = [sys.executable, "-m", "umpire_training.time_graphs", "--threads", str(threads)]
    command += ["--one", str(graph), *map(str, sizes)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def show_encode(folder: Path, threads: int) -> None:
    print("| tokens of a window | `encode`, ms, median | ms, least |\n|---|---|---|")
    for tokens in WINDOWS:
        row = in_own_process(folder / "encode.int8.onnx", (tokens,), threads)
        print(f"| {tokens} | {row['ms']:.1f} | {row['least_ms']:.1f} |", flush=True)


def show_answer(folder: Path, label: str, threads: int) -> None:
    for size in SIZES:
        row = in_own_process(folder / "answer.int8.onnx", size, threads)
        print(f"| {label} | {size[0]} | {size[1]} | {row['ms']:.1f} | {row['least_ms']:.1f} | {row['mib']:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--encode-only", action="store_true")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)  # a graph, then one size (encode) or two (answer)
    options = parser.parse_args()
    if options.one:
        path, *sizes = options.one
        feed = window(int(sizes[0])) if len(sizes) == 1 else feeds(Shape(), *map(int, sizes))
        print(json.dumps(measure(Path(path), feed, options.threads)))
        return
    model = load_model(None)
    for number, (label, attention) in enumerate(VARIANTS.items()):
        with tempfile.TemporaryDirectory() as folder:
            export(model, Path(folder), "int8", answer={"attention": attention})
            if number == 0:
                show_encode(Path(folder), options.threads)
                if options.encode_only:
                    return
                print("\n| `answer` | B | S | ms, median | ms, least | MiB |\n|---|---|---|---|---|---|")
            show_answer(Path(folder), label, options.threads)


if __name__ == "__main__":
    main()
