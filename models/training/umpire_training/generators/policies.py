"""Rules with thresholds in the instructions or in the text, and the case they are applied to."""

from __future__ import annotations

import random

from ..tasks import Example
from .common import PEOPLE, choice, pick, yes_no

CASES = [  # what is measured, unit, sentence of the case, rule above the limit, rule below it, names of both outcomes
    ("expense", "{}", "{who} asks for {v} euros for a train ticket and a hotel.", "needs approval by the manager", "is paid without approval",
     ("needs_approval", "auto_approve")),
    ("return", "{} days", "{who} bought the jacket {v} days ago and wants to send it back.", "is refused because the return period is over",
     "is accepted", ("refuse", "accept")),
    ("parcel", "{} kg", "The parcel for {who} weighs {v} kg.", "goes by freight", "goes by ordinary post", ("freight", "post")),
    ("applicant", "{} years", "{who} is {v} years old and applies for the card.", "may get the card", "may not get the card", ("eligible", "not_eligible")),
    ("server", "{} percent", "Disk usage on host db-3 is at {v} percent, says {who}.", "raises an alarm", "raises no alarm", ("alarm", "ok")),
    ("order", "{} items", "{who} orders {v} items.", "gets the bulk discount", "pays the normal price", ("discount", "normal_price")),
    ("meeting", "{} people", "{who} books a room for {v} people.", "must use the large hall", "can use any room", ("large_hall", "any_room")),
    ("fever", "{} degrees", "{who} has a temperature of {v} degrees.", "should see a doctor", "can stay at home", ("see_doctor", "stay_home")),
    ("loan", "{} euros a month", "{who} earns {v} euros a month and asks for a loan.", "passes the income check", "fails the income check", ("pass", "fail")),
    ("delay", "{} minutes", "The train of {who} was {v} minutes late.", "gives a right to compensation", "gives no compensation", ("compensation", "none")),
]
LIMITS = {"expense": (50, 2000), "return": (7, 60), "parcel": (2, 40), "applicant": (16, 30), "server": (50, 95), "order": (5, 200),
          "meeting": (6, 60), "fever": (37, 40), "loan": (900, 4000), "delay": (15, 120)}
RULES = ["Rule: a {k} of more than {l} {above}; anything else {below}.", "Policy. Over {l} a {k} {above}. Up to and including {l} it {below}.",
         "If the {k} is above {l}, it {above}. Otherwise it {below}.", "The limit for a {k} is {l}: beyond it, it {above}; within it, it {below}."]


def value(rng: random.Random, limit: int) -> int:
    """Far from the limit most of the time, near it sometimes."""
    far = rng.random() < 0.75
    change = rng.uniform(0.35, 0.9) if far else rng.uniform(0.03, 0.2)
    step = max(1, round(limit * change))
    return max(1, limit + rng.choice([-1, 1]) * step)


def generate(rng: random.Random) -> Example:
    kind, unit, sentence, above, below, names = pick(rng, CASES)
    limit = rng.randint(*LIMITS[kind])
    amount = value(rng, limit)
    over = amount > limit
    rule = pick(rng, RULES).format(k=kind, l=unit.format(limit), above=above, below=below)
    case = sentence.format(who=pick(rng, PEOPLE), v=amount)
    in_state = rng.random() < 0.6
    state = pick(rng, ["{r}\n\n{c}", "{c}\n\n{r}", "{r} {c}"]).format(r=rule, c=case) if in_state else case
    lead = "" if in_state else rule + " "
    options = [(names[0], above), (names[1], below)]
    found = [choice(lead + pick(rng, ["What follows?", "Which outcome applies?", "Decide by the rule.", "outcome"]), options, 0 if over else 1, rng)]
    asked, phrase = (True, above) if rng.random() < 0.5 else (False, below)
    found.append(yes_no(lead + pick(rng, ["By the rule, the {k} {p}.", "Is it right that the {k} {p}?", "The {k} {p}."]).format(k=kind, p=phrase),
                        asked == over))
    number = rng.choice([limit, rng.randint(max(1, amount // 2), amount * 2)])
    found.append(yes_no(f"{pick(rng, ['The value is above', 'Is the number more than', 'greater than'])} {number}", amount > number))
    return Example(state, rng.sample(found, rng.randint(1, 3)))
