"""Own data for what public data lacks. A generator is a function of a `random.Random` that returns an `Example`."""

from __future__ import annotations

import random

from ..tasks import Example
from . import documents, policies, question_kinds, records, reviews, rubrics, rules, schemas, support, tools, topics, tracking

GENERATORS = {
    "support": (support.generate, 4), "policies": (policies.generate, 2), "records": (records.generate, 2),
    "tools": (tools.generate, 1), "documents": (documents.generate, 1),
    "rubrics": (rubrics.generate, 3), "tracking": (tracking.generate, 4), "schemas": (schemas.generate, 2), "rules": (rules.generate, 4),
    "reviews": (reviews.generate, 5), "topics": (topics.generate, 4), "question_kinds": (question_kinds.generate, 4),
}


def generate(rng: random.Random) -> Example:
    names = list(GENERATORS)
    name = rng.choices(names, [GENERATORS[n][1] for n in names])[0]
    example = GENERATORS[name][0](rng)
    example.task = f"generated_{name}"
    for labelled in example.questions:
        labelled.task = example.task
    return example
