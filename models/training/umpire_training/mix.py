"""The stream of training examples: groups of tasks by share, several questions a state, pairs that differ in one place,
long documents from the first step on.

A unit is one example, or the two sides of a pair: an edit flips an answer, and both must be in one batch to be worth most.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from . import generators
from .altered import Altered
from .augment import label_questions, row_questions, shorten, vary_state
from .derived import opinions
from .evidence import EvidentQuestion, places_of
from .evaluate import request_tokens
from .prompts import Limits, PreparedRequest, Text, prepare
from .rewording import noul_criteria, vary_levels
from .statements import gathered, plainly, statements_of
from .tasks import Example, Task
from .written import Document, asked, asked_more, in_short, stated, turned

Unit = list[Example]
ExampleBatch = tuple[list[Example], list[PreparedRequest]]

# Tasks whose questions stay answerable when unrelated text stands around their state, and texts that are no such thing.
EVIDENCE = ("esnli_nouls", "clinc150_intents", "hwu64_intents", "metatool_routing", "sgd_dialogues", "bfcl_tools", "boolq", "negation_passages",
            "passages_open", "info_tables", "table_facts", "who_did_what", "verb_roles", "drug_reviews", "relations", "town_dialogues", "sentence_answers")
UNRELATED = ("stackoverflow_tags", "emobank_valence", "crisis_type", "quote_topics", "package_sections", "wordnet_domains", "tweet_sentiment",
             "paper_fields", "medical_abstracts", "spam_mail")
# Tasks whose label is a topic: several rows of one label, one after the other, are a longer text on that topic.
TOPICS = ("clinc150_domains", "stackoverflow_tags", "quote_topics", "package_sections", "package_field", "wordnet_domains", "chat_topics",
          "crisis_type")
SHARE_OF_OTHERS = (0.0, 0.0, 0.15, 0.3)
QUESTIONS_BY_LENGTH = ((1500, 4), (4000, 6), (1 << 60, 9))  # characters of the state, questions asked at most: a long one is dear to read


class Mix:
    def __init__(self, tasks: list[Task], config: dict, seed: int, written: list[Document] = ()):
        self.config, self.rng, self.written = config, random.Random(seed), list(written)
        tasks = [*tasks, *opinions(tasks)]
        self.groups = grouped({task.name: task for task in tasks}, config["groups"])
        self.tasks = {task.name: asked_together(task) for task in tasks}
        self.by_level = {task.name: rows_by_level(task) for task in tasks if task.type == "score" and task.labels}
        self.siblings = shared_states(tasks)
        self.evidence = [self.tasks[name] for name in EVIDENCE if name in self.tasks]
        self.unrelated = [self.tasks[name] for name in UNRELATED if name in self.tasks]
        self.texts, self.backed = statements_of(tasks)
        self.altered = Altered(tasks, self.written, config["altered_short"], self.rng)
        self.topics = [(self.tasks[name], by_label(self.tasks[name])) for name in TOPICS if name in self.tasks]

    def unit(self) -> Unit:
        """Of the kind that the shares of the configuration draw."""
        rng, config = self.rng, self.config
        kinds = ["written", "generated", "long", "topic", "gathered", "altered", "task"]
        shares = [config[f"{kind}_share"] for kind in kinds[:-1]]
        [kind] = rng.choices(kinds, [*shares, 1 - sum(shares)])
        if kind == "written" and self.written:
            return [self.finished(example) for example in self.pair()]
        if kind == "generated":
            return [self.finished(generators.generate(rng))]
        if kind == "long" and self.evidence and self.unrelated:
            return [self.finished(self.long_example())]
        if kind == "topic" and self.topics:
            return [self.finished(self.topic_example())]
        plain = rng.random() < config["plain_share"]
        if kind == "gathered" and self.backed:
            if plain:
                return [plainly(*rng.choice(self.texts), rng)]
            return [self.finished(gathered(self.texts, self.backed, config["gathered_which"], rng))]
        if kind == "altered" and (example := self.altered.example(plain)):
            return [example if plain else self.finished(replace(example, state=vary_state(example.state, rng)))]
        return [self.finished(self.task_example())]

    def finished(self, example: Example) -> Example:
        """Levels and criteria of yes/no in other words; of written questions as they are, their writers chose them."""
        if example.task != "written":
            example.questions = [noul_criteria(vary_levels(q, self.rng), self.rng, self.config["criteria_share"]) for q in example.questions]
        return example

    # --- one row of a task ------------------------------------------------------------------------------------------

    def task_example(self) -> Example:
        rng = self.rng
        _, names, weights = rng.choices(self.groups, [group[0] for group in self.groups])[0]
        task = self.tasks[rng.choices(names, weights)[0]]
        row = self.row(task)
        return Example(self.state(row["state"]), self.questions(task, row), task.name)

    def row(self, task: Task) -> dict:
        """Any row; where rows have a level, every level is drawn as often."""
        levels = self.by_level.get(task.name)
        return self.rng.choice(self.rng.choice(levels) if levels and self.rng.random() < 0.8 else task.rows)

    def questions(self, task: Task, row: dict) -> list:
        if task.labels is None:
            most = next(count for length, count in QUESTIONS_BY_LENGTH if len(row["state"]) < length)
            return row_questions(task, row, self.rng, most)
        found = label_questions(task, row, self.rng)
        for other, other_row in self.siblings.get(row["state"], ()):
            if other is not task and self.rng.random() < 0.5:
                found.append(label_questions(other, other_row, self.rng)[0])
        return found

    def state(self, state: str) -> str:
        return vary_state(shorten(state, self.config["max_characters"]), self.rng)

    # --- written documents ------------------------------------------------------------------------------------------

    def pair(self) -> Unit:
        """A document as it is and after one of its edits, asked the same; or two versions of it by turns; or a document alone, or what of it decides some statements."""
        rng, config, document = self.rng, self.config, self.rng.choice(self.written)
        names = rng.sample(list(document.questions), len(document.questions))
        known = bool(document.pairs)
        if document.turns and rng.random() < config["turned_share"]:
            short = rng.random() < config["snippet_share"]
            same, sides = rng.random(), turned(document, rng.choice([1, 2, 3, 4]), short, rng)
            return [replace(side, state=vary_state(side.state, random.Random(same))) for side in sides]
        if known and rng.random() < config["snippet_share"]:
            example = in_short(document, rng)
            return [replace(example, state=vary_state(example.state, rng))]
        if not document.edits or rng.random() < config["alone_share"] + config["pairs_share"] * known:
            pairs, more = (rng.sample(found, min(len(found), 5)) for found in (document.pairs, document.more))
            questions = [*asked(document, names[:4] if known else names, None, rng), *stated(pairs, rng), *asked_more(more)]
            return [Example(vary_state(document.state, rng), questions, "written")]
        edit = rng.choice(document.edits)
        names = [*edit.gold, *[name for name in names if name not in edit.gold][: rng.choice([1, 2, 3])]]
        seed, unit = rng.random(), []
        for side in (None, edit):
            same = random.Random(seed)
            state = document.state if side is None else document.edited(side)
            unit.append(Example(vary_state(state, same), asked(document, names, side, same), "written"))
        return unit

    # --- longer documents -------------------------------------------------------------------------------------------

    def long_example(self) -> Example:
        """What can be asked about one row's state, among many unrelated ones: 150 to 4,000 tokens in all."""
        rng = self.rng
        evidence = self.long_evidence()
        wanted, parts = 600 * (14000 / 600) ** rng.random(), []
        kinds = [kind for kind in rng.sample(self.unrelated, min(3, len(self.unrelated))) if kind.name != evidence.task]
        while sum(map(len, parts)) + len(evidence.state) < wanted:
            parts.append(shorten(rng.choice(rng.choice(kinds or self.unrelated).rows)["state"], 3000))
        parts.insert(rng.randint(0, len(parts)), evidence.state)
        questions = [q if q.evidence else replace(q, evidence=(evidence.state,)) for q in evidence.questions]
        return Example(rng.choice(["\n", "\n\n", "\n---\n"]).join(parts), questions, evidence.task)

    def long_evidence(self) -> Example:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.25:
            return generators.generate(rng)
        if kind < 0.5 and self.written:
            document = rng.choice(self.written)
            return Example(document.state, asked(document, list(document.questions), None, rng), "written")
        task = rng.choice(self.evidence)
        row = rng.choice(task.rows)
        questions = [q for _ in range(1 if task.labels is None else 2) for q in self.questions(task, row)]
        return Example(shorten(row["state"], 6000), questions, task.name)

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


