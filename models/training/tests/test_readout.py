"""From hidden states to probabilities: the mean of each piece, weights of pieces and chunks, softmax, order."""

import math
import random

import pytest
import torch

from cases import CHOICE, NOUL, SCORE, SMALL, STATE, batched, long_text, requests
from umpire_training.batch import collate
from umpire_training.model import KevModel, Shape
from umpire_training.prompts import Limits, Question, prepare
from umpire_training.reference import bucket, forward_request, readout, temperature_of


@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_batched_equals_run_by_run(tiny, text, limits):
    expected = [answer for state, questions in requests() for answer in forward_request(tiny, text, state, questions, limits)[0]]
    for ours, theirs in zip(batched(tiny, text, requests(), limits), expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-6)


@torch.inference_mode()
def test_a_piece_is_the_mean_of_its_tokens(tiny, text):
    [chunk] = prepare("", [CHOICE], text).questions[0].chunks
    cache = tiny.encode(torch.tensor([[101, 2000, 102]]), torch.tensor([0]), torch.tensor([0]))
    hidden = []
    hook = tiny.layers[-1].norm.register_forward_hook(lambda module, inputs, output: hidden.append(output[0]))
    vectors = tiny.answer(*(torch.tensor([part]) for part in (chunk.token_ids, chunk.positions, chunk.branch)),
                          torch.arange(1, 4), cache)
    hook.remove()
    state = tiny.join(cache[-1][1])
    start = chunk.branch.count(0)
    lead = hidden[0][:start].mean(0, keepdim=True)
    at_lead = tiny.likest_places(tiny.sought(tiny.match_lead(lead), 1)[None], state)[0]
    for vector, length in zip(vectors, chunk.lengths):
        mean = hidden[0][start: start + length].mean(0, keepdim=True)  # [SEP] included
        at_own = tiny.likest_places(tiny.sought(tiny.match_piece(mean), 0)[None], state)[0]
        assert torch.allclose(vector, tiny.piece_vectors(mean, lead, state.mean(1), (at_own, at_lead))[0], atol=1e-6)
        start += length
    assert start == len(chunk.token_ids)


@torch.inference_mode()
def test_match_features_sum_to_the_cosine(tiny):
    mean, lead, whole, at_own, at_lead = (torch.randn(5, 36) for _ in range(5))
    vectors = tiny.piece_vectors(mean, lead, whole, (at_own, at_lead))
    own, of_lead = tiny.match_piece(mean), tiny.match_lead(lead)
    for place, (left, right) in enumerate(((own, whole), (own, at_own), (of_lead, whole), (of_lead, at_lead))):
        found = vectors[:, 12 + 6 * place: 18 + 6 * place].sum(1)
        assert torch.allclose(found, torch.cosine_similarity(left, tiny.match_state(right)), atol=1e-5)


def test_pieces_of_an_option_weigh_by_their_tokens(text):
    prepared = prepare("x", [Question("choice", "?", [("a", long_text(300, 3)), ("b", None)])], text)
    lengths = [length for chunk in prepared.questions[0].chunks for length in chunk.lengths]
    batch = collate([prepared])
    assert len(lengths) > 3 and sorted(batch.piece_option.tolist()) == [0] * (len(lengths) - 1) + [1]
    long = sum(lengths[:-1])
    expected = sorted([(0, length / long) for length in lengths[:-1]] + [(1, 1.0)])
    found = sorted(zip(batch.piece_option.tolist(), batch.piece_weight.tolist()))
    assert [option for option, _ in found] == [option for option, _ in expected]
    assert [weight for _, weight in found] == pytest.approx([weight for _, weight in expected])


def test_chunks_change_nothing(tiny, text):
    """Pieces do not see each other, so how many share a run does not matter."""
    many = [(f"label_{i}", long_text(5, i)) for i in range(30)]
    question = Question("choice", "Which label?", many)
    answers = [forward_request(tiny, text, STATE, [question], Limits(branch_tokens=size))[0][0] for size in (1, 60, 200, 4000)]
    for other in answers[1:]:
        assert other == pytest.approx(answers[0], abs=1e-6)


