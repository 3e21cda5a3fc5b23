"""Who sees whom: options no sibling, questions no other, the state no question, nobody padding."""

from dataclasses import replace

import pytest
import torch

from cases import CHOICE, NOUL, SCORE, SMALL, STATE, batched, logits_of, prepare_all, requests
from umpire_training.batch import collate
from umpire_training.prompts import Limits, Question, prepare
from umpire_training.reference import forward_request

BRANCH = [0, 0, 0, 1, 1, 2, 2, 2]
IDS = [101, 2054, 102, 3001, 102, 4001, 4002, 102]


def answer(model, cache, ids=IDS, branch=BRANCH):
    instructions = branch.count(0)
    positions = [i if b == 0 else instructions + branch[:i].count(b) for i, b in enumerate(branch)]
    tensors = (torch.tensor([part]) for part in (ids, positions, branch))
    return model.answer(*tensors, torch.arange(1, max(branch) + 1), cache)


def encode(model, ids, segment=0, index=0):
    return model.encode(torch.tensor([ids]), torch.tensor([segment]), torch.tensor([index]))


def test_branch_mask_is_the_rule(tiny):
    mask = tiny.branch_mask(torch.tensor([BRANCH]), 4)[0, 0] == 0
    for query, own in enumerate(BRANCH):
        assert mask[query].tolist() == [True] * 4 + [other in (0, own) for other in BRANCH]


@torch.inference_mode()
def test_sibling_options_do_not_see_each_other(tiny):
    cache = encode(tiny, [101, 2000, 3000, 102])
    first, second = (answer(tiny, cache, ids) for ids in (IDS, [*IDS[:5], 7001, 7002, 102]))
    assert torch.equal(first[0], second[0])
    assert not torch.allclose(first[1], second[1])


@torch.inference_mode()
def test_instructions_do_not_see_options(tiny):
    """What an option reads of the instructions is the same whatever the options are."""
    cache = encode(tiny, [101, 2000, 102])
    alone = answer(tiny, cache, IDS[:5], BRANCH[:5])
    assert torch.allclose(alone[0], answer(tiny, cache)[0], atol=1e-6)


@torch.inference_mode()
def test_everything_reads_state_and_instructions(tiny):
    caches = [encode(tiny, [101, word, 102]) for word in (2000, 2001)]
    first, other_state = (answer(tiny, cache) for cache in caches)
    other_instructions = answer(tiny, caches[0], [101, 2055, *IDS[2:]])
    for vectors in (other_state, other_instructions):
        assert ((first - vectors).abs().amax(-1) > 1e-4).all()


@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_rows_of_a_batch_see_exactly_what_they_may(text, limits):
    """Slot by slot: a branch token sees its own state, instructions and piece, once each, and nothing else."""
    prepared = prepare_all(text, limits)
    batch, row, start, window = collate(prepared, limits.max_window_index), 0, 0, 0
    starts = []  # of every window in the packed row
    for request in prepared:
        for ids in [*request.windows, *(ids for question in request.questions for ids in question.windows)]:
            starts.append(start)
            start += len(ids)
    assert start == batch.state_tokens
    for request in prepared:
        state = {starts[window + i] + j for i, ids in enumerate(request.windows) for j in range(len(ids))}
        window += len(request.windows)
        for question in request.questions:
            extra = {starts[window + i] + j for i, ids in enumerate(question.windows) for j in range(len(ids))}
            window += len(question.windows)
            for chunk in question.chunks:
                own = range(start, start + len(chunk.token_ids))
                for place, branch in enumerate(chunk.branch):
                    shown = batch.key_slots[row][batch.row_mask[row, 0, place] == 0].tolist()
                    allowed = {slot for slot, other in zip(own, chunk.branch) if other in (0, branch)}
                    assert len(shown) == len(set(shown)) and set(shown) == state | extra | allowed
                start, row = own.stop, row + 1
    assert start == len(batch.token_ids) and row == len(batch.row_slots)


@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_padding_has_no_influence(tiny, text, limits):
    """Whatever the padded slots point at, the answers are the same to the bit."""
    batch = collate(prepare_all(text, limits), limits.max_window_index)
    random = torch.Generator().manual_seed(3)

    def scrambled(slots, real):
        return torch.where(real, slots, torch.randint(len(batch.token_ids), slots.shape, generator=random))

    windows, rows = batch.window_mask[:, 0, 0] == 0, torch.zeros(batch.row_slots.shape, dtype=torch.bool)
    rows.view(-1)[batch.row_flat] = True
    keys = (batch.row_mask[:, 0] == 0).any(1)
    other = replace(batch, window_slots=scrambled(batch.window_slots, windows),
                    row_slots=scrambled(batch.row_slots, rows), key_slots=scrambled(batch.key_slots, keys))
    assert not torch.equal(batch.key_slots, other.key_slots) and not torch.equal(batch.window_slots, other.window_slots)
    for ours, theirs in zip(logits_of(tiny, batch), logits_of(tiny, other), strict=True):
        assert torch.equal(ours, theirs)


def test_company_in_a_batch_has_no_influence(tiny, text):
    together = batched(tiny, text, requests())
    alone = [answers for case in requests() for answers in batched(tiny, text, [case])]
    for ours, theirs in zip(together, alone, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("changed", [
    Question("choice", "Which team?", [("banking", "payments, refunds"), ("technical", None), ("sales", "old plans")]),
    Question("noul", "Was the parcel lost?", [("false", None), ("true", "shows anger")]),
])
def test_another_question_changes_no_bit(tiny, text, changed):
    """Neither in the same request nor in another of the batch; as many tokens, so that the products are the same."""
    first = CHOICE if changed.type == "choice" else NOUL
    for cases in ([(STATE, [first, SCORE])], [(STATE, [first]), ("short", [SCORE])]):
        replaced = [(state, [changed if q is first else q for q in questions]) for state, questions in cases]
        before, after = batched(tiny, text, cases), batched(tiny, text, replaced)
        assert before[0] != after[0] and before[1] == after[1]


def test_questions_do_not_see_each_other(tiny, text):
    together = forward_request(tiny, text, STATE, [CHOICE, NOUL, SCORE])[0]
    assert together == [forward_request(tiny, text, STATE, [question])[0][0] for question in (CHOICE, NOUL, SCORE)]


def finished_states(model, prepared):
    """What branches read of the state in the last layer of the batch path: values of all windows, packed."""
    kept = []
    hook = model.state_value.register_forward_hook(lambda module, inputs, output: kept.append(output))
    logits_of(model, collate(prepared))
    hook.remove()
    return kept[0]


def test_the_state_does_not_see_questions(tiny, text):
    first, other = (prepare(STATE, [question], text) for question in (CHOICE, NOUL))
    assert torch.allclose(finished_states(tiny, [first]), finished_states(tiny, [other]), atol=1e-6)


def test_windows_do_not_see_each_other(tiny, text):
    prepared = prepare("refund " * 600, [NOUL], text)
    before = finished_states(tiny, [prepared])
    prepared.windows[1] = [101, *[2054] * (len(prepared.windows[1]) - 2), 102]
    after = finished_states(tiny, [prepared])
    first, second = len(prepared.windows[0]), len(prepared.windows[1])
    assert torch.equal(before[:first], after[:first]) and torch.equal(before[first + second:], after[first + second:])
    assert not torch.allclose(before[first: first + second], after[first: first + second])
