"""`packed_attention.cpp` for PyTorch: built where a C++ compiler is, used on CPUs. It computes in float32, also where all else is in bfloat16.

A step of training takes a sixth less time with it, in bfloat16 a twentieth to a tenth (TRIALS.md). Without a compiler and on other devices
`attention.py` does the same in PyTorch.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

SOURCE = Path(__file__).with_name("packed_attention.cpp")
# fast-math: besides, the thread that loads the library takes numbers below 1e-38 for zero, which is what they are in training.
FLAGS = ["-O3", "-march=native", "-ffast-math", "-fopenmp-simd", "-std=c++17", "-shared", "-fPIC"]
HEAD_SIZE = 32


@dataclass
class Runs:
    """Tokens that read themselves and some state: windows, or rows of branches. All on the CPU."""

    starts: Tensor  # [N + 1] int64, first token of each, counted from the first of all
    first_span: Tensor  # [N + 1] int64, its first span of state
    span_starts: Tensor  # [spans] int64, tokens of the state
    span_lengths: Tensor  # [spans] int64
    branches: Tensor  # [tokens] int32: a token sees branch 0 and its own
    scales: Tensor  # [N] float32, of the scores of long states


class Tasks(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int64), ("heads", ctypes.c_int64),
                *[(name, ctypes.c_void_p) for name in ("starts", "first_span", "span_starts", "span_lengths", "branches", "scales", "own")],
                ("own_stride", ctypes.c_int64), ("state", ctypes.c_void_p), ("state_stride", ctypes.c_int64)]


def instructions() -> str:
    """What the processor can do: a library built for another one must not be taken."""
    try:
        return next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith(("flags", "Features"))), "")
    except OSError:
        return platform.processor()


@cache
def library() -> ctypes.CDLL | None:
    """Built at the first call of a machine; None, and why on stderr, where that fails."""
    named = os.environ.get("CXX")
    compiler = next(filter(None, map(shutil.which, [named] if named else ["g++", "c++"])), None)
    if compiler is None:
        print("no C++ compiler: attention in plain PyTorch, which is slower", file=sys.stderr)
        return None
    name = hashlib.sha256("\n".join([SOURCE.read_text(), instructions(), compiler, *FLAGS]).encode()).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "umpire-training"
    built = folder / f"attention-{name}.so"
    if not built.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as beside:  # two processes may build at once
            part = Path(beside) / "attention.so"
            done = subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(part)], capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{compiler} failed: attention in plain PyTorch, which is slower\n{done.stderr[:2000]}", file=sys.stderr)
                return None
            os.replace(part, built)
    return ctypes.CDLL(str(built))


def fits(qkv: Tensor, heads: int) -> bool:
    """Rows may lie apart, their numbers must not."""
    return (qkv.device.type == "cpu" and qkv.dtype in (torch.float32, torch.bfloat16)
            and qkv.shape[1] == 3 * heads * HEAD_SIZE and qkv.stride(1) == 1 and library() is not None)


def tasks_of(runs: Runs, qkv: Tensor, state: Tensor, heads: int) -> Tasks:
    pointers = [getattr(runs, name).data_ptr() for name in ("starts", "first_span", "span_starts", "span_lengths", "branches", "scales")]
    return Tasks(len(runs.scales), heads, *pointers, qkv.data_ptr(), qkv.stride(0), state.data_ptr(), state.stride(0))


def attend(runs: Runs, qkv: Tensor, state: Tensor, out: Tensor, logs: Tensor) -> None:
    tasks = tasks_of(runs, qkv, state, logs.shape[1])
    library().attend(ctypes.byref(tasks), pointer(out), pointer(logs))


def attend_backward(runs: Runs, qkv: Tensor, state: Tensor, grad: Tensor, logs: Tensor, by_qkv: Tensor, by_state: Tensor) -> None:
    """by_qkv is written, by_state added to"""
    tasks = tasks_of(runs, qkv, state, logs.shape[1])
    library().attend_backward(ctypes.byref(tasks), *map(pointer, (grad, logs, by_qkv, by_state)), ctypes.c_int64(by_state.stride(0)))


def pointer(x: Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(x.data_ptr())


class RunsAttention(torch.autograd.Function):
    """qkv [tokens, 3 · hidden] of the runs, state [state tokens, 2 · hidden] keys and values -> [tokens, hidden]"""

    @staticmethod
    def forward(ctx, qkv: Tensor, state: Tensor, runs: Runs, heads: int) -> Tensor:
        out, logs = qkv.new_empty(len(qkv), heads * HEAD_SIZE), qkv.new_empty(len(qkv), heads)
        attend(runs, qkv, state, out, logs)
        ctx.save_for_backward(qkv, state, logs)
        ctx.runs = runs
        return out

    @staticmethod
    def backward(ctx, grad: Tensor):
        qkv, state, logs = ctx.saved_tensors
        by_qkv, by_state = qkv.new_empty(qkv.shape), state.new_zeros(state.shape)
        attend_backward(ctx.runs, qkv, state, grad.contiguous(), logs, by_qkv, by_state)
        return by_qkv, by_state, None, None


class LayerAttention(torch.autograd.Function):
    """Windows and rows of a layer whose rows read the windows' own keys and values: qkv [tokens, 3 · hidden], the state's first
    -> [tokens, hidden]. One for both: slices of qkv would each have a gradient as large as qkv."""

    @staticmethod
    def forward(ctx, qkv: Tensor, windows: Runs, rows: Runs, state_tokens: int, heads: int) -> Tensor:
        out, logs = qkv.new_empty(len(qkv), heads * HEAD_SIZE), qkv.new_empty(len(qkv), heads)
        state = qkv[:, heads * HEAD_SIZE:]
        attend(windows, qkv, state, out, logs)
        attend(rows, qkv[state_tokens:], state, out[state_tokens:], logs[state_tokens:])
        ctx.save_for_backward(qkv, logs)
        ctx.windows, ctx.rows, ctx.state_tokens = windows, rows, state_tokens
        return out

    @staticmethod
    def backward(ctx, grad: Tensor):
        qkv, logs = ctx.saved_tensors
        first, hidden, grad, by_qkv = ctx.state_tokens, grad.shape[1], grad.contiguous(), torch.empty_like(qkv)
        state, by_state = qkv[:, hidden:], by_qkv[:, hidden:]
        attend_backward(ctx.windows, qkv, state, grad, logs, by_qkv, by_state)
        attend_backward(ctx.rows, qkv[first:], state, grad[first:], logs[first:], by_qkv[first:], by_state)
        return by_qkv, None, None, None, None
