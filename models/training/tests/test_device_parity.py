"""What is told of answers that differ: how many, with what certainty, and how near their first two options were."""

from __future__ import annotations

import pytest

from umpire_training.device_parity import Comparison, interval, margin_of


def test_the_interval_of_a_share_is_wilsons():
    assert interval(399, 405) == pytest.approx((0.9681, 0.9932), abs=1e-4)
    low, high = interval(10, 10)
    assert low == pytest.approx(0.7225, abs=1e-4) and high == pytest.approx(1.0)


def test_margins_are_those_of_what_is_wanted():
    comparison = Comparison()
    comparison.add(0, [[0.5, 0.3, 0.2], [0.52, 0.48]], [[0.45, 0.35, 0.2], [0.48, 0.52]])
    assert [changed for _, changed in comparison.margins] == [False, True]
    assert [margin for margin, _ in comparison.margins] == pytest.approx([0.2, 0.04])
    assert comparison.gap.changed == 1
    assert margin_of([1.0]) == 1.0
