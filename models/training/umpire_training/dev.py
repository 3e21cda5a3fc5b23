"""What a run measures itself by: rows and documents that are never trained on, and questions that only reading answers.

    python -m umpire_training.dev --pack runs/kev.pack --model runs/final.pt [--averaged] [--rows 500] [--out runs/dev.json]

Beside the held-out tasks: entailment, yes/no on passages, levels of sentiment, scope, spam; statements about a text as they are, and sentences of
documents beside the same with one thing changed; the written documents by type of
question; pairs that one edit tells apart, both sides right; and choices under another question's instructions, which must
fall to chance.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from .altered import Altered
from .augment import noul
from .base import base_folder
from .evaluate import FAST, Answer, answer_all, by_task, mean
from .model import KevModel
from .prompts import Text
from .statements import plainly, statements_of
from .tasks import Example, Labelled, Task, plain_examples, training_tasks
from .written import Document, asked, snippet

DEV_ROWS = 500
DEV_TASKS = {
    "mnli_dev": "entailment", "nli_counterfactual": "entailment", "boolq": "passages", "negation_passages": "passages",
    "graded_sentiment": "levels", "drug_reviews": "levels", "bot_scope": "scope", "support_scope": "scope", "spam_mail": "spam", "verb_roles": "roles",
}
NONE_NAMES = {"none of these", "no match", "other", "none", "none of the above", "something else", "not listed", "nothing fits", "out of scope", "unknown"}
ALTERED = 60  # examples about kept documents


def development_rows(folders: list[Path]) -> dict[str, Task]:
    """The first rows of the development tasks, wherever they stand."""
    found = {}
    for folder in folders:
        for task in training_tasks(folder, DEV_ROWS, only=list(DEV_TASKS)):
            found.setdefault(task.name, task)
    return found


def right(answer: Answer) -> bool:
    return max(range(len(answer.logits)), key=answer.logits.__getitem__) == answer.gold


def accuracy(answers: list[Answer]) -> float:
    return round(mean([right(answer) for answer in answers]), 4)


def ranked(answers: list[Answer]) -> float:
    """Share of pairs of a yes and a no that the logits put in order (the area under the ROC curve): what is known before
    the threshold is right."""
    margins = [(answer.logits[1] - answer.logits[0], answer.gold) for answer in answers if answer.type == "noul"]
    yes, no = ([margin for margin, gold in margins if gold == side] for side in (1, 0))
    return round(mean([(a > b) + 0.5 * (a == b) for a in yes for b in no]), 4)


def altered_sentences(written: list[Document], short: float) -> list[Example]:
    texts = Altered([], written, short, random.Random(7))
    return [example for _ in range(ALTERED) if (example := texts.example(plain=True))]


def alone(answer: Callable[[list[Example]], list[Answer]], examples: list[Example]) -> list[Answer]:
    return answer(examples)


class Development:
    """rows: of every task and held-out task at most; the written documents are always all asked.

    share: how several processes answer together, which all ask for the same
    """

    def __init__(self, heldout: list[Task], dev: dict[str, Task], written: list[Document], rows: int, heldout_rows: int, share=alone):
        self.share = share
        self.heldout = [e for task in heldout for e in plain_examples(replace(task, rows=task.rows[:heldout_rows]))]
        self.dev = {name: plain_examples(replace(task, rows=task.rows[:rows])) for name, task in dev.items()}
        self.written = written
        self.plain = [plainly(text, said, random.Random(text)) for text, said in statements_of([replace(task, rows=task.rows[:rows]) for task in dev.values()])[0]]
        self.altered = {"altered": altered_sentences(written, 0.0), "altered in short": altered_sentences(written, 1.0)} if written else {}

    def figures(self, model: KevModel, text: Text, fast: bool = False) -> dict[str, float]:
        """fast: in bfloat16, as a run trains"""
        def ask(examples: list[Example]) -> list[Answer]:
            with torch.autocast(next(model.parameters()).device.type, torch.bfloat16, enabled=fast):
                return self.share(lambda part: answer_all(model, text, part, FAST), examples)

        heldout = by_task(ask(self.heldout))
        found = {f"heldout {name}": round(row["accuracy"], 4) for name, row in heldout.items()}
        groups = defaultdict(list)
        for name, examples in self.dev.items():
            groups[DEV_TASKS[name]] += ask(examples)
        found |= {name: accuracy(answers) for name, answers in groups.items()}
        found |= {f"{name} ranked": ranked(groups[name]) for name in ("entailment", "passages")}
        found |= {f"{name} ranked": ranked(ask(examples)) for name, examples in {"plain statements": self.plain, **self.altered}.items()}
        return found | self.level_figures(groups["levels"]) | self.scope_figures(groups["scope"]) | self.written_figures(ask) | self.statement_figures(ask) | self.swapped(ask)

    def level_figures(self, answers: list[Answer]) -> dict[str, float]:
        """Five levels of sentiment: exact, and mean distance of the likeliest level from the gold one."""
        five = [answer for answer in answers if answer.task == "graded_sentiment"]
        away = [abs(max(range(5), key=answer.logits.__getitem__) - answer.gold) for answer in five]
        return {"sentiment exact": accuracy(five), "sentiment levels away": round(mean(away), 3)}

    def scope_figures(self, answers: list[Answer]) -> dict[str, float]:
        """Choices that hold a "none": found where it is right, the right option kept where it is not."""
        outside, inside = [], []
        for answer in answers:
            none = [i for i, name in enumerate(answer.names) if name.lower().replace("_", " ") in NONE_NAMES]
            if answer.type == "choice" and none:
                (outside if answer.gold in none else inside).append(answer)
        return {"scope out found": accuracy(outside), "scope in kept": accuracy(inside)}

    def written_figures(self, ask) -> dict[str, float]:
        """By type; and both sides of every pair of a document and its edit, for the questions that the edit flips."""
        sides = []
        for document in self.written:
            names = list(document.questions)
            for edit in (None, *document.edits):
                state = document.state if edit is None else document.edited(edit)
                same_wordings = random.Random(document.id)
                sides.append((document, edit, names, Example(state, asked(document, names, edit, same_wordings), "written")))
        answers = iter(ask([example for *_, example in sides]))
        of_type, plain, pairs = defaultdict(list), {}, []
        for document, edit, names, _ in sides:
            for name in names:
                answer = next(answers)
                if edit is None:
                    of_type[answer.type].append(answer)
                    plain[document.id, name] = right(answer)
                elif name in edit.gold:
                    pairs.append(plain[document.id, name] and right(answer))
        found = {f"written {kind}": accuracy(answers) for kind, answers in sorted(of_type.items())}
        chance = mean([1 / len(answer.logits) for answer in of_type["choice"]])
        return found | {"written choice by chance": round(chance, 4), "written pairs": round(mean(pairs), 4), "written pairs asked": len(pairs)}

    def statement_figures(self, ask) -> dict[str, float]:
        """Pairs of statements of which one is true: right, and the true one ahead, of the document and of the sentences alone that decide."""
        pairs = [(document.state, pair) for document in self.written for pair in document.pairs]
        found = {}
        for name, states in (("", [state for state, _ in pairs]), (" in short", [snippet(state, pair.quotes) for state, pair in pairs])):
            sides = [Example(state, [noul(pair.true, True, "written"), noul(pair.false, False, "written")], "written") for state, (_, pair) in zip(states, pairs)]
            answers = ask(sides)
            ahead = [yes.logits[1] - yes.logits[0] > no.logits[1] - no.logits[0] for yes, no in zip(answers[::2], answers[1::2])]
            found |= {f"statements{name}": accuracy(answers), f"statements{name} in order": round(mean(ahead), 4)} if pairs else {}
        return found

    def swapped(self, ask) -> dict[str, float]:
        """Choices under another question's instructions. Roles share their options: other questions of the same sentence."""
        rng = random.Random(6)
        roles = [(e.state, q) for e in self.dev.get("verb_roles", []) for q in e.questions if q.question.type == "choice"]
        written = [(d.state, q) for d in self.written for q in asked(d, list(d.questions), None, rng) if q.question.type == "choice"]
        chance = mean([1 / len(labelled.question.options) for _, labelled in roles])
        return {"roles own": accuracy(ask([Example(state, [labelled], "roles") for state, labelled in roles])),
                "roles swapped": accuracy(ask(under_foreign_instructions(roles, rng))), "roles by chance": round(chance, 4),
                "written swapped": accuracy(ask(under_foreign_instructions(written, rng)))}


def under_foreign_instructions(choices: list[tuple[str, Labelled]], rng: random.Random) -> list[Example]:
    """(state, choice) -> the same, asked what another state's choice asks; a choice without another is left out."""
    found = []
    for state, labelled in choices:
        if others := [other.question.instructions for elsewhere, other in choices if elsewhere != state]:
            foreign = replace(labelled.question, instructions=rng.choice(others))
            found.append(Example(state, [replace(labelled, question=foreign)], "swapped"))
    return found


def main() -> None:
    from .model import load
    from .pack import load as load_pack

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", type=Path, default=Path("runs/kev.pack"))
    parser.add_argument("--model", default="runs/final.pt")
    parser.add_argument("--averaged", action="store_true", help="of a checkpoint: its weights averaged over the last steps")
    parser.add_argument("--rows", type=int, default=DEV_ROWS)
    parser.add_argument("--heldout-rows", type=int, default=250)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    pack, text = load_pack(args.pack), Text(base_folder() / "tokenizer.json")
    found = Development(pack.heldout, pack.dev, pack.written_dev, args.rows, args.heldout_rows).figures(load(args.model, args.averaged), text)
    for name, value in found.items():
        print(f"{name:32} {value}")
    if args.out:
        Path(args.out).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
