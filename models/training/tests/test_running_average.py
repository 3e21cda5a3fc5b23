"""What the averaged weights are, and that a measurement leaves the run's own as they were."""

import pytest
import torch
from torch import nn

from conftest import random_model
from umpire_training.model import Shape, load, save
from umpire_training.running_average import RunningAverage


def moved(model: nn.Linear, average: RunningAverage, value: float, steps: int) -> None:
    for _ in range(steps):
        with torch.no_grad():
            model.weight.fill_(value)
        average.add()


@pytest.fixture
def model():
    model = nn.Linear(2, 2)
    model.bias.requires_grad_(False)
    return model


def test_it_forgets_what_it_started_with_and_reaches_as_many_steps_back(model):
    average = RunningAverage(model, 50)
    moved(model, average, 100.0, 30)
    moved(model, average, 1.0, 400)
    assert torch.allclose(average.mean["weight"], torch.ones(2, 2), atol=0.05)
    moved(model, average, 3.0, 50)
    assert 2.2 < float(average.mean["weight"][0, 0]) < 2.4  # 1 - 1/e of the way


def test_a_measurement_sees_the_average_and_the_run_goes_on_with_its_own(model):
    average = RunningAverage(model, 50)
    moved(model, average, 1.0, 20)
    with torch.no_grad():
        model.weight.fill_(9.0)
    mean = average.mean["weight"].clone()
    with pytest.raises(ValueError, match="stopped"), average.in_place():
        assert torch.equal(model.weight, mean)
        raise ValueError("stopped")
    assert torch.equal(model.weight, torch.full((2, 2), 9.0))
    assert torch.equal(average.mean["weight"], mean)
    assert "bias" not in average.mean


def test_a_checkpoint_brings_it_back_and_either_weights_can_be_loaded(tmp_path):
    model = random_model(Shape(hidden=36, layers=1, heads=6, inner=16, vocabulary=50, positions=8))
    average = RunningAverage(model, 50)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    average.add()
    save(model, tmp_path / "last.pt", average=average.state())
    again = RunningAverage(model, 50)
    again.restore(torch.load(tmp_path / "last.pt", weights_only=True)["average"])
    assert again.seen == 1
    assert all(torch.equal(again.mean[name], value) for name, value in average.mean.items())
    own, averaged = (dict(load(tmp_path / "last.pt", kind).named_parameters()) for kind in (False, True))
    assert all(torch.equal(value, own[name]) for name, value in model.named_parameters())
    assert all(torch.equal(value, averaged[name]) for name, value in average.mean.items())
    assert not torch.equal(own["words.weight"], averaged["words.weight"])
