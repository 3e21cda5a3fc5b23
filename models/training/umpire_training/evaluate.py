"""Accuracy, macro-F1, negative log-likelihood and calibration error on the held-out tasks, in fp32.

    python -m umpire_training.evaluate --model runs/final.pt --data $UMPIRE_DATA [--limit 500] [--temperatures FILE]
    python -m umpire_training.evaluate --cosine --data $UMPIRE_DATA
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import torch

from .base import base_folder
from .batch import collate
from .model import KevModel, from_minilm, load
from .prompts import Limits, PreparedRequest, Question, Text, prepare
from .reference import readout, temperature_of
from .tasks import Example, data_folder, heldout_tasks, plain_examples

# The untrained baseline, frozen before anything was trained: sentence vectors of the state and of each option.
COSINE_TEMPLATE = "{name}: {description}"
COSINE_SCALE = 20.0
# Small chunks change no number (pieces never see each other) and save most of the attention.
FAST = Limits(branch_tokens=96)


@dataclass
class Answer:
    task: str
    type: str
    logits: list[float]  # in the order of the request
    target: list[float]
    names: list[str]

    def probabilities(self, temperatures: dict | None = None) -> list[float]:
        temperature = temperature_of(temperatures, self.type, len(self.logits))
        return readout(torch.tensor(self.logits), list(range(len(self.logits))), temperature)

    @property
    def gold(self) -> int:
        return max(range(len(self.target)), key=self.target.__getitem__)


def batches(requests: list[PreparedRequest], tokens: int) -> list[list[int]]:
    """Numbers of requests in batches of about `tokens`, alike in length so that little is padded."""
    sizes = [request_tokens(request) for request in requests]
    order = sorted(range(len(requests)), key=lambda i: (max(map(len, requests[i].windows)) // 16, sizes[i]))
    found, current, total = [], [], 0
    for number in order:
        if current and total + sizes[number] > tokens:
            found.append(current)
            current, total = [], 0
        current.append(number)
        total += sizes[number]
    return [*found, current] if current else found


def request_tokens(request: PreparedRequest) -> int:
    total = sum(map(len, request.windows))
    for question in request.questions:
        total += sum(map(len, question.windows)) + sum(len(chunk.token_ids) for chunk in question.chunks)
    return total


def option_names(question: Question) -> list[str]:
    if question.type == "score":
        return [str(i) for i in range(len(question.options))]
    return [name for name, _ in question.options]


@torch.inference_mode()
def answer_all(model: KevModel, text: Text, examples: list[Example], limits: Limits = FAST,
               tokens: int = 8192) -> list[Answer]:
    requests = [prepare(e.state, [q.question for q in e.questions], text, limits) for e in examples]
    answers: list[list[Answer]] = [[] for _ in examples]
    for numbers in batches(requests, tokens):
        batch = collate([requests[n] for n in numbers], limits.max_window_index).to(next(model.parameters()).device)
        rows = iter(zip(model.forward_batch(batch).tolist(), batch.places))
        for number in numbers:
            for labelled in examples[number].questions:
                row, places = next(rows)
                logits = [0.0] * len(places)
                for column, place in enumerate(places):
                    logits[place] = row[column]
                answers[number].append(Answer(labelled.task, labelled.question.type, logits, labelled.target,
                                              option_names(labelled.question)))
    return [answer for group in answers for answer in group]


def save_answers(answers: list[Answer], path: str | Path) -> None:
    Path(path).write_text(json.dumps([vars(answer) for answer in answers]) + "\n")


def load_answers(path: str | Path) -> list[Answer]:
    return [Answer(**raw) for raw in json.loads(Path(path).read_text())]


# --- figures ----------------------------------------------------------------------------------------------------


def figures(answers: list[Answer], temperatures: dict | None = None) -> dict:
    probabilities = [answer.probabilities(temperatures) for answer in answers]
    predicted = [max(range(len(p)), key=p.__getitem__) for p in probabilities]
    hits = [guess == answer.gold for guess, answer in zip(predicted, answers)]
    losses = [-sum(t * torch.log(torch.tensor(max(q, 1e-12))).item() for t, q in zip(a.target, p) if t)
              for a, p in zip(answers, probabilities)]
    confidence = [p[guess] for p, guess in zip(probabilities, predicted)]
    pairs = [(a.names[guess], a.names[a.gold]) for guess, a in zip(predicted, answers)]
    return {"questions": len(answers), "accuracy": mean(hits), "macro_f1": macro_f1(pairs), "nll": mean(losses),
            "ece": calibration_error(confidence, hits), "answered_at_5": answered_at(confidence, hits, 0.05)}


def mean(values) -> float:
    return sum(values) / len(values) if values else float("nan")


def macro_f1(pairs: list[tuple[str, str]]) -> float:
    """pairs of (predicted, gold); the mean over names that occur as gold"""
    right, guessed, gold = defaultdict(int), defaultdict(int), defaultdict(int)
    for guess, truth in pairs:
        guessed[guess] += 1
        gold[truth] += 1
        right[truth] += guess == truth
    return mean([2 * right[name] / (guessed[name] + gold[name]) for name in gold])


def calibration_error(confidence: list[float], hits: list[bool], bins: int = 15) -> float:
    """Expected calibration error over equally wide bins."""
    groups = defaultdict(list)
    for c, hit in zip(confidence, hits):
        groups[min(int(c * bins), bins - 1)].append((c, hit))
    return sum(abs(sum(c - hit for c, hit in group)) for group in groups.values()) / max(len(hits), 1)


def answered_at(confidence: list[float], hits: list[bool], error: float) -> float:
    """The largest share of answers, surest first, of which at most `error` are wrong."""
    wrong, best = 0, 0
    ranked = sorted(zip(confidence, hits), key=lambda pair: -pair[0])
    for count, (_, hit) in enumerate(ranked, 1):
        wrong += not hit
        if wrong <= error * count:
            best = count
    return best / max(len(ranked), 1)


def by_task(answers: list[Answer], temperatures=None) -> dict[str, dict]:
    groups = defaultdict(list)
    for answer in answers:
        groups[answer.task].append(answer)
    table = {name: figures(group, temperatures) for name, group in groups.items()}
    table["mean over tasks"] = {key: mean([row[key] for row in table.values()]) for key in next(iter(table.values()))}
    return table


def show(table: dict[str, dict]) -> None:
    print("| task | questions | accuracy | macro-F1 | NLL | ECE | answered at 5 % error |\n|---|---|---|---|---|---|---|")
    for name, row in table.items():
        cells = " | ".join(f"{row[key]:.3f}" for key in ("accuracy", "macro_f1", "nll", "ece", "answered_at_5"))
        print(f"| {name} | {row['questions']:.0f} | {cells} |")


# --- the untrained baseline ---------------------------------------------------------------------------------------


class Cosine:
    """Sentence vectors of all-MiniLM-L6-v2: mean pooling, 256 tokens, normalised."""

    def __init__(self, base: Path, text: Text):
        self.model, self.text = from_minilm(base).eval(), text
        self.known: dict[str, torch.Tensor] = {}

    @torch.inference_mode()
    def vector(self, sentence: str) -> torch.Tensor:
        if sentence not in self.known:
            model, ids = self.model, torch.tensor([[101, *self.text.ids(sentence)[:254], 102]])
            x = model.words(ids) + model.positions.weight[: ids.shape[1]] + model.segments.weight[0]
            x = model.embedding_norm(x)
            for layer in model.layers:
                parts = (model.split(part(x)) for part in (layer.query, layer.key, layer.value))
                x = layer.merge(x, model.join(torch.nn.functional.scaled_dot_product_attention(*parts)))
            self.known[sentence] = torch.nn.functional.normalize(x[0].mean(0), dim=0)
        return self.known[sentence]

    def answer_all(self, examples: list[Example]) -> list[Answer]:
        found = []
        for example in examples:
            state = self.vector(example.state)
            for labelled in example.questions:
                texts = cosine_texts(labelled.question)
                logits = [COSINE_SCALE * float(state @ self.vector(t)) for t in texts]
                found.append(Answer(labelled.task, labelled.question.type, logits, labelled.target,
                                    option_names(labelled.question)))
        return found


def cosine_texts(question: Question) -> list[str]:
    """Names read as words. A yes/no question is compared by its instructions, against and for."""
    if question.type == "noul":
        return [f"{'not ' if name == 'false' else ''}{description or question.instructions}"
                for name, description in question.options]
    return [COSINE_TEMPLATE.format(name=readable(name), description=description) if description and name
            else description or readable(name) for name, description in question.options]


def readable(name: str) -> str:
    return name.replace("_", " ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--model", default="runs/final.pt")
    parser.add_argument("--limit", type=int, help="rows per task")
    parser.add_argument("--temperatures", help="JSON of calibrate.py")
    parser.add_argument("--cosine", action="store_true", help="the untrained baseline instead")
    parser.add_argument("--untrained", action="store_true", help="kev as it starts")
    parser.add_argument("--logits", help="JSON of answers (calibrate.py --save, or of an exported graph): run nothing")
    parser.add_argument("--out", help="write the table as JSON")
    args = parser.parse_args()
    base, folder, started = base_folder(), data_folder(args.data), time.time()
    text, tasks = Text(base / "tokenizer.json"), heldout_tasks(folder, args.limit)
    examples = [e for task in tasks for e in plain_examples(task)]
    temperatures = json.loads(Path(args.temperatures).read_text())["temperatures"] if args.temperatures else None
    if args.logits:
        names = {task.name for task in tasks}
        answers = [answer for answer in load_answers(args.logits) if answer.task in names]
    elif args.cosine:
        answers = Cosine(base, text).answer_all(examples)
    else:
        answers = answer_all(from_minilm(base).eval() if args.untrained else load(args.model), text, examples)
    table = by_task(answers, temperatures)
    show(table)
    print(f"\n{len(answers)} questions in {time.time() - started:.0f} s")
    if args.out:
        Path(args.out).write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
