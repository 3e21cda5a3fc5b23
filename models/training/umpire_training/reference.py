"""One request through `encode`, `answer` and `head`, run by run, exactly as the server does it. Slow and plain."""

from __future__ import annotations

import torch
from torch import Tensor

from .model import KevModel
from .prompts import QUESTION_TYPES, Limits, PreparedQuestion, Question, Text, prepare


def encode_windows(model: KevModel, windows: list[list[int]], segment: int, limits: Limits) -> list:
    runs = []
    for number, ids in enumerate(windows):
        index = torch.tensor([min(number, limits.max_window_index)])
        runs.append(model.encode(torch.tensor([ids]), torch.tensor([segment]), index))
    return runs


def join_windows(runs: list) -> list:
    """Per layer: keys and values of all windows, one after the other."""
    return [tuple(torch.cat([run[layer][kind] for run in runs], 2) for kind in (0, 1)) for layer in range(len(runs[0]))]


def question_logits(model: KevModel, question: PreparedQuestion, state_runs: list, limits: Limits) -> Tensor:
    """-> logits [K] in sorted order"""
    cache = join_windows(state_runs + encode_windows(model, question.windows, 1, limits))
    count = len(question.order)
    totals, tokens = torch.zeros(count, model.shape.hidden), torch.zeros(count)
    for chunk in question.chunks:
        vectors = model.answer(torch.tensor([chunk.token_ids]), torch.tensor([chunk.positions]),
                               torch.tensor([chunk.branch]), torch.arange(1, len(chunk.options) + 1), cache)
        for vector, option, length in zip(vectors, chunk.options, chunk.lengths):
            totals[option] += vector * length
            tokens[option] += length
    options = (totals / tokens[:, None])[None]
    kind = torch.tensor([QUESTION_TYPES.index(question.type)])
    return model.head(options, kind, torch.tensor([question.levels]))[0]


def readout(logits: Tensor, order: list[int], temperature: float = 1.0) -> list[float]:
    """softmax in float64, put back in the request's order"""
    probabilities = torch.softmax(logits.double() / temperature, -1).tolist()
    answer = [0.0] * len(order)
    for place, probability in zip(order, probabilities):
        answer[place] = probability
    return answer


@torch.inference_mode()
def forward_request(model: KevModel, text: Text, state: str, questions: list[Question], limits: Limits = Limits(),
                    temperatures: dict | None = None) -> tuple[list[list[float]], int]:
    """-> probabilities per question in the order of the request, input_tokens"""
    request = prepare(state, questions, text, limits)
    runs = encode_windows(model, request.windows, 0, limits)
    answers = []
    for question in request.questions:
        logits = question_logits(model, question, runs, limits)
        temperature = temperature_of(temperatures, question.type, len(question.order))
        answers.append(readout(logits, question.order, temperature))
    return answers, request.input_tokens


def bucket(options: int) -> str:
    """The manifest's name for a number of options."""
    return "2" if options <= 2 else "3-5" if options <= 5 else "6-10" if options <= 10 else "11+"


def temperature_of(temperatures: dict | None, kind: str, options: int) -> float:
    if not temperatures:
        return 1.0
    per_type = temperatures[kind]
    return per_type.get(bucket(options), list(per_type.values())[-1])
