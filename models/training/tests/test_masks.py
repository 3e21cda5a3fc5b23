"""Who sees whom: options no sibling, questions no other, the state no question, nobody padding."""

from dataclasses import replace
from itertools import accumulate

import pytest
import torch

from cases import CHOICE, NOUL, SCORE, SMALL, STATE, batched, logits_of, prepare_all, requests
from umpire_training.batch import Collector, collate
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


def readers(prepared):
    """By the identity of a chunk: what of the state and of encoded instructions its row may read, as ids of windows."""
    return {id(chunk): [*request.windows, *question.windows] for request in prepared for question in request.questions for chunk in question.chunks}


@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_rows_of_a_batch_see_exactly_what_they_may(text, limits):
    """Slot by slot: a branch token sees its own state, instructions and piece, once each, and nothing else."""
    prepared = prepare_all(text, limits)
    batch, collector, may_read = collate(prepared, limits.max_window_index), Collector(), readers(prepared)
    for request in prepared:
        collector.add(request, limits.max_window_index)
    collector.sort()
    starts = [0, *accumulate(len(ids) for ids, _, _ in collector.windows)]
    assert starts[-1] == batch.state_tokens and len(collector.rows) == len(may_read)
    rows, start = iter(collector.rows), batch.state_tokens
    for group in batch.rows:
        keys = torch.cat([group.keys, group.slots], 1)
        mask = torch.zeros(len(keys), 1, group.slots.shape[1], keys.shape[1]) if group.mask is None else group.mask
        for row in range(len(keys)):
            chunk, windows, *_ = next(rows)
            assert [collector.windows[w][0] for w in windows] == may_read[id(chunk)]
            state = {starts[w] + i for w in windows for i in range(len(collector.windows[w][0]))}
            own = range(start, start + len(chunk.token_ids))
            assert batch.token_ids[own.start: own.stop].tolist() == chunk.token_ids
            for place, branch in enumerate(chunk.branch):
                shown = keys[row][mask[row, 0, place] == 0].tolist()
                allowed = {slot for slot, other in zip(own, chunk.branch) if other in (0, branch)}
                assert len(shown) == len(set(shown)) and set(shown) == state | allowed
            start = own.stop
    assert start == len(batch.token_ids) and next(rows, None) is None


@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_windows_of_a_batch_see_themselves(text, limits):
    prepared = prepare_all(text, limits)
    batch, start = collate(prepared, limits.max_window_index), 0
    for group in batch.windows:
        for row, slots in enumerate(group.slots):
            real = slots if group.mask is None else slots[group.mask[row, 0, 0] == 0]
            assert real.tolist() == list(range(start, start + len(real)))
            start += len(real)
    assert start == batch.state_tokens


def scrambled(group, tokens, first, random):
    """The same group with padded slots that point anywhere."""
    def anywhere(slots, real, low, high):
        return torch.where(real, slots, torch.randint(low, high, slots.shape, generator=random))

    if group.flat is None and group.mask is None:
        return group
    real = torch.ones(group.slots.numel(), dtype=torch.bool)
    if group.flat is not None:
        real[:] = False
        real[group.flat] = True
    keys = group.keys
    if keys is not None and group.mask is not None:
        keys = anywhere(keys, (group.mask[:, 0] == 0).any(1)[:, : keys.shape[1]], 0, first)
    low, high = (first, tokens) if keys is not None else (0, first)
    return replace(group, slots=anywhere(group.slots, real.view(group.slots.shape), low, high), keys=keys)


@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_padding_has_no_influence(tiny, text, limits):
    """Whatever the padded slots point at, the answers are the same to the bit."""
    prepared = prepare_all(text, limits)
    prepared += prepare_all(text, limits)[:1]
    batch, random = collate(prepared, limits.max_window_index), torch.Generator().manual_seed(3)
    parts = {name: [scrambled(group, len(batch.token_ids), batch.state_tokens, random) for group in getattr(batch, name)] for name in ("windows", "rows")}
    other = replace(batch, **parts)
    assert any(not torch.equal(ours.slots, theirs.slots) for name in parts for ours, theirs in zip(getattr(batch, name), parts[name]))
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
    order = sorted(range(len(prepared.windows)), key=lambda i: len(prepared.windows[i]))  # as a batch packs them
    start = 0
    for number in order:
        end = start + len(prepared.windows[number])
        assert torch.allclose(before[start:end], after[start:end], atol=1e-6) is (number != 1)
        start = end
    assert start == len(before)
