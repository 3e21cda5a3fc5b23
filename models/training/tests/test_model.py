"""Masks, positions, readout, isolation, order, and that both ways through the weights agree."""

import random

import pytest
import torch

from umpire_training.batch import collate
from umpire_training.prompts import Limits, Question, prepare
from umpire_training.reference import forward_request, readout

STATE = "Customer: I was charged twice for order 1182 and nobody answers. " * 3
CHOICE = Question("choice", "Which team?", [("billing", "payments, refunds"), ("technical", None), ("sales", "new plans")])
NOUL = Question("noul", "Is the customer angry?", [("false", None), ("true", "shows anger")])
SCORE = Question("score", "How urgent?", [("", "can wait"), ("", "soon"), ("", "now")])


def long_text(words: int, seed: int) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choice(["server", "refund", "incomprehensibilities", "delay", "ünïcode", "[SEP]"]) for _ in range(words))


def requests():
    many = [(f"label_{i}", long_text(6, i) if i % 2 else None) for i in range(70)]
    yield STATE, [CHOICE, NOUL, SCORE]
    yield "", [NOUL]
    yield long_text(700, 1), [Question("choice", long_text(400, 2), many), SCORE]
    yield "short", [Question("choice", "", [("a", long_text(300, 3)), ("b", None), ("", None)])]


def batched(model, text, cases, limits=Limits()):
    prepared = [prepare(state, questions, text, limits) for state, questions in cases]
    batch = collate(prepared, limits.max_window_index)
    with torch.inference_mode():
        logits = model.forward_batch(batch)
    return [readout(row[: len(places)], places) for row, places in zip(logits, batch.places)]


@pytest.mark.parametrize("limits", [Limits(), Limits(window_tokens=64, branch_tokens=90, max_window_index=2)])
def test_batched_equals_reference(model, text, limits):
    cases = list(requests())
    expected = [answer for state, questions in cases for answer in forward_request(model, text, state, questions, limits)[0]]
    for ours, theirs in zip(batched(model, text, cases, limits), expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-4)


def test_order_is_exact(model, text):
    many = [(f"option {i}", long_text(4, i)) for i in range(40)]
    first = forward_request(model, text, STATE, [Question("choice", "Which?", many)])[0][0]
    shuffled = list(range(40))
    random.Random(4).shuffle(shuffled)
    again = forward_request(model, text, STATE, [Question("choice", "Which?", [many[i] for i in shuffled])])[0][0]
    assert [first[i] for i in shuffled] == again


def test_questions_do_not_see_each_other(model, text):
    together = forward_request(model, text, STATE, [CHOICE, NOUL, SCORE])[0]
    assert together == [forward_request(model, text, STATE, [question])[0][0] for question in (CHOICE, NOUL, SCORE)]


def answer_vectors(model, ids, branch, cache):
    length = sum(1 for b in branch if b == 0)
    count = max(branch)
    positions, seen = [], {}
    for b in branch:
        seen[b] = seen.get(b, -1) + 1
        positions.append(seen[b] + (length if b else 0))
    tensors = (torch.tensor([part]) for part in (ids, positions, branch))
    return model.answer(*tensors, torch.arange(1, count + 1), cache)


@torch.inference_mode()
def test_sibling_options_do_not_see_each_other(model):
    cache = model.encode(torch.tensor([[101, 2000, 3000, 102]]), torch.tensor([0]), torch.tensor([0]))
    branch = [0, 0, 0, 1, 1, 2, 2, 2]
    ids = [101, 2054, 102, 3001, 102, 4001, 4002, 102]
    other = [101, 2054, 102, 3001, 102, 7001, 7002, 102]
    first, second = (answer_vectors(model, x, branch, cache) for x in (ids, other))
    assert torch.equal(first[0], second[0])
    assert not torch.allclose(first[1], second[1])


@torch.inference_mode()
def test_everything_reads_state_and_instructions(model):
    branch, ids = [0, 0, 0, 1, 1], [101, 2054, 102, 3001, 102]
    caches = [model.encode(torch.tensor([[101, word, 102]]), torch.tensor([0]), torch.tensor([0])) for word in (2000, 2001)]
    first, other_state = (answer_vectors(model, ids, branch, cache) for cache in caches)
    other_instructions = answer_vectors(model, [101, 2055, 102, 3001, 102], branch, caches[0])
    assert not torch.allclose(first, other_state) and not torch.allclose(first, other_instructions)


@torch.inference_mode()
def test_segment_and_window_index_count(model):
    ids = torch.tensor([[101, 2000, 102]])
    keys = [model.encode(ids, torch.tensor([s]), torch.tensor([i]))[0][0] for s, i in ((0, 0), (1, 0), (0, 1))]
    assert not torch.allclose(keys[0], keys[1]) and not torch.allclose(keys[0], keys[2])


def test_set_layer_starts_closed():
    from umpire_training.model import KevModel

    model = KevModel()
    vectors = torch.randn(1, 3, model.shape.hidden)
    kind, levels = torch.tensor([0]), torch.zeros(1, 3, dtype=torch.long)
    alone = model.head(vectors[:, :1], kind, levels[:, :1])
    assert torch.allclose(model.head(vectors, kind, levels)[:, :1], alone, atol=1e-5)


def test_readout_puts_back():
    assert readout(torch.tensor([0.0, 10.0, -10.0]), [2, 0, 1]) == pytest.approx([1, 0, 0], abs=1e-3)


def test_average_of_base_and_trained(base):
    from umpire_training.average import average
    from umpire_training.model import from_minilm

    start, trained = from_minilm(base), from_minilm(base)
    with torch.no_grad():
        trained.layers[0].query.bias.add_(1.0)
        trained.head_module.outer.bias.add_(1.0)
    mixed = average(trained, start, 0.25)
    assert torch.allclose(mixed.layers[0].query.bias - start.layers[0].query.bias, torch.tensor(0.75), atol=1e-5)
    assert torch.allclose(mixed.head_module.outer.bias - start.head_module.outer.bias, torch.tensor(1.0))
