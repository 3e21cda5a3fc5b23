"""Train kev.

    python -m umpire_training.train --config configs/kev.json --pack runs/kev.pack --out runs/kev --tokens 120e6
        [--finish-by 2026-11-21T14:25] [--device cuda]
    python -m umpire_training.train … --out runs/milestone --anneal runs/kev/last.pt --tokens 2e6

Goes on where it stopped if `--out` holds a checkpoint. The learning rate follows progress, the larger of the share of
`--tokens` seen and the share of the time until `--finish-by`: up, level, and down over the last part, so that the weights
of any moment can be annealed beside the run (`--anneal`) while it goes on.

Several processes of one thread each share the work better than one process of several threads, most of all on a busy
machine: start every one with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its environment (`start.sh` does that). On a
GPU one process does it all.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import datetime, timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor

from . import pack as packs
from .base import base_folder
from .batch import Batch, collate
from .dev import Development
from .evaluate import Answer, request_tokens
from .evidence import WATCHED, overlooked
from .mix import ExampleBatch, Mix, example_batches
from .model import KevModel, Shape, from_minilm
from .neighbours import know_neighbours
from .optimizer import optimizer_for
from .prompts import QUESTION_TYPES, Limits, PreparedRequest, Text
from .running_average import RunningAverage
from .tasks import Example

# Attention of so many pairs of a query and a key takes as long as all linear layers for one token (two AVX2 cores, float32).
PAIRS_OF_A_TOKEN = 800


def targets(examples: list[Example], batch: Batch) -> Tensor:
    """-> [Q, Kmax] in the order of the batch's columns"""
    found = torch.zeros(batch.option_mask.shape)
    labelled = [q for example in examples for q in example.questions]
    for row, (question, places) in enumerate(zip(labelled, batch.places, strict=True)):
        found[row, : len(places)] = torch.tensor([question.target[place] for place in places])
    return found


def loss_of(logits: Tensor, target: Tensor, batch: Batch, rps_weight: float) -> tuple[Tensor, Tensor]:
    """Cross-entropy with soft targets, and the ranked probability score of score questions -> mean loss, hits [Q]"""
    logs = F.log_softmax(logits, -1)
    entropy = -(target * logs).sum(-1)
    distance = (logs.exp().cumsum(-1) - target.cumsum(-1)).square()
    steps = (batch.option_mask.sum(-1) - 1).clamp(min=1)
    ranked = (distance * batch.option_mask).sum(-1) / steps
    is_score = batch.question_type == QUESTION_TYPES.index("score")
    hits = logits.argmax(-1) == target.argmax(-1)
    return (entropy + rps_weight * ranked * is_score).mean(), hits


def schedule(progress: float, config: dict) -> float:
    """Linear warm-up, level, then along a root down to `final_lr`."""
    if progress < config["warmup"]:
        return max(progress / config["warmup"], 0.01)
    left = min(1.0, max(0.0, (1 - progress) / (1 - config["decay_from"])))
    return config["final_lr"] + (1 - config["final_lr"]) * (1 - math.sqrt(1 - left))


def lesson_at(tokens: int, config: dict) -> dict:
    """The configuration at that moment. A run starts with what is quickly learned: entailment of one kind of sentence, from
    which the rest of reading follows; all kinds at once teach none of them (TRIALS.md)."""
    for lesson in config["lessons"]:
        if tokens < lesson["until"]:
            return {**config, **lesson}
    return config


def questions_of(batches: list[ExampleBatch]) -> int:
    return sum(len(example.questions) for examples, _ in batches for example in examples)


def enough(batches: Iterator[ExampleBatch], questions: int) -> list[ExampleBatch]:
    """The batches of one step of all processes. Batches are alike in length, so that one of long documents holds four questions where one of
    sentences holds fifty: a step on each alone is mostly noise."""
    found, asked = [], 0
    while asked < questions:
        found.append(next(batches))
        asked += questions_of(found[-1:])
    return found


def work_of(requests: list[PreparedRequest]) -> float:
    """About how long a batch takes, in tokens: linear layers go by tokens, attention by pairs of query and key."""
    pairs = 0
    for request in requests:
        keys = sum(map(len, request.windows))
        pairs += sum(len(ids) ** 2 for ids in request.windows)
        for question in request.questions:
            pairs += sum(len(ids) ** 2 for ids in question.windows)
            pairs += sum(len(chunk.token_ids) * (keys + sum(map(len, question.windows)) + len(chunk.token_ids)) for chunk in question.chunks)
    return sum(map(request_tokens, requests)) + pairs / PAIRS_OF_A_TOKEN


