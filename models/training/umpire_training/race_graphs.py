"""Variants of graphs against each other, by turns in one process and by processor time, so that other work on the machine
changes little: ways for `answer` to attend, one run (`decide`) against three, dynamic quantization by tensor and by block.

    python -m umpire_training.race_graphs [--rounds 40]

Random weights in int8, one thread; medians, and the share of the first column's.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

from .export import export, load_model
from .graph import IR_VERSION, MICROSOFT, OPSET
from .kev_graphs import fused_attention
from .model import Shape
from .onnx_model import GRAPHS
from .quantize import MATRIX_LEVELS, quantize_columns
from .runtime import open_session
from .time_graphs import VARIANTS, feeds, window

ANSWERS = ((40, 66), (40, 130), (40, 512), (40, 2000), (30, 4000), (200, 4000))  # branch tokens, state keys
WINDOWS = (64, 130, 256)
PRODUCTS = ((256, 384, 384), (256, 384, 1536), (256, 1536, 384))  # rows, in, out
BLOCK = 128
WARM_UP_RUNS = 3

Runs = dict[str, Callable[[], object]]


def race(runs: Runs, rounds: int) -> dict[str, float]:
    """Median milliseconds of processor time of each, by turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(-WARM_UP_RUNS, rounds):
        for name, run in runs.items():
            start = time.thread_time()
            run()
            if number >= 0:
                times[name].append(time.thread_time() - start)
    return {name: float(np.median(found)) * 1000 for name, found in times.items()}


def show(label: str, found: dict[str, float]) -> None:
    first = next(iter(found.values()))
    print("| " + " | ".join([label, *(f"{ms:.2f} ({ms / first:.2f})" for ms in found.values())]) + " |", flush=True)


def head_line(label: str, names: list[str]) -> None:
    print("\n| " + " | ".join([label, *names]) + " |\n" + "|---" * (len(names) + 1) + "|")


def session_of(path: Path):
    return lambda feed, session=open_session(path): session.run(None, feed)


def race_answers(folders: dict[str, Path], rounds: int) -> None:
    head_line("`answer`, B, S", list(folders))
    sessions = {name: session_of(folder / "answer.int8.onnx") for name, folder in folders.items()}
    for branch_tokens, state_keys in ANSWERS:
        feed = feeds(Shape(), branch_tokens, state_keys)
        show(f"{branch_tokens}, {state_keys}", race({name: lambda run=run: run(feed) for name, run in sessions.items()}, rounds))


def race_decide(folder: Path, rounds: int) -> None:
    """Python hands outputs on without a copy, as Node does not: the gain there is larger."""
    head_line("tokens of a window, 40 of branches", ["three runs", "one run"])
    sessions = {name: session_of(folder / f"{name}.int8.onnx") for name in (*GRAPHS, "decide")}
    for tokens in WINDOWS:
        state = window(tokens)
        chunk = {name: value for name, value in feeds(Shape(), 40, 1).items() if not name.startswith(("key", "value"))}
        options = len(chunk["pieces"])
        kind = {"question_type": np.array([0]), "levels": np.zeros((1, options), np.int64)}
        names = [f"{part}_{layer}" for layer in range(Shape().layers) for part in ("key", "value")]

        def three() -> None:
            cache = dict(zip(names, sessions["encode"](state)))
            sessions["head"]({"option_vectors": sessions["answer"](chunk | cache)[0][None]} | kind)

        show(str(tokens), race({"three": three, "one": lambda: sessions["decide"]({"state_ids": state["token_ids"]} | chunk | kind)}, rounds))


def race_products(rounds: int) -> None:
    """`DynamicQuantizeMatMul` scales a whole tensor, `MatMulNBits` each row's blocks."""
    head_line("rows, in, out", ["by tensor", f"by blocks of {BLOCK}"])
    for rows, width, out in PRODUCTS:
        rng = np.random.default_rng(1)
        weight, x = rng.standard_normal((width, out), np.float32), rng.standard_normal((rows, width), np.float32)
        runs = {"tensor": by_tensor(weight), "blocks": by_blocks(weight)}
        show(f"{rows}, {width}, {out}", race({name: lambda s=s: s.run(None, {"x": x}) for name, s in runs.items()}, rounds))


def by_tensor(weight: np.ndarray) -> onnxruntime.InferenceSession:
    levels, scales = quantize_columns(weight)
    return one_node("DynamicQuantizeMatMul", {"levels": levels, "scales": scales}, weight.shape)


def by_blocks(weight: np.ndarray) -> onnxruntime.InferenceSession:
    width, out = weight.shape
    blocks = weight.T.reshape(out, width // BLOCK, BLOCK)
    scales = np.abs(blocks).max(axis=2) / MATRIX_LEVELS
    levels = (np.rint(blocks / scales[:, :, None]) + 128).astype(np.uint8)
    attributes = {"K": width, "N": out, "bits": 8, "block_size": BLOCK, "accuracy_level": 4}  # 4: activations in int8
    return one_node("MatMulNBits", {"levels": levels, "scales": scales}, weight.shape, **attributes)


def one_node(op: str, weights: dict[str, np.ndarray], shape: tuple[int, int], **attributes: int) -> onnxruntime.InferenceSession:
    node = helper.make_node(op, ["x", *weights], ["y"], domain=MICROSOFT, **attributes)
    ends = [helper.make_tensor_value_info(name, 1, ["M", size]) for name, size in zip("xy", shape)]
    graph = helper.make_graph([node], op, ends[:1], ends[1:], [numpy_helper.from_array(value, name) for name, value in weights.items()])
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "node.onnx"
        path.write_bytes(model.SerializeToString())
        return open_session(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    model = load_model(None)
    # What was shipped first stands first.
    variants = {"copied state, fused, mask as bias": fused_attention} | VARIANTS
    with tempfile.TemporaryDirectory() as root:
        folders = {name: Path(root) / str(number) for number, name in enumerate(variants)}
        for name, attention in variants.items():
            export(model, folders[name], "int8", answer={"attention": attention})
        race_answers(folders, options.rounds)
        race_decide(folders["two sums of exponentials"], options.rounds)
    race_products(options.rounds)


if __name__ == "__main__":
    main()