def asked_together(task: Task) -> Task:
    """Rows that bring their own questions about one state, as one row: the state is read once for all of them, and statements
    about one text with different answers are what teaches to read (TRIALS.md)."""
    if task.labels is not None:
        return task
    found: dict[str, dict[str, dict]] = {}
    for row in task.rows:
        questions = found.setdefault(row["state"], {})
        for question in row["questions"]:
            questions.setdefault(question["instructions"], question)
    return replace(task, rows=[{"state": state, "questions": list(questions.values())} for state, questions in found.items()])


def grouped(tasks: dict[str, Task], groups: dict[str, dict]) -> list[tuple[float, list[str], list[float]]]:
    """(share, names, weights) of every group. A task belongs to the first group that names it, in full or by a beginning
    that ends in `*`; inside a group tasks are drawn by the root of their rows times their weight there."""
    left, found = dict(tasks), []
    for group in groups.values():
        names, weights = [], []
        for name in list(left):
            if (weight := weight_of(name, group["tasks"])) is not None:
                task = left.pop(name)
                if weight and task.rows:
                    names.append(name)
                    weights.append(weight * len(task.rows) ** 0.5)
        if names:
            found.append((group["share"], names, weights))
    if left:
        raise SystemExit(f"in no group of the configuration: {', '.join(sorted(left))}")
    return found


