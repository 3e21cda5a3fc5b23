"""Positions, segments and window indexes: of the rows, and as the model is given them."""

import pytest
import torch

from cases import NOUL, SMALL, batched, logits_of, long_text, prepare_all
from umpire_training.batch import collate
from umpire_training.model import KevModel
from umpire_training.prompts import Limits, Question, prepare
from umpire_training.reference import forward_request


@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_siblings_start_at_the_same_position(text, limits):
    for request in prepare_all(text, limits):
        for chunk in (chunk for question in request.questions for chunk in question.chunks):
            instructions = chunk.branch.count(0)
            assert chunk.positions[:instructions] == list(range(instructions))
            for piece, length in enumerate(chunk.lengths, 1):
                own = [position for position, branch in zip(chunk.positions, chunk.branch) if branch == piece]
                assert own == list(range(instructions, instructions + length))
            assert max(chunk.positions) < 512


@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_a_batch_holds_the_same_numbers(text, limits):
    prepared = prepare_all(text, limits)
    batch = collate(prepared, limits.max_window_index)
    chunks = [chunk for request in prepared for question in request.questions for chunk in question.chunks]
    branches, state = slice(batch.state_tokens, None), slice(batch.state_tokens)
    packed = zip(*(part[branches].tolist() for part in (batch.token_ids, batch.positions)))
    assert sorted(packed) == sorted((token, place) for chunk in chunks for token, place in zip(chunk.token_ids, chunk.positions))
    assert (batch.segments[branches] == 1).all()
    windows = [(ids, segment, min(number, limits.max_window_index)) for request in prepared
               for segment, group in ((0, request.windows), *((1, question.windows) for question in request.questions))
               for number, ids in enumerate(group)]
    packed = zip(*(part[state].tolist() for part in (batch.token_ids, batch.positions, batch.segments)), batch.window_index.tolist())
    assert sorted(packed) == sorted((token, place, segment, index) for ids, segment, index in windows for place, token in enumerate(ids))


class Recorder:
    """A model that writes down what `encode` is asked."""

    def __init__(self, model: KevModel):
        self.model, self.shape, self.runs = model, model.shape, []

    def encode(self, token_ids, segment, window_index):
        self.runs.append((segment.item(), window_index.item()))
        return self.model.encode(token_ids, segment, window_index)

    def __getattr__(self, name):
        return getattr(self.model, name)


def test_windows_are_counted_from_the_start_and_instructions_anew(tiny, text):
    recorder = Recorder(tiny)
    question = Question("noul", "word " * 200, NOUL.options)
    forward_request(recorder, text, "server " * 300, [question, question], SMALL)
    instructions = [(1, 0), (1, 1), (1, 2)]  # 200 words, 62 a window: the last 14 are in the branch
    assert recorder.runs == [(0, 0), (0, 1), (0, 2), (0, 2), (0, 2), *instructions, *instructions]


@torch.inference_mode()
def test_segment_and_window_index_count(tiny):
    ids = torch.tensor([[101, 2000, 102]])
    keys = [tiny.encode(ids, torch.tensor([s]), torch.tensor([i]))[0][0] for s, i in ((0, 0), (1, 0), (0, 1))]
    assert not torch.allclose(keys[0], keys[1]) and not torch.allclose(keys[0], keys[2])


def swapped(text, limits=Limits()):
    """A state of several windows, and the same with the first two exchanged."""
    first, other = (prepare(long_text(300, 7), [NOUL], text, limits) for _ in range(2))
    assert len(first.windows) > 2
    other.windows[:2] = other.windows[1::-1]
    return first, other


def test_order_of_windows_shows_in_the_index_only(tiny, text):
    def answers():
        return [logits_of(tiny, collate([request]))[0] for request in swapped(text)]

    weight = tiny.window_indexes.weight
    torch.nn.init.normal_(weight)
    assert not torch.allclose(*answers(), atol=1e-5)
    with torch.no_grad():
        weight.copy_(weight[:1].expand(64, -1).clone())
    assert torch.allclose(*answers(), atol=1e-6)


def test_windows_beyond_the_last_index_are_alike(tiny, text):
    """With max_index 0 every window has index 0, so their order is invisible."""
    limits = Limits(max_window_index=0)
    before, after = (logits_of(tiny, collate([request], limits.max_window_index))[0] for request in swapped(text, limits))
    assert torch.allclose(before, after, atol=1e-6)


def test_position_of_the_branch_counts(tiny, text):
    """Positions reach the model: with other position weights the answers are others."""
    case = [("some state", [NOUL])]
    before = batched(tiny, text, case)
    with torch.no_grad():
        tiny.positions.weight[len(text.ids(NOUL.instructions)) + 2].add_(1.0)
    assert batched(tiny, text, case) != before
