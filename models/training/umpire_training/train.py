"""Train kev.

    python -m umpire_training.train --config configs/kev.json --data $UMPIRE_DATA --out runs/kev --tokens 20e6
        [--finish-by 2026-11-21T14:25] [--resume]

The learning rate follows progress: the larger of the share of `--tokens` seen and the share of the time until
`--finish-by`. So a run that gets less machine than hoped for still ends annealed. Killed or stopped, it goes on with
`--resume`.

Several processes of one thread each share the work better than one process of several threads, most of all on a busy
machine: start every one with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its environment (`torchrun` does that).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from datetime import datetime, timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor

from .base import base_folder
from .batch import Batch, collate
from .evaluate import answer_all, by_task
from .mix import Mix, example_batches
from .neighbours import know_neighbours
from .model import KevModel, from_minilm
from .prompts import QUESTION_TYPES, Limits, Text
from .tasks import Example, data_folder, heldout_tasks, plain_examples, training_tasks


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


def optimizer_for(model: KevModel, config: dict) -> torch.optim.Optimizer:
    """Two rates; biases, norms and embeddings without decay."""
    new = ("head_module", "piece_projection", "window_indexes")  # the match starts as a copy: backbone rate
    groups: dict[tuple, list] = {}
    for name, parameter in model.named_parameters():
        if name.split(".")[0] in config["freeze"]:
            parameter.requires_grad_(False)
            continue
        rate = "head_lr" if name.startswith(new) else "backbone_lr"
        decays = parameter.ndim == 2 and "embedding" not in name and "indexes" not in name and "match.weight" not in name
        groups.setdefault((config[rate], config["weight_decay"] if decays else 0.0), []).append(parameter)
    parts = [{"params": found, "lr": rate, "base_lr": rate, "weight_decay": decay} for (rate, decay), found in groups.items()]
    return torch.optim.AdamW(parts, betas=(0.9, 0.98), fused=True)


def schedule(progress: float, config: dict) -> float:
    """Linear warm-up, then cosine down to `final_lr`."""
    if progress < config["warmup"]:
        return max(progress / config["warmup"], 0.01)
    share = min(1.0, (progress - config["warmup"]) / (1 - config["warmup"]))
    return config["final_lr"] + (1 - config["final_lr"]) * 0.5 * (1 + math.cos(math.pi * share))


class Progress:
    """From 0 to 1 by tokens, or by the clock where that is further."""

    def __init__(self, budget: float, finish_by: str | None, start: float = 0.0):
        self.budget, self.start, self.began = budget, start, time.time()
        self.end = datetime.fromisoformat(finish_by).timestamp() if finish_by else None

    def __call__(self, tokens: int) -> float:
        by_tokens = tokens / self.budget
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

    def share(self, parameters: list[Tensor], numbers: list[float]) -> list[float]:
        """Gradients become their mean over the processes; -> the sums of `numbers`."""
        if self.count == 1:
            return numbers
        grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        flat = torch.cat([grad.flatten() for grad in grads] + [torch.tensor(numbers)])
        dist.all_reduce(flat)
        place = 0
        for parameter, grad in zip(parameters, grads):
            parameter.grad = (flat[place: place + grad.numel()] / self.count).view_as(grad)
            place += grad.numel()
        return flat[place:].tolist()


class Trainer:
    def __init__(self, args: argparse.Namespace):
        self.workers = Workers()
        self.args, self.config = args, json.loads(Path(args.config).read_text())
        self.out = Path(args.out)
        self.out.mkdir(parents=True, exist_ok=True)
        base = base_folder()
        self.text = Text(base / "tokenizer.json")
        # Small chunks change no number (pieces never see each other) and save most of the attention.
        self.limits = Limits(branch_tokens=self.config["branch_tokens"])
        torch.manual_seed(self.config["seed"])
        self.model = from_minilm(base).train()
        self.optimizer = optimizer_for(self.model, self.config)
        self.tokens, self.steps, done = 0, 0, 0.0
        if args.resume:
            done = self.restore()
        elif args.start:
            self.model.load_state_dict(torch.load(args.start, weights_only=True)["model"])
        self.clock = Progress(args.tokens, args.finish_by, done)
        self.progress = done  # the same in every process: taken over after each step
        folder, rows = data_folder(args.data), self.config
        left_out = set(json.loads(Path(args.exclude).read_text())) if args.exclude else set()
        tasks = [task for source in [folder, *map(Path, args.extra)]
                 for task in training_tasks(source, rows["rows_per_task"], rows["heldout_rows_per_task"], left_out=left_out)]
        know_neighbours(tasks, base, self.text)
        self.mix = Mix(tasks, self.config, self.config["seed"] + self.steps + 1000 * self.workers.rank)
        self.dev = []
        if self.workers.rank == 0:
            self.dev = [e for task in heldout_tasks(folder, args.dev_rows) for e in plain_examples(task)]

    def restore(self) -> float:
        saved = torch.load(self.out / "last.pt", weights_only=True)
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.tokens, self.steps = saved["tokens"], saved["steps"]
        return saved["progress"]

    def save(self, name: str = "last.pt") -> None:
        """Written beside and moved into place: a kill never leaves half a checkpoint."""
        if self.workers.rank:
            return
        from .model import save

        extra = {"tokens": self.tokens, "steps": self.steps, "progress": self.progress}
        if name == "last.pt":
            extra["optimizer"] = self.optimizer.state_dict()
        save(self.model, self.out / "writing.pt", **extra)
        os.replace(self.out / "writing.pt", self.out / name)

    def log(self, **values) -> None:
        if self.workers.rank:
            return
        line = {"time": datetime.now().isoformat(timespec="seconds"), "steps": self.steps, "tokens": self.tokens,
                "progress": round(self.progress, 4), **values}
        with open(self.out / "log.jsonl", "a") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    def step(self, examples, requests) -> tuple[float, int, int]:
        batch = collate(requests, self.limits.max_window_index)
        factor = schedule(self.progress, self.config)
        for group in self.optimizer.param_groups:
            group["lr"] = group["base_lr"] * factor
        with torch.autocast("cpu", torch.bfloat16, enabled=not self.args.fp32):
            logits = self.model.forward_batch(batch)
        loss, hits = loss_of(logits, targets(examples, batch), batch, self.config["rps_weight"])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        parameters = [p for p in self.model.parameters() if p.requires_grad]
        numbers = [float(len(batch.token_ids)), self.clock(self.tokens), loss.item(), float(hits.sum()), float(len(hits))]
        tokens, progress, total, right, asked = self.workers.share(parameters, numbers)
        torch.nn.utils.clip_grad_norm_(parameters, self.config["clip"])
        self.optimizer.step()
        self.tokens += int(tokens)
        self.progress = progress / self.workers.count
        self.steps += 1
        return total / self.workers.count, int(right), int(asked)

    def evaluate(self) -> None:
        table = by_task(answer_all(self.model.eval(), self.text, self.dev, self.limits))
        self.model.train()
        self.log(dev={name: round(row["accuracy"], 4) for name, row in table.items()})

    def run(self) -> None:
        saved = evaluated = time.time()
        losses, right, asked, since, counted = [], 0, 0, time.time(), self.tokens
        for examples, requests in example_batches(self.mix, self.text, self.limits):
            loss, hits, count = self.step(examples, requests)
            losses, right, asked = [*losses, loss], right + hits, asked + count
            now = time.time()
            if self.steps % self.args.log_every == 0:
                self.log(loss=round(sum(losses) / len(losses), 4), accuracy=round(right / asked, 4), questions=asked,
                         tokens_per_second=round((self.tokens - counted) / (now - since)))
                losses, right, asked, since, counted = [], 0, 0, now, self.tokens
            if now - saved > self.args.save_every:
                self.save()
                saved = time.time()
            if self.dev and now - evaluated > self.args.eval_every:
                self.evaluate()
                evaluated = time.time()
            if self.progress >= 1:
                break
        self.save()
        self.save("final.pt")
        if self.dev:
            self.evaluate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="configs/kev.json")
    parser.add_argument("--data")
    parser.add_argument("--extra", nargs="*", default=[], help="more folders of training tasks, in the same format")
    parser.add_argument("--exclude", help="JSON of leaks.py: digests of training states to leave out")
    parser.add_argument("--out", default="runs/kev")
    parser.add_argument("--tokens", type=float, default=20e6)
    parser.add_argument("--finish-by", help="ISO time")
    parser.add_argument("--start", help="weights to start from, with a schedule of its own")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--fp32", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dev-rows", type=int, default=16)
    parser.add_argument("--log-every", type=int, default=20)
    parser.add_argument("--save-every", type=float, default=240)
    parser.add_argument("--eval-every", type=float, default=900)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    trainer = Trainer(args)
    if args.resume and not (trainer.out / "last.pt").exists():
        raise SystemExit("nothing to resume")
    trainer.run()


if __name__ == "__main__":
    main()
