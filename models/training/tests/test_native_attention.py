"""Attention in C++ gives what plain PyTorch gives, forward and backward; without a compiler training goes on."""

import pytest
import torch

from cases import SMALL, prepare_all
from conftest import random_model
from test_gradients import gradients
from umpire_training import attention, native_attention
from umpire_training.batch import collate
from umpire_training.model import Shape
from umpire_training.prompts import Limits


def answers(model, batch, weights):
    logits = model.forward_batch(batch)
    return logits.detach(), gradients(model, (logits * weights * batch.option_mask).sum())


@pytest.mark.skipif(native_attention.library() is None, reason="no C++ compiler: attention runs in plain PyTorch")
@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_logits_and_gradients_are_those_of_plain_attention(text, limits, monkeypatch):
    model = random_model(Shape(hidden=96, layers=3, heads=3, inner=64))
    prepared = prepare_all(text, limits)
    batch = collate(prepared, limits.max_window_index)
    weights = torch.randn(batch.option_mask.shape, generator=torch.Generator().manual_seed(4))
    calls, native = [], native_attention.attend_backward
    monkeypatch.setattr(native_attention, "attend_backward", lambda *given: (calls.append(1), native(*given)))
    logits, found = answers(model, batch, weights)
    assert len(calls) == 2 * 3
    monkeypatch.setattr(attention, "fits", lambda *_: False)
    expected_logits, expected = answers(model, batch, weights)
    assert len(calls) == 2 * 3
    assert torch.allclose(logits, expected_logits, atol=1e-5)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        assert torch.allclose(found[name], gradient, atol=1e-4 * float(gradient.abs().max()) + 1e-5), name


@pytest.mark.parametrize("compiler", ["false", "/nowhere/c++"])
def test_without_a_compiler_that_works_it_is_plain_pytorch(compiler, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("CXX", compiler)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    native_attention.library.cache_clear()
    try:
        assert not native_attention.fits(torch.zeros(3, 3 * 64), 2)
        assert "slower" in capsys.readouterr().err
    finally:
        native_attention.library.cache_clear()


def test_what_fits_has_heads_of_32_and_is_float32_or_bfloat16(monkeypatch):
    monkeypatch.setattr(native_attention, "library", object)
    assert native_attention.fits(torch.zeros(3, 3 * 64), 2)
    assert native_attention.fits(torch.zeros(3, 3 * 64, dtype=torch.bfloat16), 2)
    assert not native_attention.fits(torch.zeros(3, 3 * 64), 4)
    assert not native_attention.fits(torch.zeros(3, 3 * 64, dtype=torch.float64), 2)


@pytest.mark.skipif(native_attention.library() is None, reason="no C++ compiler: attention runs in plain PyTorch")
def test_in_bfloat16_it_is_as_near_to_float32_as_plain_attention(text, monkeypatch):
    model = random_model(Shape(hidden=96, layers=3, heads=3, inner=64))
    batch = collate(prepare_all(text, Limits()), Limits().max_window_index)
    exact = model.forward_batch(batch).detach()
    with torch.autocast("cpu", torch.bfloat16):
        native = model.forward_batch(batch).detach()
        monkeypatch.setattr(attention, "fits", lambda *_: False)
        plain = model.forward_batch(batch).detach()
    away, plain_away = ((found - exact)[batch.option_mask].square().mean() for found in (native, plain))
    assert 0 < away <= 1.1 * plain_away
