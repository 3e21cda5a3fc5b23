"""Short training runs that differ in one thing, all measured on the same held-out rows.

    python -m umpire_training.trials --data $UMPIRE_DATA --tokens 3e5 --out runs/trials.jsonl [--only base marker …]

Every trial starts from the base model with the configuration of `configs/trial.json`, sees as many tokens as the others
and ends annealed. One line of JSON a trial. A difference is only worth something beyond that of the two `base` seeds.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor

from .base import base_folder
from .batch import collate
from .evaluate import FAST, Answer, answer_all, by_task, option_names
from .mix import Mix, example_batches
from .model import KevModel, from_minilm
from .prompts import SEP, Limits, PreparedRequest, Text, prepare, with_specials
from .tasks import Example, data_folder, heldout_tasks, plain_examples, training_tasks
from .train import loss_of, optimizer_for, schedule, targets


class Marker(KevModel):
    """A piece is read at its last token, the `[SEP]`, instead of the mean of all its tokens."""

    def read_out(self, b, x: Tensor, state_value: Tensor) -> Tensor:
        piece = b.token_piece
        last = torch.cat([piece[1:] != piece[:-1], piece.new_ones(1, dtype=torch.bool)])
        kept = torch.where(last, piece, len(b.piece_lengths))
        return super().read_out(replace(b, token_piece=kept, piece_lengths=torch.ones_like(b.piece_lengths)), x, state_value)


class NoWindowIndex(KevModel):
    def start_match(self, floor: float = 0.2) -> None:
        super().start_match(floor)
        self.window_indexes.weight.requires_grad_(False)


class NoSetLayer(KevModel):
    """The gate stays closed: options of a question never see each other."""

    def start_match(self, floor: float = 0.2) -> None:
        super().start_match(floor)
        self.head_module.set_layer.requires_grad_(False)


class NoInstructionMatch(KevModel):
    """The head knows of the instructions only what the options' tokens have read."""

    def start_match(self, floor: float = 0.2) -> None:
        super().start_match(floor)
        head = self.head_module
        for part in (head.lead_match, head.level_bias, self.lead_projection, self.match_lead):
            part.requires_grad_(False)
        torch.nn.init.zeros_(head.lead_match.weight)
        torch.nn.init.zeros_(head.level_bias.weight)


def ask_before_reading(example: Example, text: Text, limits: Limits) -> tuple[list[Example], list[PreparedRequest]]:
    """Question-aware: every question has a state of its own, whose windows begin with the instructions."""
    room, found = limits.window_tokens // 4, ([], [])
    for labelled in example.questions:
        lead = text.ids(labelled.question.instructions)[:room]
        request = prepare(example.state, [labelled.question], text, limits)
        parts = text.cut(text.ids(example.state), limits.window_tokens - 3 - len(lead)) or [[]]
        request.windows = [with_specials([*lead, SEP, *part]) for part in parts]
        found[0].append(Example(example.state, [labelled], example.task))
        found[1].append(request)
    return found


SEEN = ["sgd_dialogues", "goemotions_nouls", "esnli_nouls", "pii", "crisis_topic", "forum_hate"]  # rows kept from training


@dataclass
class Trial:
    config: dict = field(default_factory=dict)
    window_tokens: int = 256
    model: type[KevModel] = KevModel
    question_aware: bool = False


TRIALS: dict[str, Trial] = {
    "base": Trial(),
    "base, other seed": Trial({"seed": 12}),
    "question-aware state": Trial(question_aware=True),
    "marker": Trial(model=Marker),
    "windows of 128": Trial(window_tokens=128),
    "windows of 448": Trial(window_tokens=448),
    "no window index": Trial(model=NoWindowIndex),
    "no set layer": Trial(model=NoSetLayer),
    "no instruction match": Trial(model=NoInstructionMatch),
    "generated 0": Trial({"generated_share": 0.0}),
    "generated 0.5": Trial({"generated_share": 0.5}),
    "encoder rate 3e-5": Trial({"backbone_lr": 3e-5}),
    "encoder rate 3e-4": Trial({"backbone_lr": 3e-4}),
}


