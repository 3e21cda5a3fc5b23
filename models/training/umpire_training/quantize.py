"""int8 weights: symmetric, one scale per column of a matrix or per row of a table.

Activations are quantised by the runtime while it runs (`DynamicQuantizeMatMul`); nothing here needs data.
"""

from __future__ import annotations

import numpy as np

# 7 bits for matrices ("reduce_range"): hosts without VNNI add two products in 16 bits, 2 × 255 × 64 still fits.
MATRIX_LEVELS = 64
TABLE_LEVELS = 127
# A slightly clipped range is often closer in the mean square than the full one.
CLIPS = tuple(np.linspace(1.0, 0.7, 13))


def quantize_columns(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`[in, out]` float → int8 `[in, out]` in ±64 and float32 scales `[out]`."""
    return _quantize(weight.astype(np.float32), axis=0, levels=MATRIX_LEVELS)


def quantize_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`[rows, width]` float → int8 `[rows, width]` in ±127 and float32 scales `[rows, 1]`."""
    levels, scales = _quantize(table.astype(np.float32), axis=1, levels=TABLE_LEVELS)
    return levels, scales[:, None]


def _quantize(array: np.ndarray, axis: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Per slice along the other axis, the clip of `CLIPS` with the least squared error."""
    largest = np.maximum(np.abs(array).max(axis=axis, keepdims=True), 1e-12)
    best_error = np.full(largest.shape, np.inf, np.float32)
    best_scale = largest / levels
    for clip in CLIPS:
        scale = (largest * clip / levels).astype(np.float32)
        error = ((_round(array, scale, levels) * scale - array) ** 2).sum(axis=axis, keepdims=True)
        best_scale = np.where(error < best_error, scale, best_scale)
        best_error = np.minimum(error, best_error)
    return _round(array, best_scale, levels).astype(np.int8), np.squeeze(best_scale, axis).astype(np.float32)


def _round(array: np.ndarray, scale: np.ndarray, levels: int) -> np.ndarray:
    return np.clip(np.rint(array / scale), -levels, levels)