def shared_out(batches: list[ExampleBatch], processes: int) -> list[list[ExampleBatch]]:
    """-> the batches of every process, so that all are done at about the same time: the dearest first, each to who has least"""
    shares: list[list[ExampleBatch]] = [[] for _ in range(processes)]
    work = [0.0] * processes
    for batch in sorted(batches, key=lambda batch: -work_of(batch[1])):
        least = work.index(min(work))
        shares[least].append(batch)
        work[least] += work_of(batch[1])
    return shares


def computes_in_bfloat16(device: str) -> bool:
    """Whether that pays. A processor without instructions for it (before AVX-512 BF16 or AMX) computes it element by element,
    sixty times slower than float32 (TRIALS.md)."""
    return device != "cpu" or torch.ops.mkldnn._is_mkldnn_bf16_supported()


class Progress:
    """From 0 to 1 by tokens, or by the clock where that is further."""

    def __init__(self, budget: float, finish_by: str | None, start: float = 0.0, first: float = 0.0):
        """start: where this process takes over; first: where the run itself began"""
        self.budget, self.start, self.first, self.began = budget, start, first, time.time()
        self.end = datetime.fromisoformat(finish_by).timestamp() if finish_by else None

    def __call__(self, tokens: int) -> float:
        by_tokens = self.first + (1 - self.first) * tokens / self.budget
        if self.end is None:
            return by_tokens
        by_time = (time.time() - self.began) / max(self.end - self.began, 1e-9)
        return max(by_tokens, self.start + (1 - self.start) * by_time)


class Workers:
    """The processes that train together; one alone where the environment names no others."""

    def __init__(self):
        self.rank, self.count = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        if self.count > 1:
            dist.init_process_group("gloo", timeout=timedelta(hours=2))

    def own(self, batches: list[ExampleBatch]) -> list[ExampleBatch]:
        """Of a step's batches, which every process draws alike, those that this one computes."""
        return shared_out(batches, self.count)[self.rank]

    def each_a_part(self, answer: Callable[[list[Example]], list[Answer]], examples: list[Example]) -> list[Answer]:
        """`answer` for every count-th example in each process -> all answers, in every process"""
        if self.count == 1:
            return answer(examples)
        parts: list[list[Answer]] = [[] for _ in range(self.count)]
        dist.all_gather_object(parts, answer(examples[self.rank:: self.count]))
        left = [iter(part) for part in parts]
        return [next(left[i % self.count]) for i, example in enumerate(examples) for _ in example.questions]

    def share(self, parameters: list[Tensor], numbers: list[float]) -> list[float]:
        """Gradients become their sum over the processes; -> the sums of `numbers`."""
        if self.count == 1:
            return numbers
        grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        *sums, added = self.add_up([*grads, torch.tensor(numbers)])
        for parameter, total in zip(parameters, sums):
            parameter.grad = total
        return added.tolist()

    def add_up(self, parts: list[Tensor]) -> list[Tensor]:
        """-> of every tensor, its sum over the processes"""
        if self.count == 1:
            return parts
        flat = torch.cat([part.flatten() for part in parts])
        dist.all_reduce(flat)
        sums = flat.split([part.numel() for part in parts])
        return [total.view_as(part) for total, part in zip(sums, parts)]


class Gradients:
    """The sum over a step's batches, none of which counts for more than its questions: those of a single document are now and then
    hundreds of times as long as those of a batch of sentences (TRIALS.md)."""

    def __init__(self, parameters: list[Tensor], longest: float):
        """longest: norm that the gradient of a batch's mean loss keeps at most"""
        self.parameters, self.longest = parameters, longest
        self.sums: list[Tensor | None] = [None] * len(parameters)

    def add(self, loss: Tensor, share: float) -> None:
        """loss: mean of a batch; share: of the step's questions, those that it holds"""
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, self.longest)
        for i, parameter in enumerate(self.parameters):
            if parameter.grad is not None:
                part = parameter.grad.mul_(share)
                self.sums[i] = part if self.sums[i] is None else self.sums[i].add_(part)
                parameter.grad = None

    def put(self) -> None:
        """The sum, where an optimizer finds it"""
        for parameter, total in zip(self.parameters, self.sums, strict=True):
            parameter.grad = total