def build(kind: type[KevModel], base: Path) -> KevModel:
    return from_minilm(base, kind=kind)


def aware(batches, text: Text, limits: Limits):
    for examples, _ in batches:
        parts = [ask_before_reading(example, text, limits) for example in examples]
        yield [e for found, _ in parts for e in found], [r for _, found in parts for r in found]


def train(trial: Trial, config: dict, tokens: float, data: Path, text: Text) -> tuple[KevModel, Limits]:
    config = {**config, **trial.config}
    limits = Limits(window_tokens=trial.window_tokens, branch_tokens=config["branch_tokens"])
    torch.manual_seed(config["seed"])
    model = build(trial.model, base_folder()).train()
    optimizer = optimizer_for(model, config)
    parameters = [p for p in model.parameters() if p.requires_grad]
    tasks = training_tasks(data, config["rows_per_task"], config["heldout_rows_per_task"])
    batches = example_batches(Mix(tasks, config, config["seed"]), text, limits)
    seen = 0
    for examples, requests in aware(batches, text, limits) if trial.question_aware else batches:
        batch = collate(requests, limits.max_window_index)
        factor = schedule(seen / tokens, config)
        for group in optimizer.param_groups:
            group["lr"] = group["base_lr"] * factor
        with torch.autocast("cpu", torch.bfloat16):
            logits = model.forward_batch(batch)
        loss, _ = loss_of(logits, targets(examples, batch), batch, config["rps_weight"])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, config["clip"])
        optimizer.step()
        seen += len(batch.token_ids)
        if seen >= tokens:
            return model.eval(), limits
    raise AssertionError("the mix never ends")


def measure(trial: Trial, model: KevModel, limits: Limits, rows: dict[str, list[Example]], text: Text) -> dict:
    """Accuracy per task and the mean over the held-out ones."""
    found = {}
    for name, examples in rows.items():
        if trial.question_aware:
            answers = answer_aware(model, examples, text, limits)
        else:
            answers = answer_all(model, text, examples, replace(FAST, window_tokens=limits.window_tokens))
        found[name] = by_task(answers)["mean over tasks"]
    return {"accuracy": {name: round(row["accuracy"], 3) for name, row in found.items()},
            "nll": {name: round(row["nll"], 3) for name, row in found.items()}}


@torch.inference_mode()
def answer_aware(model: KevModel, examples: list[Example], text: Text, limits: Limits) -> list[Answer]:
    answers = []
    for example in examples:
        singles, requests = ask_before_reading(example, text, limits)
        batch = collate(requests, limits.max_window_index)
        for single, row, places in zip(singles, model.forward_batch(batch).tolist(), batch.places):
            labelled = single.questions[0]
            logits = [0.0] * len(places)
            for column, place in enumerate(places):
                logits[place] = row[column]
            answers.append(Answer(labelled.task, labelled.question.type, logits, labelled.target, option_names(labelled.question)))
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="configs/trial.json")
    parser.add_argument("--data")
    parser.add_argument("--tokens", type=float, default=3e5)
    parser.add_argument("--rows", type=int, default=100, help="held-out rows per task")
    parser.add_argument("--only", nargs="*", default=list(TRIALS), choices=list(TRIALS))
    parser.add_argument("--out", default="runs/trials.jsonl")
    args = parser.parse_args()
    torch.set_num_threads(1)
    folder, text = data_folder(args.data), Text(base_folder() / "tokenizer.json")
    rows = {task.name: plain_examples(task) for task in heldout_tasks(folder, args.rows)}
    rows |= {task.name: plain_examples(task) for task in training_tasks(folder, 100, only=SEEN)}
    for name in args.only:
        trial, began = TRIALS[name], time.time()
        model, limits = train(trial, json.loads(Path(args.config).read_text()), args.tokens, folder, text)
        line = {"trial": name, "tokens": args.tokens, "train_s": round(time.time() - began), **measure(trial, model, limits, rows, text)}
        with open(args.out, "a") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