def weight_of(name: str, scale: dict[str, float]) -> float | None:
    """The weight named for a task, else for the longest beginning of its name that ends in `*`."""
    begins = [key for key in scale if key.endswith("*") and name.startswith(key[:-1])]
    return scale.get(name, scale[max(begins, key=len)] if begins else None)


def by_label(task: Task) -> dict[str, list[str]]:
    found = defaultdict(list)
    for row in task.rows:
        if "label" in row:
            found[row["label"]].append(row["state"])
    return {label: states for label, states in found.items() if len(states) > 3}


def rows_by_level(task: Task) -> list[list[dict]]:
    found = defaultdict(list)
    for row in task.rows:
        shares = row.get("soft") or {row["label"]: 1.0}
        found[max(shares, key=shares.get)].append(row)
    return [rows for rows in found.values() if len(rows) >= 20]


def shared_states(tasks: list[Task]) -> dict[str, list[tuple[Task, dict]]]:
    """States that several label tasks ask about: they are read once for all."""
    found = defaultdict(list)
    for task in tasks:
        if task.labels is not None:
            for row in task.rows:
                found[row["state"]].append((task, row))
    return {state: rows for state, rows in found.items() if len({task.name for task, _ in rows}) > 1}


def prepared_with_evidence(example: Example, text: Text, limits: Limits) -> PreparedRequest:
    request = prepare(example.state, [q.question for q in example.questions], text, limits)
    places = places_of(example.state, [q.evidence for q in example.questions], text, limits)
    return replace(request, questions=[EvidentQuestion(**vars(question), evidence=found) for question, found in zip(request.questions, places, strict=True)])


def example_batches(mix: Mix, text: Text, limits: Limits) -> Iterator[ExampleBatch]:
    """Batches of about `batch_tokens`, alike in length, in random order; the sides of a pair stay together."""
    size = mix.config["batch_tokens"]
    while True:
        pool = [mix.unit() for _ in range(mix.config["pool_examples"])]
        prepared = [[prepared_with_evidence(e, text, limits) for e in unit] for unit in pool]
        sizes = [sum(map(request_tokens, unit)) for unit in prepared]
        order = sorted(range(len(pool)), key=lambda i: (max(len(w) for request in prepared[i] for w in request.windows) // 12, sizes[i]))
        groups, current, total = [], [], 0
        for number in order:
            if current and total + sizes[number] > size:
                groups.append(current)
                current, total = [], 0
            current.append(number)
            total += sizes[number]
        groups.append(current)
        mix.rng.shuffle(groups)
        for group in groups:
            yield [e for i in group for e in pool[i]], [request for i in group for request in prepared[i]]
