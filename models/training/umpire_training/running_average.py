"""The weights of a run, averaged over its last steps.

A run keeps its rate level for long (so that it can go on for as long as it gains), and weights under a level rate are
noisy. Their average answers better than they do, at no cost, at any moment (TRIALS.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

WARM_UP = 3


class RunningAverage:
    """Of the parameters that are trained; `steps` is how many steps back it reaches, about."""

    def __init__(self, model: nn.Module, steps: int):
        self.reach, self.seen = steps, 0
        self.parameters = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
        self.mean = {name: parameter.detach().clone() for name, parameter in self.parameters.items()}

    @torch.no_grad()
    def add(self) -> None:
        """After a step. Of a young run it is over its last third: what a run starts with is no part of it."""
        self.seen += 1
        share = max(1 / self.reach, WARM_UP / (WARM_UP + self.seen))
        torch._foreach_lerp_(list(self.mean.values()), [parameter.detach() for parameter in self.parameters.values()], share)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model has the averaged weights within."""
        self.swap()
        try:
            yield
        finally:
            self.swap()

    @torch.no_grad()
    def swap(self) -> None:
        for name, parameter in self.parameters.items():
            own = parameter.detach().clone()
            parameter.copy_(self.mean[name])
            self.mean[name] = own

    def state(self) -> dict:
        return {"seen": self.seen, "mean": self.mean}

    def restore(self, saved: dict[str, int | dict[str, Tensor]]) -> None:
        self.seen = saved["seen"]
        for name, value in saved["mean"].items():
            self.mean[name].copy_(value)