def test_readout_puts_back():
    assert readout(torch.tensor([0.0, 10.0, -10.0]), [2, 0, 1]) == pytest.approx([1, 0, 0], abs=1e-3)
    assert readout(torch.tensor([0.0, 1.0]), [0, 1], temperature=0.5)[1] == pytest.approx(1 / (1 + math.exp(-2)))


def test_temperature_of_a_question():
    temperatures = {"choice": {"2": 1.0, "3-5": 2.0, "6-10": 3.0, "11+": 4.0}, "noul": {"2": 5.0}}
    assert [bucket(n) for n in (1, 2, 3, 5, 6, 10, 11, 200)] == ["2", "2", "3-5", "3-5", "6-10", "6-10", "11+", "11+"]
    assert temperature_of(temperatures, "choice", 7) == 3.0 and temperature_of(None, "choice", 7) == 1.0


# --- order of the options -----------------------------------------------------------------------------------------

MANY = [(f"option {i}", long_text(4, i)) for i in range(40)]
ODD = [("a: b", None), ("a", "b"), ("", None), ("😀", None), ("\uffee", None), ("[SEP]", "x"), ("é", None), ("e\u0301", "")]


@pytest.mark.parametrize("options", [MANY, ODD, CHOICE.options])
@pytest.mark.parametrize("limits", [Limits(), SMALL])
def test_order_of_options_is_exact(tiny, text, options, limits):
    """To the bit, run by run and in a batch, over several chunks too."""
    def both(given):
        question = Question("choice", "Which?", given)
        return forward_request(tiny, text, STATE, [question], limits)[0][0], batched(tiny, text, [(STATE, [question])], limits)[0]

    first = [dict(zip(options, answer, strict=True)) for answer in both(options)]
    for seed in range(3):
        shuffled = random.Random(seed).sample(options, len(options))
        assert [dict(zip(shuffled, answer, strict=True)) for answer in both(shuffled)] == first


def test_order_of_levels_counts(tiny, text):
    turned = Question("score", SCORE.instructions, SCORE.options[::-1])
    first, second = (forward_request(tiny, text, STATE, [question])[0][0] for question in (SCORE, turned))
    assert first != pytest.approx(second[::-1], abs=1e-4)


def test_noul_answers_in_the_order_false_true(tiny, text):
    as_choice = Question("noul", NOUL.instructions, NOUL.options[::-1])
    first, second = (forward_request(tiny, text, STATE, [question])[0][0] for question in (NOUL, as_choice))
    assert first == second[::-1]


# --- the head -----------------------------------------------------------------------------------------------------


def test_rivals_start_silent_and_a_closed_gate_lets_nothing_through():
    fresh = KevModel(Shape(hidden=36, layers=1, heads=6, inner=64, gate=0.0))
    vectors, kind, levels = torch.randn(1, 3, 36), torch.tensor([0]), torch.zeros(1, 3, dtype=torch.long)
    alone = fresh.head(vectors[:, :1], kind, levels[:, :1])
    assert torch.allclose(fresh.head(vectors, kind, levels)[:, :1], alone, atol=1e-5)


@torch.inference_mode()
def test_an_open_set_layer_reads_the_other_options_but_no_padding(tiny):
    vectors, kind, levels = torch.randn(1, 3, 36), torch.tensor([0]), torch.zeros(1, 3, dtype=torch.long)
    assert not torch.allclose(tiny.head(vectors, kind, levels)[:, :2], tiny.head(vectors[:, :2], kind, levels[:, :2]), atol=1e-4)
    mask = torch.tensor([0.0, 0.0, -1e4])[None, None, None]
    padded = tiny.head_module(vectors, kind, levels, mask)[:, :2]
    assert torch.allclose(padded, tiny.head(vectors[:, :2], kind, levels[:, :2]), atol=1e-6)


@torch.inference_mode()
def test_type_and_level_count(tiny):
    vectors, none = torch.randn(1, 3, 36), torch.zeros(1, 3, dtype=torch.long)
    answers = [tiny.head(vectors, torch.tensor([kind]), none) for kind in range(3)]
    answers.append(tiny.head(vectors, torch.tensor([2]), torch.tensor([[1, 2, 3]])))
    assert all(not torch.allclose(a, b, atol=1e-4) for i, a in enumerate(answers) for b in answers[:i])