class Trainer:
    def __init__(self, args: argparse.Namespace):
        self.workers = Workers()
        self.args, self.config = args, json.loads(Path(args.config).read_text())
        self.fast = not args.fp32 and computes_in_bfloat16(args.device)
        if args.anneal:
            self.config["lessons"] = []  # its tokens count from 0, but it goes on where that run is
        if args.batch_tokens:
            self.config |= {"batch_tokens": args.batch_tokens, "pool_examples": self.config["pool_examples"] * args.batch_tokens // self.config["batch_tokens"]}
        self.out = Path(args.out)
        self.out.mkdir(parents=True, exist_ok=True)
        base = base_folder()
        self.text = Text(base / "tokenizer.json")
        # Small chunks change no number (pieces never see each other) and save most of the attention.
        self.limits = Limits(branch_tokens=self.config["branch_tokens"])
        torch.manual_seed(self.config["seed"])
        self.model = from_minilm(base, Shape(**self.config.get("shape", {}))).to(args.device).train()
        self.optimizer = optimizer_for(self.model, self.config, self.workers.rank, self.workers.count, self.workers.add_up, self.fast)
        self.average = RunningAverage(self.model, self.config["average_steps"])
        self.tokens, self.steps, done = 0, 0, 0.0
        if (self.out / "last.pt").exists():
            done = self.restore(self.out / "last.pt")
        elif args.anneal:
            self.restore(Path(args.anneal))
            done = self.config["decay_from"]
            self.tokens = 0
        self.clock = Progress(args.tokens, args.finish_by, done, self.config["decay_from"] if args.anneal else 0.0)
        self.progress = done  # the same in every process: taken over after each step
        pack = packs.load(Path(args.pack))
        know_neighbours(pack.tasks, base, self.text)
        self.pack = pack
        self.asked_to_stop = self.stopped = False
        self.evident, self.on_evidence = 0.0, [0.0] * WATCHED  # rows since the last line of the log, and their shares of attention
        self.log(resumed=self.steps > 0, precision="bfloat16" if self.fast else "float32")
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "asked_to_stop", True))
        self.dev = Development(pack.heldout, pack.dev, pack.written_dev, args.dev_rows, args.dev_rows, self.workers.each_a_part)

    def batches(self, config: dict) -> Iterator[ExampleBatch]:
        """The same in every process. Starting anew, a run does not see again what it began with."""
        seed = self.config["seed"] + self.steps
        return example_batches(Mix(self.pack.tasks, config, seed, self.pack.written), self.text, self.limits)

    def restore(self, path: Path) -> float:
        saved = torch.load(path, weights_only=True, map_location=self.args.device)
        self.model.load_state_dict(saved["model"])
        self.optimizer.restore(saved["optimizer"])
        self.average.restore(saved["average"])
        self.tokens, self.steps = saved["tokens"], saved["steps"]
        return saved["progress"]

    def save(self, name: str = "last.pt") -> None:
        """Written beside and moved into place: a kill never leaves half a checkpoint."""
        if self.workers.rank:
            return
        from .model import save

        extra = {"tokens": self.tokens, "steps": self.steps, "progress": self.progress}
        if name == "last.pt":
            extra |= {"optimizer": self.optimizer.state(), "average": self.average.state()}
        save(self.model, self.out / "writing.pt", **extra)
        os.replace(self.out / "writing.pt", self.out / name)

    def log(self, **values) -> None:
        if self.workers.rank:
            return
        line = {"time": datetime.now().isoformat(timespec="seconds"), "steps": self.steps, "tokens": self.tokens,
                "of_tokens": self.args.tokens, "progress": round(self.progress, 4), **values}
        with open(self.out / "log.jsonl", "a") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    def step(self, batches: list[ExampleBatch], lesson: dict) -> tuple[float, int, int]:
        """One step of the weights over batches of any size, every question weighing the same -> mean loss, hits, questions

        batches: of all processes; lesson: the configuration at that moment
        """
        self.optimizer.rates(schedule(self.progress, self.config))
        self.optimizer.zero_grad()
        count = questions_of(batches)
        device, seen, total, hits, asked, evident = self.args.device, 0, 0.0, 0, 0, 0
        looked = [0.0] * WATCHED
        parameters = [p for p in self.model.parameters() if p.requires_grad]
        gradients = Gradients(parameters, self.config["batch_clip"])
        for examples, requests in self.workers.own(batches):
            batch = collate(requests, self.limits.max_window_index)
            target = targets(examples, batch).to(device)
            batch = batch.to(device)
            shares: list[Tensor] = []
            with torch.autocast(device, torch.bfloat16, enabled=self.fast):
                logits = self.model.forward_batch(batch, lesson["match_dropout"], shares)
            loss, right = loss_of(logits, target, batch, self.config["rps_weight"])
            where = lesson["evidence_weight"] * overlooked(shares).sum() / len(right) if shares else 0.0
            gradients.add(loss + where, len(right) / count)
            loss = loss * len(right) / count
            if shares:
                looked, evident = [all + share.sum().item() for all, share in zip(looked, shares, strict=True)], evident + len(shares[0])
            seen, total, hits, asked = seen + len(batch.token_ids), total + loss.item(), hits + int(right.sum()), asked + len(right)
        gradients.put()
        numbers = [float(seen), self.clock(self.tokens), total, float(hits), float(asked), float(self.asked_to_stop), float(evident), *looked]
        tokens, progress, total, right, asked, stop, evident, *looked = self.workers.share(parameters, numbers)
        if asked != count:
            raise SystemExit(f"The processes drew different batches: they answered {asked:.0f} questions, this one counted {count}.")
        torch.nn.utils.clip_grad_norm_(parameters, self.config["clip"])
        self.optimizer.step()
        self.average.add()
        self.tokens += int(tokens)
        self.progress = progress / self.workers.count
        self.steps += 1
        self.stopped = stop > 0  # all processes end after the same step
        self.evident, self.on_evidence = self.evident + evident, [all + share for all, share in zip(self.on_evidence, looked, strict=True)]
        return total, int(right), int(asked)

    def shares_on_evidence(self) -> list[float]:
        """By layer, and of the readout, since the last call."""
        found = [round(share / max(self.evident, 1.0), 3) for share in self.on_evidence]
        self.evident, self.on_evidence = 0.0, [0.0] * WATCHED
        return found

    def evaluate(self, averaged: bool) -> None:
        """Of the averaged weights, or of those of the last step"""
        began = time.time()
        with self.average.in_place() if averaged else nullcontext():
            found = self.dev.figures(self.model.eval(), self.text, fast=self.fast)
        self.model.train()
        self.log(dev=found, averaged=averaged, seconds=round(time.time() - began))

    def run(self) -> None:
        saved, measured = time.time(), self.tokens // self.args.eval_every
        losses, right, asked, since, counted = [], 0, 0, time.time(), self.tokens
        lesson = None
        while True:
            if lesson != (lesson := lesson_at(self.tokens, self.config)):
                batches = self.batches(lesson)
            loss, hits, count = self.step(enough(batches, lesson["step_questions"]), lesson)
            losses, right, asked = [*losses, loss], right + hits, asked + count
            now = time.time()
            if self.steps % self.args.log_every == 0:
                rate = (self.tokens - counted) / (now - since)
                self.log(loss=round(sum(losses) / len(losses), 4), accuracy=round(right / asked, 4), questions=asked, on_evidence=self.shares_on_evidence(),
                         tokens_per_second=round(rate), hours_left=round(max(0.0, self.args.tokens - self.tokens) / rate / 3600, 1))
                losses, right, asked, since, counted = [], 0, 0, now, self.tokens
            if now - saved > self.args.save_every:
                self.save()
                saved = time.time()
            if self.tokens // self.args.eval_every > measured:
                measured = self.tokens // self.args.eval_every
                self.evaluate(averaged=True)
            if self.stopped:
                self.save()
                self.log(stopped=True)
                return
            if self.progress >= 1:
                break
        self.save()
        self.save("final.pt")
        self.evaluate(averaged=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="configs/kev.json")
    parser.add_argument("--pack", default="runs/kev.pack", help="file of pack.py")
    parser.add_argument("--out", default="runs/kev")
    parser.add_argument("--tokens", type=float, default=120e6)
    parser.add_argument("--finish-by", help="ISO time")
    parser.add_argument("--anneal", help="checkpoint of a run to bring down over --tokens, beside that run")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--batch-tokens", type=int, help="instead of the configuration's: more for a GPU")
    parser.add_argument("--fp32", action="store_true", help="also where bfloat16 is quicker")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dev-rows", type=int, default=40, help="of every task that is measured on")
    parser.add_argument("--log-every", type=int, default=50)
    parser.add_argument("--save-every", type=float, default=240, help="seconds")
    parser.add_argument("--eval-every", type=float, default=1e6, help="tokens")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    Trainer(args).run()


if __name__ == "__main__":
    main()
