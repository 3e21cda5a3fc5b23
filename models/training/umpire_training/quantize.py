"""int8 weights: symmetric, one scale per column of a matrix or per row of a table.

The runtime quantises activations while it runs, with one scale for a whole tensor (`DynamicQuantizeMatMul`). Two steps
make that close to fp32, both exact rewrites or roundings of the weights, from activations seen on calibration texts:
- smoothing: an input channel much larger than the others is divided by a factor, its weights multiplied by it;
- rounding with compensation (GPTQ, https://arxiv.org/abs/2210.17323): each input's rounding error is spread over the
  inputs not yet rounded, by how they vary together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

# 7 bits for matrices ("reduce_range"): hosts without VNNI add two products in 16 bits, 2 × 255 × 64 still fits.
MATRIX_LEVELS = 64
TABLE_LEVELS = 127
# A slightly clipped range is often closer in the mean square than the full one.
CLIPS = tuple(np.linspace(1.0, 0.7, 13))
# Channels above this multiple of the median channel are smoothed.
SMOOTH_ABOVE = 2.5
# Share of the mean diagonal added to the Gram matrix: keeps it invertible where channels never fire.
DAMPING = 0.01
# Rows that hand their error on one by one; after a block it goes to all later rows in one product.
BLOCK = 64
ROWS_AT_ONCE = 2048


class InputStatistics:
    """What one linear layer read on the calibration texts."""

    def __init__(self, width: int):
        self.largest = np.zeros(width, np.float32)  # [in] largest magnitude per channel
        self._gram = np.zeros((width, width))
        self._waiting: list[np.ndarray] = []

    def add(self, x: np.ndarray) -> None:
        """x `[tokens, in]`"""
        self.largest = np.maximum(self.largest, np.abs(x).max(axis=0))
        self._waiting.append(x)
        if sum(map(len, self._waiting)) >= ROWS_AT_ONCE:
            self._flush()

    def gram(self) -> np.ndarray:
        """Sum of x xᵀ, `[in, in]`"""
        if self._waiting:
            self._flush()
        return self._gram

    def _flush(self) -> None:
        rows = np.concatenate(self._waiting)
        self._waiting.clear()
        self._gram += rows.T @ rows

    def smoothing(self) -> np.ndarray | None:
        """Factors `[in]` ≥ 1 by which channels are divided, or None when no channel stands out."""
        factors = self.largest / (SMOOTH_ABOVE * max(float(np.median(self.largest)), 1e-6))
        return np.maximum(factors, 1).astype(np.float32) if factors.max() > 1 else None


@dataclass
class QuantizedMatrix:
    """`smoothing` divides the input's channels before the product; None when it is all ones."""

    levels: np.ndarray  # int8 [in, out]
    scales: np.ndarray  # float32 [out]
    smoothing: np.ndarray | None  # float32 [in]


class Quantizer:
    """Quantises each matrix once, however many graphs use it."""

    def __init__(self, statistics: Mapping[str, InputStatistics] | None = None):
        """`statistics` by the name of what a layer reads; without them weights are rounded to the nearest."""
        self.statistics = statistics or {}
        self.matrices: dict[str, QuantizedMatrix] = {}

    def matrix(self, name: str, weight: np.ndarray, reads: str) -> QuantizedMatrix:
        """`weight` `[in, out]`"""
        if name not in self.matrices:
            seen = self.statistics.get(reads)
            smoothing = seen.smoothing() if seen else None
            factors = np.ones(len(weight), np.float32) if smoothing is None else smoothing
            gram = seen.gram() / np.outer(factors, factors) if seen else None
            levels, scales = quantize_columns(weight * factors[:, None], gram)
            self.matrices[name] = QuantizedMatrix(levels, scales, smoothing)
        return self.matrices[name]


def quantize_columns(weight: np.ndarray, gram: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """`[in, out]` float → int8 `[in, out]` in ±64 and float32 scales `[out]`; with `gram` `[in, in]` errors are compensated."""
    weight = weight.astype(np.float32)
    scale = _best_scale(weight, axis=0, levels=MATRIX_LEVELS)
    levels = _round(weight, scale, MATRIX_LEVELS) if gram is None else _round_compensated(weight, scale[0], gram)
    return levels.astype(np.int8), scale[0]


def quantize_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`[rows, width]` float → int8 `[rows, width]` in ±127 and float32 scales `[rows, 1]`."""
    table = table.astype(np.float32)
    scale = _best_scale(table, axis=1, levels=TABLE_LEVELS)
    return _round(table, scale, TABLE_LEVELS).astype(np.int8), scale


def _best_scale(array: np.ndarray, axis: int, levels: int) -> np.ndarray:
    """Per slice along the other axis, the clip of `CLIPS` with the least squared error; keeps `axis` with length 1."""
    largest = np.maximum(np.abs(array).max(axis=axis, keepdims=True), 1e-12)
    best_error = np.full(largest.shape, np.inf, np.float32)
    best = largest / levels
    for clip in CLIPS:
        scale = (largest * clip / levels).astype(np.float32)
        error = ((_round(array, scale, levels) * scale - array) ** 2).sum(axis=axis, keepdims=True)
        best = np.where(error < best_error, scale, best)
        best_error = np.minimum(error, best_error)
    return best.astype(np.float32)


def _round_compensated(weight: np.ndarray, scale: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """GPTQ: rows (inputs) are rounded one after another, strongest first; later rows take up the error of earlier ones."""
    order = np.argsort(-np.diag(gram), kind="stable")
    rest = weight[order].astype(np.float64)
    damped = gram[np.ix_(order, order)] + np.eye(len(gram)) * DAMPING * np.diag(gram).mean()
    # Row i of the upper factor of the inverse says how error in input i is best taken up by the inputs after it.
    upper = np.linalg.cholesky(np.linalg.inv(damped)).T
    levels = np.zeros_like(rest)
    for start in range(0, len(rest), BLOCK):
        end = min(start + BLOCK, len(rest))
        errors = np.zeros_like(rest[start:end])
        for i in range(start, end):
            levels[i] = _round(rest[i], scale, MATRIX_LEVELS)
            errors[i - start] = (rest[i] - levels[i] * scale) / upper[i, i]
            rest[i + 1 : end] -= np.outer(upper[i, i + 1 : end], errors[i - start])
        rest[end:] -= upper[start:end, end:].T @ errors
    result = np.empty_like(levels)
    result[order] = levels
    return result


def _round(array: np.ndarray, scale: np.ndarray, levels: int) -> np.ndarray:
    return np.clip(np.rint(array / scale), -levels, levels)
