"""The backward of packed attention is written by hand: it gives what automatic differentiation gives, run by run."""

import pytest
import torch

from cases import SMALL, prepare_all
from umpire_training.batch import collate
from umpire_training.prompts import Limits
from umpire_training.reference import encode_windows, question_logits


def gradients(model, loss):
    model.zero_grad(set_to_none=True)
    loss.backward()
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}


@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_gradients_of_a_batch_are_those_of_single_runs(tiny, text, limits):
    prepared, random = prepare_all(text, limits), torch.Generator().manual_seed(4)
    weights, single = [], torch.zeros(())
    for request in prepared:
        state = encode_windows(tiny, request.windows, 0, limits)
        for question in request.questions:
            logits = question_logits(tiny, question, state, limits)
            weights.append(torch.randn(len(logits), generator=random))
            single = single + (logits * weights[-1]).sum()
    expected = gradients(tiny, single)
    batch = collate(prepared, limits.max_window_index)
    logits = tiny.forward_batch(batch)
    found = gradients(tiny, sum((row[: len(weight)] * weight).sum() for row, weight in zip(logits, weights, strict=True)))
    for name, gradient in expected.items():
        assert torch.allclose(found[name], gradient, atol=2e-4 * float(gradient.abs().max()) + 1e-5), name
