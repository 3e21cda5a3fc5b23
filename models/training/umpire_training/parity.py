"""Prove that the exported fp32 graphs answer as PyTorch does, from the rows that the server's own code makes.

    node ../../test/models/prompt-fixtures.ts --all runs/prompts.jsonl     # hundreds of requests from a seed
    python -m umpire_training.parity --checkpoint runs/final.pt [--folder DIR] [--prompts FILE] [--limit N]

Every question is answered three times: run by run in PyTorch (`reference.py`), through the graphs (`OnnxKev`), and in a
batch as in training (`forward_batch`). Prints the largest and the mean |Δp| of the last two to the first, and ends with
status 1 where one is above 1e-4. `--folder` holds fp32 graphs already exported from that checkpoint; without it they
are exported into a folder that is deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from .batch import collate
from .export import export
from .model import KevModel, load
from .onnx_model import OnnxKev
from .prompts import Chunk, Limits, PreparedQuestion, PreparedRequest
from .reference import encode_windows, question_logits, readout

LARGEST = 1e-4
BATCH_SCORES = 2_000_000  # of one head, padding included
Answers = list[list[float]]  # [questions][options], in the order of the request


@dataclass
class Gap:
    """How far one way of answering is from PyTorch, run by run."""

    largest: float = 0.0
    total: float = 0.0
    probabilities: int = 0
    worst: int | None = None  # number of the request
    changed: int = 0  # questions with another first choice

    def add(self, request: int, wanted: Answers, found: Answers) -> None:
        for one, other in zip(wanted, found, strict=True):
            shifts = [abs(p - q) for p, q in zip(one, other, strict=True)]
            worst = math.inf if math.isnan(sum(shifts)) else max(shifts)
            if worst > self.largest:
                self.largest, self.worst = worst, request
            self.total += sum(shifts)
            self.probabilities += len(shifts)
            self.changed += one.index(max(one)) != other.index(max(other))

    @property
    def exact(self) -> bool:
        return self.probabilities > 0 and self.largest <= LARGEST

    def __str__(self) -> str:
        mean = self.total / max(self.probabilities, 1)
        return f"max |Δp| {self.largest:.2e} (request {self.worst}), mean {mean:.2e}, other first choice {self.changed}"


@dataclass
class Report:
    requests: int = 0
    questions: int = 0
    graphs: Gap = field(default_factory=Gap)
    batch: Gap = field(default_factory=Gap)


def prepared_from_json(raw: dict) -> PreparedRequest:
    """A prepared request as the server's code wrote it."""
    questions = [PreparedQuestion(**{**question, "chunks": [Chunk(**chunk) for chunk in question["chunks"]]})
                 for question in raw["questions"]]
    return PreparedRequest(raw["windows"], questions, raw["input_tokens"])


def answer_by_runs(model: KevModel | OnnxKev, request: PreparedRequest, limits: Limits) -> Answers:
    """As the server does it, softmax without temperatures."""
    windows = encode_windows(model, request.windows, 0, limits)
    return [readout(question_logits(model, question, windows, limits), question.order) for question in request.questions]


def answer_in_batch(model: KevModel, request: PreparedRequest, limits: Limits) -> Answers:
    answers = []
    for questions in groups(request):
        batch = collate([replace(request, questions=questions)], limits.max_window_index)
        logits = model.forward_batch(batch)
        answers += [readout(row[: len(places)], places) for row, places in zip(logits, batch.places)]
    return answers


def groups(request: PreparedRequest) -> list[list[PreparedQuestion]]:
    """Questions side by side, in one batch while its padded scores stay few."""
    state, found, rows, widest = sum(map(len, request.windows)), [], 0, 0
    for question in request.questions:
        rows += len(question.chunks)
        widest = max([widest, *(len(chunk.token_ids) for chunk in question.chunks)])
        if not found or rows * widest * (state + widest) > BATCH_SCORES:
            found.append([])
            rows, widest = len(question.chunks), max(len(chunk.token_ids) for chunk in question.chunks)
        found[-1].append(question)
    return found


@torch.inference_mode()
def compare(model: KevModel, graphs: OnnxKev, fixtures: list[dict], every: int = 50) -> Report:
    report = Report()
    for number, fixture in enumerate(fixtures):
        request, limits = prepared_from_json(fixture["prepared"]), Limits(**fixture["limits"])
        wanted = answer_by_runs(model, request, limits)
        report.graphs.add(number, wanted, answer_by_runs(graphs, request, limits))
        report.batch.add(number, wanted, answer_in_batch(model, request, limits))
        report.requests, report.questions = number + 1, report.questions + len(wanted)
        if report.requests % every == 0:
            print(f"{report.requests} requests, {report.questions} questions: graphs {report.graphs}", flush=True)
    return report


def read_fixtures(file: Path, limit: int | None) -> list[dict]:
    if not file.exists():
        raise SystemExit(f"{file} is missing: node ../../test/models/prompt-fixtures.ts --all {file}")
    return [json.loads(line) for line in file.read_text("utf-8").split("\n") if line][:limit]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--folder", type=Path, help="with fp32 graphs of this checkpoint")
    parser.add_argument("--prompts", type=Path, default=Path("runs/prompts.jsonl"))
    parser.add_argument("--limit", type=int, help="only the first so many requests")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    fixtures = read_fixtures(options.prompts, options.limit)
    torch.set_num_threads(options.threads)
    model = load(options.checkpoint)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if options.folder is None:
            export(model, folder, "fp32")
        report = compare(model, OnnxKev.open(folder, "fp32", options.threads), fixtures)
    print(f"{report.requests} requests, {report.questions} questions, {report.graphs.probabilities} probabilities")
    print(f"fp32 graphs against PyTorch: {report.graphs}")
    print(f"batch against PyTorch run by run: {report.batch}")
    if not (report.graphs.exact and report.batch.exact):
        raise SystemExit(f"more than {LARGEST:g} apart")


if __name__ == "__main__":
    main()
