"""The exported graphs behind the methods of `KevModel`, so that `reference.forward_request` runs them as the server does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from .model import Shape
from .runtime import open_session

GRAPHS = ("encode", "answer", "head")


class OnnxKev:
    """`encode`, `answer` and `head` as `KevModel` has them; torch tensors in and out."""

    def __init__(self, sessions: Mapping, shape: Shape = Shape()):
        """`sessions` by the names of `GRAPHS`"""
        self.sessions, self.shape = sessions, shape
        self.cache_names = [f"{kind}_{layer}" for layer in range(shape.layers) for kind in ("key", "value")]

    @classmethod
    def open(cls, folder: Path, precision: str, threads: int = 1) -> "OnnxKev":
        return cls.open_named(folder, {name: f"{name}.{precision}.onnx" for name in GRAPHS}, threads)

    @classmethod
    def open_named(cls, folder: Path, files: Mapping[str, str], threads: int = 1) -> "OnnxKev":
        """`files` by role, as a manifest has them"""
        return cls({name: open_session(folder / files[name], threads) for name in GRAPHS})

    def run(self, graph: str, **feeds: Tensor) -> list[Tensor]:
        found = self.sessions[graph].run(None, {name: value.numpy() for name, value in feeds.items()})
        return [torch.from_numpy(value) for value in found]

    def encode(self, token_ids: Tensor, segment: Tensor, window_index: Tensor) -> list[tuple[Tensor, Tensor]]:
        found = self.run("encode", token_ids=token_ids, segment=segment, window_index=window_index)
        return list(zip(found[0::2], found[1::2]))

    def answer(self, token_ids: Tensor, positions: Tensor, branch: Tensor, pieces: Tensor, cache: list) -> Tensor:
        flat = dict(zip(self.cache_names, (part for pair in cache for part in pair)))
        return self.run("answer", token_ids=token_ids, positions=positions, branch=branch, pieces=pieces, **flat)[0]

    def head(self, option_vectors: Tensor, question_type: Tensor, levels: Tensor) -> Tensor:
        return self.run("head", option_vectors=option_vectors, question_type=question_type, levels=levels)[0]
