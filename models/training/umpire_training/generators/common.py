"""Building blocks of the generators."""

from __future__ import annotations

import random

from ..augment import noul, vary_options
from ..prompts import Question
from ..tasks import Labelled

PEOPLE = ["Anna Berg", "Tom Reyes", "Priya Nair", "John Miller", "Fatima Haddad", "Lukas Weber", "Chen Wei", "Olga Petrova",
          "Sam Carter", "Ines Duarte", "Kofi Mensah", "Yuki Tanaka", "Elena Rossi", "David Cohen", "Mary Walsh"]
PRODUCTS = ["the mobile app", "the dashboard", "my premium plan", "the wireless headset", "the coffee machine", "your web shop",
            "the router", "the desktop client", "the team workspace", "the tablet", "the printer", "my subscription", "the API",
            "the vacuum cleaner", "the smart watch", "the cloud storage"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "yesterday", "last week", "this morning", "two days ago"]


def fill(template: str, rng: random.Random) -> str:
    """Slots: {order} {amount} {product} {day} {person} {n}"""
    return template.format(order=rng.randint(1000, 99999), amount=f"{rng.choice(['$', '€', '£'])}{rng.randint(5, 900)}",
                           product=rng.choice(PRODUCTS), day=rng.choice(DAYS), person=rng.choice(PEOPLE), n=rng.randint(2, 9))


def pick(rng: random.Random, values):
    return rng.choice(values)


def choice(instructions: str, options: list[tuple[str, str | None]], gold: int, rng: random.Random, vary: bool = True) -> Labelled:
    places = list(range(len(options)))
    rng.shuffle(places)
    shown = [options[i] for i in places]
    shown = vary_options(shown, rng) if vary else shown
    return Labelled(Question("choice", instructions, shown), [float(i == gold) for i in places])


def score(instructions: str, levels: list[str], target: list[float]) -> Labelled:
    total = sum(target)
    return Labelled(Question("score", instructions, [("", level) for level in levels]), [t / total for t in target])


def peaked(count: int, position: float, spread: float = 0.35) -> list[float]:
    """Soft levels around `position` (0..1), as several raters would give them."""
    place = position * (count - 1)
    shares = [max(0.0, 1.0 - abs(i - place) / (1 + spread)) ** 3 for i in range(count)]
    return [share / sum(shares) for share in shares]


def yes_no(instructions: str, truth: bool) -> Labelled:
    return noul(instructions, truth, "")
