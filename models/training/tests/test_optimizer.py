"""Steps of matrices neither stretch nor depend on how many processes compute them; a run goes on where it stopped."""

import copy

import pytest
import torch

from umpire_training.optimizer import Muon, by_its_rows, by_itself, optimizer_for, orthogonal

CONFIG = {"freeze": ["words", "positions"], "backbone_lr": 1e-4, "layers_lr": 1e-4, "head_lr": 8e-4, "weight_decay": 0.01}


@pytest.mark.parametrize("shape", [(32, 32), (24, 96), (96, 24)])
def test_a_step_turns_as_the_gradient_does_and_stretches_nothing(shape):
    left, _, right = torch.linalg.svd(torch.randn(shape, generator=torch.Generator().manual_seed(1)), full_matrices=False)
    gradient = left @ torch.diag(torch.logspace(0, -2, min(shape))) @ right
    step = orthogonal(gradient)
    assert step.shape == gradient.shape
    along = torch.diagonal(left.T @ step @ right.T)
    assert 0.6 < along.min() and along.max() < 1.3
    across = left.T @ step @ right.T - torch.diag(along)
    assert across.abs().max() < 1e-3


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("shape", [(48, 48), (48, 192), (192, 48)])
def test_no_step_stretches_where_one_direction_is_nearly_all_of_the_gradient(shape, fast):
    for seed in range(5):
        random = torch.Generator().manual_seed(seed)
        one = torch.randn((shape[0], 1), generator=random) @ torch.randn((1, shape[1]), generator=random)
        step = orthogonal(one + 0.01 * torch.randn(shape, generator=random), fast)
        assert step.dtype == torch.float32 and torch.linalg.svdvals(step)[0] < 1.3


def test_a_square_in_bfloat16_is_the_same_but_for_its_digits():
    gradient = torch.randn((32, 32), generator=torch.Generator().manual_seed(3))
    exact, fast = orthogonal(gradient), orthogonal(gradient, fast=True)
    assert not torch.equal(exact, fast)
    assert (exact - fast).norm() < 0.08 * exact.norm()


def test_both_ways_give_the_same():
    wide = torch.randn((48, 160), generator=torch.Generator().manual_seed(2))
    wide = torch.diag(torch.logspace(0, -3, 48)) @ wide / (wide.norm() + 1e-7)
    assert torch.allclose(by_itself(wide), by_its_rows(wide), atol=1e-4)


def with_gradients(model, seed):
    random = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=random) if parameter.requires_grad else None
    return model


def test_processes_that_share_the_steps_take_the_same_ones(tiny):
    alone, shared = (with_gradients(copy.deepcopy(tiny), 5) for _ in range(2))
    together = [parameter for parameter in shared.layers[0].parameters() if parameter.ndim == 2]
    Muon([parameter for parameter in alone.layers[0].parameters() if parameter.ndim == 2], 1e-3, 0.01).step()
    other = Muon(together, 1e-3, 0.01, rank=1, count=2)
    parts = [other.direction(parameter, 0.95, number) for number, parameter in enumerate(together)]
    assert any(part.any() for part in parts) and not all(part.any() for part in parts)
    Muon(together, 1e-3, 0.01, rank=0, count=2, add_up=lambda own: [mine + its for mine, its in zip(own, parts, strict=True)]).step()
    for expected, found in zip(alone.layers[0].parameters(), shared.layers[0].parameters(), strict=True):
        assert torch.equal(expected, found)


def test_everything_that_is_trained_is_in_one_group_and_matrices_of_layers_are_in_muons(tiny):
    adam, muon = optimizer_for(tiny, CONFIG).parts
    groups = [{id(parameter) for group in part.param_groups for parameter in group["params"]} for part in (adam, muon)]
    assert not groups[0] & groups[1]
    for name, parameter in tiny.named_parameters():
        assert parameter.requires_grad == (id(parameter) in groups[0] | groups[1]) == (name not in ("words.weight", "positions.weight")), name
    of_muon = {name for name, parameter in tiny.named_parameters() if id(parameter) in groups[1]}
    assert len(of_muon) == 6 * len(tiny.layers) + 2 and "layers.0.query.weight" in of_muon and "state_value.weight" in of_muon


def test_a_run_goes_on_as_if_it_had_not_stopped(tiny):
    optimizer = optimizer_for(with_gradients(tiny, 5), CONFIG)
    optimizer.step()
    resumed = copy.deepcopy(tiny)
    again = optimizer_for(resumed, CONFIG)
    again.restore(copy.deepcopy(optimizer.state()))
    for each, model in ((optimizer, tiny), (again, resumed)):
        with_gradients(model, 6)
        each.rates(0.5)
        each.step()
    for expected, found in zip(tiny.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(expected, found)


def test_a_run_that_goes_on_takes_the_rates_of_the_configuration(tiny):
    saved = optimizer_for(with_gradients(tiny, 5), CONFIG)
    saved.step()
    again = optimizer_for(tiny, {**CONFIG, "head_lr": 4e-4, "backbone_lr": 2e-4, "layers_lr": 2e-4})
    again.restore(saved.state())
    again.rates(0.5)
    assert {group["lr"] for part in again.parts for group in part.param_groups} == {2e-4, 1e-4}
