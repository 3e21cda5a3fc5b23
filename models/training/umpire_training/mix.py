"""The stream of training examples: tasks ∝ n^0.5, own generators, several questions a state, long documents."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator

from . import generators
from .augment import label_questions, row_questions, shorten, vary_state
from .evaluate import request_tokens
from .prompts import Limits, PreparedRequest, Text, prepare
from .tasks import Example, Task

# Tasks whose questions stay answerable when unrelated text stands around their state.
EMBEDDABLE = ("esnli_nouls", "conjnli", "bbq")
UNRELATED = ("stackoverflow_tags", "metatool_routing", "sgd_dialogues")


class Mix:
    def __init__(self, tasks: list[Task], config: dict, seed: int):
        self.tasks, self.config, self.rng = {task.name: task for task in tasks}, config, random.Random(seed)
        self.names = list(self.tasks)
        scale = config["task_weights"]
        self.weights = [len(self.tasks[name].rows) ** 0.5 * scale.get(name, 1.0) for name in self.names]
        self.siblings = shared_states(tasks)
        self.embeddable = [self.tasks[name] for name in EMBEDDABLE if name in self.tasks]
        self.unrelated = [self.tasks[name] for name in UNRELATED if name in self.tasks]

    def example(self) -> Example:
        """`choice_kept` of the choices stay where a state has other questions too: those are cheap and learn slower."""
        example, kept = self.any_example(), self.config.get("choice_kept", 1.0)
        others = [q for q in example.questions if q.question.type != "choice" or self.rng.random() < kept]
        example.questions = others or example.questions
        return example

    def any_example(self) -> Example:
        rng = self.rng
        if rng.random() < self.config["generated_share"]:
            return generators.generate(rng)
        if self.embeddable and self.unrelated and rng.random() < self.config["long_share"]:
            return self.long_example()
        task = self.tasks[rng.choices(self.names, self.weights)[0]]
        row = rng.choice(task.rows)
        return Example(self.state(row["state"]), self.questions(task, row), task.name)

    def questions(self, task: Task, row: dict) -> list:
        if task.labels is None:
            return row_questions(task, row, self.rng)
        found = label_questions(task, row, self.rng)
        for other, other_row in self.siblings.get(row["state"], ()):
            if other is not task and self.rng.random() < 0.5:
                found.append(label_questions(other, other_row, self.rng)[0])
        return found

    def state(self, state: str) -> str:
        return vary_state(shorten(state, self.config["max_characters"]), self.rng)

    def long_example(self) -> Example:
        """One row's state among many unrelated ones: 1,000 to 4,000 tokens."""
        rng = self.rng
        task = rng.choice(self.embeddable)
        row = rng.choice(task.rows)
        wanted, parts = rng.randint(4000, 14000), [row["state"]]
        while sum(map(len, parts)) < wanted:
            parts.append(rng.choice(rng.choice(self.unrelated).rows)["state"])
        rng.shuffle(parts)
        return Example("\n\n".join(parts), row_questions(task, row, rng), task.name)


def shared_states(tasks: list[Task]) -> dict[str, list[tuple[Task, dict]]]:
    """States that several label tasks ask about: they are read once for all."""
    found = defaultdict(list)
    for task in tasks:
        if task.labels is not None:
            for row in task.rows:
                found[row["state"]].append((task, row))
    return {state: rows for state, rows in found.items() if len({task.name for task, _ in rows}) > 1}


def example_batches(mix: Mix, text: Text, limits: Limits) -> Iterator[tuple[list[Example], list[PreparedRequest]]]:
    """Batches of about `batch_tokens`, alike in length, in random order."""
    size = mix.config["batch_tokens"]
    while True:
        pool = [mix.example() for _ in range(mix.config["pool_examples"])]
        prepared = [prepare(e.state, [q.question for q in e.questions], text, limits) for e in pool]
        order = sorted(range(len(pool)), key=lambda i: (max(map(len, prepared[i].windows)) // 12, request_tokens(prepared[i])))
        groups, current, total = [], [], 0
        for number in order:
            tokens = request_tokens(prepared[number])
            if current and total + tokens > size:
                groups.append(current)
                current, total = [], 0
            current.append(number)
            total += tokens
        groups.append(current)
        mix.rng.shuffle(groups)
        for group in groups:
            yield [pool[i] for i in group], [prepared[i] for i in group]
