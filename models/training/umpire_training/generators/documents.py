"""Documents of many sections with one fact that matters, somewhere in the middle or missing."""

from __future__ import annotations

import random

from ..tasks import Example
from .common import DAYS, PEOPLE, choice, pick, yes_no

SUBJECTS = ["the Hamburg office", "project Falcon", "the spring release", "the new warehouse", "contract 4471", "the pilot with Nordbank", "team Alder",
            "the northern region", "the training programme", "the security audit", "server room B", "the summer campaign"]
FACTS = {  # kind of fact -> (values, sentences, questions, statements)
    "owner": (PEOPLE, ["{v} is responsible for {s}.", "Responsibility for {s} lies with {v}.", "{s} is led by {v}."],
              ["Who is responsible for {s}?", "Who leads {s}?"], ["{v} is responsible for {s}.", "{s} is led by {v}."]),
    "outcome": (["approved", "rejected", "postponed", "cancelled"], ["{s} was {v} by the board.", "The board's decision on {s}: {v}.", "After a long talk {s} was {v}."],
                ["What was decided about {s}?", "outcome of {s}"], ["{s} was {v}.", "Was {s} {v}?"]),
    "colour": (["red", "green", "yellow", "blue"], ["The label for {s} is {v}.", "{s} is marked {v} on the plan."],
               ["Which colour marks {s}?", "label colour of {s}"], ["{s} is marked {v}.", "The label for {s} is {v}."]),
    "place": (["Oslo", "Lyon", "Porto", "Graz", "Leeds", "Turin"], ["{s} will move to {v}.", "The new home of {s} is {v}."],
              ["Where will {s} go?", "new location of {s}"], ["{s} will move to {v}.", "Is {v} the new home of {s}?"]),
    "money": (["under budget", "on budget", "over budget"], ["{s} is {v} so far.", "Costs: {s} is {v}."],
              ["How does {s} stand financially?", "budget status of {s}"], ["{s} is {v}.", "Is {s} {v}?"]),
}
FILLER = ["The weekly meeting started at {n} with {p} in the chair.", "Visitors are asked to sign in at the front desk.", "{p} thanked everyone for the work done since {d}.",
          "The canteen offers two dishes a day.", "Figures for the quarter will follow in a separate mail.", "The printer on floor {n} has been replaced.",
          "A short break was taken at {n}.", "{p} reported from the fair and brought samples.", "Travel costs must be handed in within {n} weeks.",
          "The parking area is closed on {d} because of works.", "Minutes were taken by {p}.", "There were no objections to the last minutes.",
          "The library has new opening hours.", "{p} will be on leave for {n} weeks.", "New chairs have been ordered for the meeting rooms.",
          "The survey got {n}0 answers, most of them friendly.", "Questions about holidays go to {p}.", "The next meeting is on {d}."]


def filler(rng: random.Random) -> str:
    return pick(rng, FILLER).format(n=rng.randint(2, 12), p=pick(rng, PEOPLE), d=pick(rng, DAYS[:5]))


def sentences(rng: random.Random) -> int:
    """Mostly short documents, some of thousands of tokens."""
    return rng.randint(4, 25) if rng.random() < 0.94 else rng.randint(60, 200)


def generate(rng: random.Random) -> Example:
    kinds = rng.sample(list(FACTS), 2)
    subjects = rng.sample(SUBJECTS, 3)
    facts = [(kind, subject, pick(rng, FACTS[kind][0])) for kind, subject in zip([kinds[0], kinds[0], kinds[1]], subjects)]
    text = [filler(rng) for _ in range(sentences(rng))]
    for kind, subject, value in facts:
        text.insert(rng.randint(0, len(text)), pick(rng, FACTS[kind][1]).format(s=subject, v=value))
    text = [sentence[0].upper() + sentence[1:] for sentence in text]
    cut = max(2, len(text) // rng.randint(1, 5))
    state = "\n\n".join(" ".join(text[i: i + cut]) for i in range(0, len(text), cut))
    missing = [s for s in SUBJECTS if s not in subjects]
    return Example(state, [ask(rng, *pick(rng, facts), pick(rng, missing)) for _ in range(rng.randint(1, 3))])


def ask(rng: random.Random, kind: str, subject: str, value: str, unmentioned: str):
    values, _, questions, statements = FACTS[kind]
    others = rng.sample([v for v in values if v != value], min(len(values) - 1, rng.randint(1, 4)))
    if rng.random() < 0.4:
        shown = value if rng.random() < 0.5 else others[0]
        return yes_no(pick(rng, statements).format(s=subject, v=shown), shown == value)
    unknown = pick(rng, ["not stated", "the text does not say", "unknown"])
    options = [(v, None) for v in [value, *others]]
    if rng.random() < 0.3:  # evidence missing
        return choice(pick(rng, questions).format(s=unmentioned), [*options, (unknown, None)], len(options), rng, vary=False)
    if rng.random() < 0.4:
        options.append((unknown, None))
    return choice(pick(rng, questions).format(s=subject), options, 0, rng, vary=False)
