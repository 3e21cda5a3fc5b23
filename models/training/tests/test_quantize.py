"""int8 weights: ranges, and that compensation and smoothing do what they are for."""

import numpy as np

from umpire_training.quantize import InputStatistics, Quantizer, quantize_columns, quantize_rows

RNG = np.random.default_rng(0)


def correlated(rows: int, width: int) -> np.ndarray:
    mix = RNG.standard_normal((width // 4, width))
    return (RNG.standard_normal((rows, width // 4)) @ mix + 0.1 * RNG.standard_normal((rows, width))).astype(np.float32)


def test_matrices_stay_in_seven_bits():
    levels, scales = quantize_columns(RNG.standard_normal((64, 48)).astype(np.float32))
    assert levels.dtype == np.int8 and np.abs(levels).max() <= 64 and scales.shape == (48,)


def test_a_column_of_zeros_stays_zero():
    weight = RNG.standard_normal((16, 3)).astype(np.float32)
    weight[:, 1] = 0
    levels, scales = quantize_columns(weight)
    assert not levels[:, 1].any() and np.isfinite(scales).all()


def test_rows_of_a_table_are_close():
    table = RNG.standard_normal((50, 384)).astype(np.float32) * np.linspace(0.01, 10, 50, dtype=np.float32)[:, None]
    levels, scales = quantize_rows(table)
    assert scales.shape == (50, 1)
    assert (np.linalg.norm(levels * scales - table, axis=1) / np.linalg.norm(table, axis=1)).max() < 0.02


def test_compensation_lowers_the_error_of_the_product():
    x, weight = correlated(500, 128), RNG.standard_normal((128, 64)).astype(np.float32)

    def error(levels, scales):
        return np.linalg.norm(x @ (levels * scales) - x @ weight)

    assert error(*quantize_columns(weight, x.T @ x)) < 0.7 * error(*quantize_columns(weight))


def test_smoothing_divides_only_what_stands_out():
    x = RNG.standard_normal((300, 32)).astype(np.float32)
    x[:, 5] *= 50
    statistics = InputStatistics(32)
    statistics.add(x)
    weight = RNG.standard_normal((32, 16)).astype(np.float32)
    matrix = Quantizer({"x": statistics}).matrix("layer", weight, "x")
    assert matrix.smoothing is not None and matrix.smoothing[5] > 5 and np.delete(matrix.smoothing, 5).max() < 2
    product = (x / matrix.smoothing) @ (matrix.levels * matrix.scales)
    assert np.linalg.norm(product - x @ weight) < 0.03 * np.linalg.norm(x @ weight)
