"""The three graphs of a decision model as onnxruntime sessions: numpy in, numpy out, keys and values as they come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Sequence

import numpy as np
import onnxruntime as ort

from .settings import Settings
from .texts import Chunk

# Keys and values of one window, or of several joined: a tensor for each name of `cache_names`.
Cache = Sequence[Any]


def open_session(path: Path, settings: Settings) -> ort.InferenceSession:
    options = ort.SessionOptions()
    # Without it CPUs that lack VNNI add int8 products in 16 bits, which overflow: a matter of right answers, not of speed.
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.intra_op_num_threads = settings.intra_threads
    if not settings.spinning:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = settings.arena
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Graphs:
    def __init__(self, settings: Settings, manifest: dict[str, Any]):
        files = manifest["graphs"]["int8"]
        self._use_ort_values = settings.ort_values
        sessions = {name: open_session(settings.model_folder / file, settings) for name, file in files.items()}
        self._encode, self._answer, self._head = sessions["encode"], sessions["answer"], sessions["head"]
        # The three in one run, for short documents; a model may come without it.
        self._decide = sessions.get("decide")
        outputs = self._encode.get_outputs()
        self._cache_names = [output.name for output in outputs]
        # The one dimension without a number is that of the tokens.
        self._token_axes = [next(axis for axis, size in enumerate(output.shape) if isinstance(size, str)) for output in outputs]

    def encode(self, token_ids: list[int], segment: int, index: int) -> Cache:
        """One window -> its keys and values."""
        feeds = {"token_ids": row(token_ids), "segment": integers([segment]), "window_index": integers([index])}
        if not self._use_ort_values:
            return self._encode.run(None, feeds)
        values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
        return self._encode.run_with_ort_values(None, values)

    def join(self, windows: list[Cache]) -> Cache:
        """Windows one after the other; a single one as it is."""
        if len(windows) == 1:
            return windows[0]
        parts = [[to_numpy(tensor) for tensor in window] for window in windows]
        return [np.concatenate(tensors, axis=axis) for axis, tensors in zip(self._token_axes, zip(*parts))]

    @property
    def can_decide_at_once(self) -> bool:
        return self._decide is not None

    def decide(self, token_ids: list[int], chunk: Chunk, question_type: int, levels: list[int]) -> tuple[np.ndarray, Cache]:
        """A window and a chunk with one piece per option -> logits [options], keys and values of the window."""
        assert self._decide is not None
        feeds = {
            "state_ids": row(token_ids),
            **chunk_feeds(chunk),
            "question_type": integers([question_type]),
            "levels": row(levels),
        }
        if not self._use_ort_values:
            logits, *cache = self._decide.run(None, feeds)
            return logits[0], cache
        values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
        found, *kept = self._decide.run_with_ort_values(None, values)
        return found.numpy()[0], kept

    def answer(self, chunk: Chunk, cache: Cache) -> np.ndarray:
        """-> piece vectors [pieces, hidden]"""
        feeds: dict[str, Any] = {**chunk_feeds(chunk), **dict(zip(self._cache_names, cache))}
        if not self._use_ort_values:
            return self._answer.run(None, feeds)[0]
        values = {name: to_ort_value(tensor) for name, tensor in feeds.items()}
        return self._answer.run_with_ort_values(None, values)[0].numpy()

    def head(self, option_vectors: np.ndarray, question_type: int, levels: list[int]) -> np.ndarray:
        """-> logits [options]"""
        feeds = {
            "option_vectors": option_vectors[None],
            "question_type": integers([question_type]),
            "levels": row(levels),
        }
        return self._head.run(None, feeds)[0][0]


def integers(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def row(values: list[int]) -> np.ndarray:
    return integers(values)[None]


def chunk_feeds(chunk: Chunk) -> dict[str, np.ndarray]:
    return {
        "token_ids": row(chunk.token_ids),
        "positions": row(chunk.positions),
        "branch": row(chunk.branch),
        "pieces": np.arange(1, len(chunk.options) + 1, dtype=np.int64),
    }


def to_numpy(tensor: Any) -> np.ndarray:
    return tensor.numpy() if isinstance(tensor, ort.OrtValue) else tensor


def to_ort_value(tensor: Any) -> ort.OrtValue:
    return tensor if isinstance(tensor, ort.OrtValue) else ort.OrtValue.ortvalue_from_numpy(tensor)


def read_manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "model.json").read_text("utf-8"))
