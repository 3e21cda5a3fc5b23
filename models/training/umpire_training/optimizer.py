"""The steps of a run: Muon for the matrices of the encoder's layers, AdamW for all else.

AdamW scales every number of a gradient by itself. Muon takes a matrix as a whole: its step is the nearest matrix that turns
and mirrors but does not stretch, so that rare directions move as far as common ones (Jordan and others, 2024,
https://kellerjordan.github.io/posts/muon). Scaled to the size of AdamW's steps (Liu and others, 2025, arXiv:2502.16982) it
takes the same rate; here it learns more from the same questions (TRIALS.md). PyTorch has one, too, which computes in bfloat16 always:
a processor without instructions for that takes sixty times as long. Ours does so where the run itself computes in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

# The five polynomials' coefficients: they bring singular values near 1 in five rounds from any start (the same source).
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ROUNDS = 5
SIZE = 0.2  # root mean square of a step at rate 1, about that of AdamW's
NEW = ("head_module", "piece_projection", "lead_projection", "pair_projection", "window_indexes")


def alone(parts: list[Tensor]) -> list[Tensor]:
    return parts


def orthogonal(matrix: Tensor, fast: bool = False) -> Tensor:
    """-> about U Vᵀ of the matrix's U S Vᵀ, by Newton's and Schulz's iteration; singular values end between 0.7 and 1.2.

    fast: squares in bfloat16
    """
    wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    wide = wide / (wide.norm() + 1e-7)
    if wide.shape[0] == wide.shape[1]:
        wide = by_itself(wide.bfloat16() if fast else wide).float()
    else:  # by the small square of rows alone, a third less work; never in bfloat16
        wide = by_its_rows(wide)
    return wide.T if matrix.shape[0] > matrix.shape[1] else wide


def by_itself(wide: Tensor) -> Tensor:
    a, b, c = COEFFICIENTS
    for _ in range(ROUNDS):
        gram = wide @ wide.T
        wide = a * wide + (b * gram + c * gram @ gram) @ wide
    return wide


def by_its_rows(wide: Tensor) -> Tensor:
    """The same: every round multiplies from the left with a polynomial of the products of rows, which it changes alike.

    Of what rounding makes negative in these products a round makes twelve times as much: bfloat16's digits end in numbers without bound.
    """
    a, b, c = COEFFICIENTS
    gram, turned = wide @ wide.T, None
    for _ in range(ROUNDS):
        factor = b * gram + c * gram @ gram
        factor.diagonal().add_(a)
        turned = factor if turned is None else factor @ turned
        gram = factor @ gram @ factor
    return turned @ wide


class Muon(torch.optim.Optimizer):
    """Of matrices only.

    rank, count, add_up: of several processes with the same gradients each computes the steps of some matrices, and `add_up` gives
    all of them the sum, which is what each needs: what it has not computed is zero.
    """

    def __init__(self, parameters: list[nn.Parameter], lr: float, weight_decay: float, momentum: float = 0.95,
                 rank: int = 0, count: int = 1, add_up: Callable[[list[Tensor]], list[Tensor]] = alone, fast: bool = False):
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})
        self.rank, self.count, self.add_up, self.fast = rank, count, add_up, fast

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            steps = self.add_up([self.direction(parameter, group["momentum"], number) for number, parameter in enumerate(parameters)])
            for parameter, step in zip(parameters, steps, strict=True):
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
                parameter.add_(step, alpha=-group["lr"] * SIZE * math.sqrt(max(parameter.shape)))

    def direction(self, parameter: nn.Parameter, momentum: float, number: int) -> Tensor:
        """The matrix's step, or zeros where another process computes it; its average of gradients is kept in all."""
        state = self.state[parameter]
        if "average" not in state:
            state["average"] = torch.zeros_like(parameter)
        state["average"].mul_(momentum).add_(parameter.grad)
        if number % self.count != self.rank:
            return torch.zeros_like(parameter)
        return orthogonal(parameter.grad.add(state["average"], alpha=momentum), self.fast)


class Optimizers:
    """Both as one, with groups of parameters of their own rates."""

    def __init__(self, parts: list[torch.optim.Optimizer]):
        self.parts = parts
        self.rates(1.0)

    def rates(self, factor: float) -> None:
        """All rates at that share of the configuration's."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = group["base_lr"] * factor

    def zero_grad(self) -> None:
        for part in self.parts:
            part.zero_grad(set_to_none=True)

    def step(self) -> None:
        for part in self.parts:
            part.step()

    def state(self) -> list[dict]:
        return [part.state_dict() for part in self.parts]

    def restore(self, saved: list[dict]) -> None:
        """Rates stay the configuration's, which may have changed since."""
        for part, state in zip(self.parts, saved, strict=True):
            rates = [group["base_lr"] for group in part.param_groups]
            part.load_state_dict(state)
            for group, rate in zip(part.param_groups, rates, strict=True):
                group["base_lr"] = rate


def optimizer_for(model: nn.Module, config: dict, rank: int = 0, count: int = 1, add_up=alone, fast: bool = False) -> Optimizers:
    """Matrices of the layers by Muon, at their own rate. Two rates for all else; biases, norms and embeddings without decay.

    fast: as of `orthogonal`
    """
    matrices: list[nn.Parameter] = []
    groups: dict[tuple, list] = {}
    for name, parameter in model.named_parameters():
        if name.split(".")[0] in config["freeze"]:
            parameter.requires_grad_(False)
            continue
        if parameter.ndim == 2 and name.startswith(("layers.", "state_")):
            matrices.append(parameter)
            continue
        # the match starts as a copy: the encoder's rate
        rate = "head_lr" if name.startswith(NEW) else "backbone_lr"
        decays = parameter.ndim == 2 and "embedding" not in name and "indexes" not in name and "match.weight" not in name
        groups.setdefault((config[rate], config["weight_decay"] if decays else 0.0), []).append(parameter)
    rest = [{"params": found, "lr": rate, "base_lr": rate, "weight_decay": decay} for (rate, decay), found in groups.items()]
    layers = [{"params": matrices, "base_lr": config["layers_lr"]}]
    return Optimizers([torch.optim.AdamW(rest, betas=(0.9, 0.98), fused=True),
                       Muon(layers, config["layers_lr"], config["weight_decay"], rank=rank, count=count, add_up=add_up, fast=fast)])
