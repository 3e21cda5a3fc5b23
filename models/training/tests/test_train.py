"""What a run learns when, and how it ranks yes above no."""

import json
from pathlib import Path

import pytest
import torch

from umpire_training.dev import ranked
from umpire_training.evaluate import Answer
from umpire_training.mix import weight_of
from umpire_training.prompts import PreparedRequest, Question
from umpire_training.tasks import Example, Labelled
from umpire_training.train import Gradients, computes_in_bfloat16, enough, lesson_at, schedule, shared_out, work_of
from umpire_training.trials import SHORT, TRIALS

CONFIG = json.loads((Path(__file__).resolve().parents[1] / "configs/kev.json").read_text())


def test_a_lesson_ends_with_its_tokens_and_the_rest_is_the_configuration_itself():
    config = {"match_dropout": 0.2, "written_share": 0.1, "lessons": [{"until": 10, "match_dropout": 0.0}, {"until": 30, "written_share": 0.0}]}
    first, second, rest = (lesson_at(tokens, config) for tokens in (9, 10, 30))
    assert (first["match_dropout"], first["written_share"]) == (0.0, 0.1)
    assert (second["match_dropout"], second["written_share"]) == (0.2, 0.0)
    assert rest == config


def test_the_lessons_of_the_configuration_follow_each_other_and_name_every_task():
    assert [lesson["until"] for lesson in CONFIG["lessons"]] == sorted({lesson["until"] for lesson in CONFIG["lessons"]})
    for lesson in CONFIG["lessons"]:
        own = lesson.get("groups", {})  # one without groups has those of the whole mixture
        assert not own or any(weight_of("a task of no name", group["tasks"]) is not None for group in own.values())
        for name in {name.rstrip("*") for group in own.values() for name in group["tasks"]}:
            assert any(known.startswith(name) or weight_of(name, group["tasks"]) is not None for group in CONFIG["groups"].values() for known in group["tasks"]), name
        assert set(lesson) <= {"until", *CONFIG}


def test_the_rate_rises_stays_and_falls():
    config = {"warmup": 0.1, "decay_from": 0.8, "final_lr": 0.02}
    assert schedule(0.05, config) == pytest.approx(0.5)
    assert schedule(0.5, config) == schedule(0.8, config) == 1.0
    assert 0.02 < schedule(0.9, config) < 1.0
    assert schedule(1.0, config) == pytest.approx(0.02)


def noul(margin: float, gold: int) -> Answer:
    return Answer("t", "noul", [0.0, margin], [1.0 - gold, float(gold)], ["false", "true"])


def test_ranked_counts_the_pairs_of_yes_and_no_in_order_whatever_the_threshold():
    assert ranked([noul(-2.0, 1), noul(-3.0, 0), noul(-4.0, 0)]) == 1.0
    assert ranked([noul(1.0, 1), noul(1.0, 0)]) == 0.5
    assert ranked([noul(1.0, 1), noul(2.0, 0), noul(0.0, 0), noul(0.5, 1)]) == 0.5


def requests_of(*sizes: int) -> list[PreparedRequest]:
    """One request a size: a state of that many tokens, nothing asked."""
    return [PreparedRequest([[0] * size], []) for size in sizes]


def test_work_is_shared_out_evenly_and_every_batch_once():
    batches = [([], requests_of(size)) for size in (10, 200, 30, 90, 120, 60)]
    shares = shared_out(batches, 2)
    assert sorted(len(request.windows[0]) for share in shares for _, [request] in share) == [10, 30, 60, 90, 120, 200]
    one, other = (sum(work_of(requests) for _, requests in share) for share in shares)
    assert abs(one - other) < 0.1 * (one + other)
    assert shared_out(batches, 1) == [sorted(batches, key=lambda batch: -work_of(batch[1]))]
    assert shared_out(batches[:1], 3) == [batches[:1], [], []]


def test_long_documents_cost_more_than_their_tokens():
    assert work_of(requests_of(400)) > 1.2 * work_of(requests_of(100, 100, 100, 100))


def test_a_step_has_batches_until_it_has_questions_enough():
    question = Labelled(Question("noul", "Is it?", [("false", None), ("true", None)]), [0.0, 1.0], "t")
    batches = iter([([Example("s", [question] * count, "t")], []) for count in (3, 5, 40, 2, 1)])
    assert [len(example.questions) for examples, _ in enough(batches, 8) for example in examples] == [3, 5]
    assert [len(example.questions) for examples, _ in enough(batches, 8) for example in examples] == [40]


def test_trials_change_what_they_name_from_the_first_token_on():
    for changes in TRIALS.values():
        assert lesson_at(0, {**CONFIG, **SHORT, **changes}) == {**CONFIG, **SHORT, **changes}
        assert all(CONFIG.get(name) != value for name, value in changes.items() if name not in ("shape", "freeze"))


@pytest.mark.parametrize("supported", [True, False])
def test_a_processor_that_only_imitates_bfloat16_computes_in_float32(monkeypatch, supported):
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: supported)
    assert computes_in_bfloat16("cpu") == supported
    assert computes_in_bfloat16("cuda")


def test_a_batch_with_a_long_gradient_counts_for_no_more_than_its_questions():
    weight, unused = (torch.nn.Parameter(torch.zeros(2)) for _ in range(2))
    gradients = Gradients([weight, unused], 5.0)
    gradients.add(3 * weight[0], 0.75)
    gradients.add(1000 * weight[1], 0.25)
    gradients.put()
    assert torch.allclose(weight.grad, torch.tensor([3 * 0.75, 5.0 * 0.25])) and unused.grad is None
