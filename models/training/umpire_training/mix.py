"""The stream of training examples: tasks ∝ n^0.5, own generators, several questions a state, long documents."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator

from . import generators
from .augment import label_questions, row_questions, shorten, vary_state
from .derived import opinions
from .evaluate import request_tokens
from .prompts import Limits, PreparedRequest, Text, prepare
from .tasks import Example, Task

# Tasks whose questions stay answerable when unrelated text stands around their state, and texts that are no such thing.
EVIDENCE = ("esnli_nouls", "conjnli", "clinc150_intents", "hwu64_intents", "metatool_routing", "sgd_dialogues", "bfcl_tools")
UNRELATED = ("stackoverflow_tags", "emobank_valence", "crisis_type", "quote_topics", "package_sections", "wordnet_domains", "tweet_sentiment")
# Tasks whose label is a topic: several rows of one label, one after the other, are a longer text on that topic.
TOPICS = ("clinc150_domains", "stackoverflow_tags", "quote_topics", "package_sections", "package_field", "wordnet_domains", "chat_topics",
          "crisis_type")
SHARE_OF_OTHERS = (0.0, 0.0, 0.15, 0.3)


class Mix:
    def __init__(self, tasks: list[Task], config: dict, seed: int):
        self.config, self.rng = config, random.Random(seed)
        tasks = [*tasks, *opinions(tasks)]
        self.tasks = {task.name: task for task in tasks}
        self.names = list(self.tasks)
        scale = config["task_weights"]
        self.weights = [len(self.tasks[name].rows) ** 0.5 * weight_of(name, scale) for name in self.names]
        self.siblings = shared_states(tasks)
        self.evidence = [self.tasks[name] for name in EVIDENCE if name in self.tasks]
        self.unrelated = [self.tasks[name] for name in UNRELATED if name in self.tasks]
        self.topics = [(self.tasks[name], by_label(self.tasks[name])) for name in TOPICS if name in self.tasks]

    def example(self) -> Example:
        """`choice_kept` of the choices stay where a state has other questions too: those are cheap and learn slower."""
        example, kept = self.any_example(), self.config.get("choice_kept", 1.0)
        others = [q for q in example.questions if q.question.type != "choice" or self.rng.random() < kept]
        example.questions = others or example.questions
        return example

    def any_example(self) -> Example:
        rng, config = self.rng, self.config
        if rng.random() < config["generated_share"]:
            return generators.generate(rng)
        if self.evidence and self.unrelated and rng.random() < config["long_share"]:
            return self.long_example()
        if self.topics and rng.random() < config.get("topic_share", 0.0):
            return self.topic_example()
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
        """One row's state among many unrelated ones, 150 to 4,000 tokens in all, and all that can be asked about it."""
        rng = self.rng
        evidence = generators.generate(rng) if rng.random() < 0.35 else self.evidence_example()
        wanted, parts = 600 * (14000 / 600) ** rng.random(), []
        kinds = [kind for kind in rng.sample(self.unrelated, min(3, len(self.unrelated))) if kind.name != evidence.task]
        while sum(map(len, parts)) + len(evidence.state) < wanted:
            parts.append(rng.choice(rng.choice(kinds or self.unrelated).rows)["state"])
        parts.insert(rng.randint(0, len(parts)), evidence.state)
        return Example(rng.choice(["\n", "\n\n", "\n---\n"]).join(parts), evidence.questions, evidence.task)

    def evidence_example(self) -> Example:
        task = self.rng.choice(self.evidence)
        row = self.rng.choice(task.rows)
        questions = [q for _ in range(1 if task.labels is None else 2) for q in self.questions(task, row)]
        return Example(row["state"], questions, task.name)

    def topic_example(self) -> Example:
        """Several rows of one label as one text, with some of others among them."""
        rng = self.rng
        task, rows = rng.choice(self.topics)
        label = rng.choice(list(rows))
        count, foreign = round(2 ** rng.uniform(1, 4)), rng.choice(SHARE_OF_OTHERS)
        parts = [rng.choice(rng.choice(list(rows.values())) if i and rng.random() < foreign else rows[label]) for i in range(count)]
        rng.shuffle(parts)
        state = rng.choice(["\n", " ", "\n\n", "\n> "]).join(parts)
        return Example(shorten(state, 3000), label_questions(task, {"label": label}, rng), task.name)


def weight_of(name: str, scale: dict[str, float]) -> float:
    """The weight named for a task, else for the longest beginning of its name that ends in `*`."""
    begins = [key for key in scale if key.endswith("*") and name.startswith(key[:-1])]
    return scale.get(name, scale[max(begins, key=len)] if begins else 1.0)


def by_label(task: Task) -> dict[str, list[str]]:
    found = defaultdict(list)
    for row in task.rows:
        if "label" in row:
            found[row["label"]].append(row["state"])
    return {label: states for label, states in found.items() if len(states) > 3}


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
