"""Which labels of a task are alike in meaning, by the sentence vectors of the base model: the hard negatives of a choice."""

from __future__ import annotations

from pathlib import Path

import torch

from .evaluate import Cosine
from .prompts import Text
from .tasks import Task

FEWEST = 8  # labels; shorter lists are shown nearly whole anyway


def know_neighbours(tasks: list[Task], base: Path, text: Text) -> None:
    """Fills `near` of every choice task with a longer list of labels."""
    cosine = Cosine(base, text)
    for task in tasks:
        if task.type != "choice" or not task.labels or len(task.labels) < FEWEST:
            continue
        names = list(task.labels)
        vectors = torch.stack([cosine.vector(f"{name}: {task.labels[name]}" if task.labels[name] else name) for name in names])
        order = (vectors @ vectors.T).argsort(descending=True).tolist()
        task.near = {name: [names[j] for j in row if j != i] for i, (name, row) in enumerate(zip(names, order))}
