"""Answers of exported graphs to labelled questions, one run after the other as on a server, and their logits for `calibrate`.

    python -m umpire_training.onnx_answers --folder ../kev --out runs/answers.int8.json --data DIR
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from .evaluate import Answer, option_names, save_answers
from .onnx_model import OnnxKev
from .prompts import Limits, Text, prepare
from .reference import encode_windows, question_logits
from .tasks import Example, data_folder, measured_tasks, plain_examples


@torch.inference_mode()
def onnx_answers(model: OnnxKev, text: Text, examples: list[Example], limits: Limits = Limits()) -> list[Answer]:
    """As `evaluate.answer_all`, in the order of the examples and their questions."""
    answers = []
    for example in examples:
        request = prepare(example.state, [labelled.question for labelled in example.questions], text, limits)
        windows = encode_windows(model, request.windows, 0, limits)
        for labelled, question in zip(example.questions, request.questions):
            logits = [0.0] * len(question.order)
            for place, logit in zip(question.order, question_logits(model, question, windows, limits).tolist()):
                logits[place] = logit
            names = option_names(labelled.question)
            answers.append(Answer(labelled.task, labelled.question.type, logits, labelled.target, names))
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--data")
    parser.add_argument("--extra", type=Path, nargs="*", default=[], help="more folders of training tasks")
    parser.add_argument("--rows", type=int, default=60, help="of every training task (the first, which training skips)")
    parser.add_argument("--heldout-rows", type=int, default=250, help="of every held-out task")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    tasks = measured_tasks(data_folder(options.data), options.extra, options.rows, options.heldout_rows)
    text = Text(options.folder / "tokenizer.json")
    model = OnnxKev.open(options.folder, options.precision, options.threads)
    answers = onnx_answers(model, text, [example for task in tasks for example in plain_examples(task)])
    save_answers(answers, options.out)
    print(f"{len(answers)} answers")


if __name__ == "__main__":
    main()
