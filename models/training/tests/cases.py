"""Requests that take every path, and both ways of answering them."""

import random

import torch

from umpire_training.batch import Batch, collate
from umpire_training.model import KevModel
from umpire_training.prompts import Limits, PreparedRequest, Question, Text, prepare
from umpire_training.reference import readout

STATE = "Customer: I was charged twice for order 1182 and nobody answers. " * 3
CHOICE = Question("choice", "Which team?", [("billing", "payments, refunds"), ("technical", None), ("sales", "new plans")])
NOUL = Question("noul", "Is the customer angry?", [("false", None), ("true", "shows anger")])
SCORE = Question("score", "How urgent?", [("", "can wait"), ("", "soon"), ("", "now")])
SMALL = Limits(window_tokens=64, branch_tokens=90, max_window_index=2)


def long_text(words: int, seed: int) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choice(["server", "refund", "incomprehensibilities", "delay", "ünïcode", "[SEP]"]) for _ in range(words))


def requests() -> list[tuple[str, list[Question]]]:
    """Several windows, instructions longer than one, options in pieces and in several chunks, no text at all."""
    many = [(f"label_{i}", long_text(6, i) if i % 2 else None) for i in range(70)]
    return [
        (STATE, [CHOICE, NOUL, SCORE]),
        ("", [NOUL]),
        (long_text(700, 1), [Question("choice", long_text(400, 2), many), SCORE]),
        ("short", [Question("choice", "", [("a", long_text(300, 3)), ("b", None), ("", None)])]),
    ]


def prepare_all(text: Text, limits: Limits = Limits()) -> list[PreparedRequest]:
    return [prepare(state, questions, text, limits) for state, questions in requests()]


@torch.inference_mode()
def logits_of(model: KevModel, batch: Batch) -> list[torch.Tensor]:
    """Per question, in the model's order of options."""
    return [row[: len(places)] for row, places in zip(model.forward_batch(batch), batch.places)]


def batched(model: KevModel, text: Text, cases, limits: Limits = Limits()) -> list[list[float]]:
    """Per question, in the order of the request."""
    batch = collate([prepare(state, questions, text, limits) for state, questions in cases], limits.max_window_index)
    return [readout(row, places) for row, places in zip(logits_of(model, batch), batch.places)]
