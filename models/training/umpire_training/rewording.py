"""What makes a question worth reading: criteria of yes/no that say which is which, levels in other words, places and numbers.

Every function takes a `random.Random`; the same seed gives the same question. None changes what is right without
changing the target with it.
"""

from __future__ import annotations

import random
from dataclasses import replace

from .prompts import Question
from .tasks import Labelled

# --- yes and no -----------------------------------------------------------------------------------------------------

# (false, true), in words that leave the instructions as they are
PLAIN = [
    ("no", "yes"), ("not the case", "the case"), ("it does not apply", "it applies"), ("the answer is no", "the answer is yes"),
    ("incorrect", "correct"), ("the text does not show this", "the text shows this"), ("this does not hold", "this holds"),
    ("wrong, going by the text", "right, going by the text"), ("disagree", "agree"), ("not so", "so it is"),
    ("one cannot say so from what is written", "one can say so from what is written"), ("denied, or left open", "affirmed"),
    ("the statement or question is to be answered with no", "the statement or question is to be answered with yes"),
    ("there is nothing to support it", "there is support for it"), ("fails", "passes"), ("negative", "positive answer"),
]
# The same turned round: what the instructions ask for is now under false.
TURNED = [
    ("the answer is yes", "the answer is no"), ("it applies", "it does not apply"), ("the case", "not the case"),
    ("the text shows this", "the text does not show this"), ("right, going by the text", "wrong, or not to be found in the text"),
    ("this holds", "this does not hold"), ("correct", "incorrect"), ("affirmed by the text", "denied by the text or left open"),
]
CARRIED_BY = ["Decide.", "Which holds?", "true or false", "Judge the text.", "check", "Is it so?", "verdict", "Which of the two is right?", "Answer by the criteria."]
CARRIED = [
    ("the answer to \"{}\" is no", "the answer to \"{}\" is yes"), ("no to: {}", "yes to: {}"), ("it is wrong that this holds: {}", "{}"),
    ("\"{}\" is not right", "\"{}\" is right"),
]


def noul_criteria(labelled: Labelled, rng: random.Random, share: float = 0.42) -> Labelled:
    """Criteria for `share` of the yes/no questions that have none: plain ones, the statement itself, or turned round."""
    question = labelled.question
    if question.type != "noul" or any(text for _, text in question.options) or rng.random() > share:
        return labelled
    kind, target, instructions = rng.random(), labelled.target, question.instructions
    if kind < 0.2:
        no, yes = rng.choice(TURNED)
        target = target[::-1]
    elif kind < 0.45:
        no, yes = (text.format(instructions) for text in rng.choice(CARRIED))
        instructions = rng.choice(CARRIED_BY)
        if rng.random() < 0.3:
            no, yes, target = yes, no, target[::-1]
        labelled = replace(labelled, evidence=())  # the instructions no longer say what to look for
    else:
        no, yes = rng.choice(PLAIN)
    return replace(labelled, question=Question("noul", instructions, [("false", no), ("true", yes)]), target=target)


# --- levels ---------------------------------------------------------------------------------------------------------

FIVE_OF_SENTIMENT = [
    ["very negative", "negative", "neutral", "positive", "very positive"], ["1 star", "2 stars", "3 stars", "4 stars", "5 stars"],
    ["hated it", "disliked it", "lukewarm or factual", "liked it", "loved it"], ["terrible", "poor", "average", "good", "excellent"],
    ["strongly against", "rather against", "neither for nor against", "rather for", "strongly for"],
    ["scathing", "critical", "even-handed", "favourable", "glowing"], ["--", "-", "0", "+", "++"],
    ["thoroughly unhappy", "somewhat unhappy", "indifferent", "somewhat happy", "thoroughly happy"],
    ["1: as bad as it gets", "2: bad", "3: neither", "4: good", "5: as good as it gets"],
    ["full of dislike", "some dislike", "no feeling either way", "some praise", "full of praise"],
    ["very dissatisfied", "dissatisfied", "mixed", "satisfied", "very satisfied"],
]
SENTIMENT_ASKS = ["How positive is this?", "Rate the tone.", "sentiment", "stars", "How much did the writer like it?", "What rating fits the text?",
                  "Grade the opinion.", "How satisfied is the writer?", "attitude from worst to best", "How favourable is the judgement?"]
KNOWN = {tuple(levels) for levels in FIVE_OF_SENTIMENT}
REVERSED_ASKS = ["How negative is this?", "Rate how bad it is.", "degree of dislike", "How unhappy is the writer?", "How harsh is the judgement?"]


def vary_levels(labelled: Labelled, rng: random.Random) -> Labelled:
    """Other words, fewer levels, another end first, or the levels as options of a choice or a yes/no question."""
    question = labelled.question
    if question.type != "score":
        return labelled
    levels, target, asks = [text or "" for _, text in question.options], labelled.target, question.instructions
    sentiment = tuple(levels) in KNOWN
    if sentiment and rng.random() < 0.6:
        levels, asks = list(rng.choice(FIVE_OF_SENTIMENT)), asks if rng.random() < 0.4 else rng.choice(SENTIMENT_ASKS)
    if len(levels) > 2 and rng.random() < 0.3:
        levels, target = fewer(levels, target, rng)
    if rng.random() < 0.2:
        levels, target = levels[::-1], target[::-1]
        asks = rng.choice(REVERSED_ASKS) if sentiment else asks
    kind = rng.random()
    if kind < 0.12:
        return replace(labelled, question=Question("choice", asks, [(level, None) for level in levels]), target=target)
    if kind < 0.3 and len(levels) > 2:
        return threshold(asks, levels, target, labelled.task, rng)
    if rng.random() < 0.15:
        levels = [f"{i}: {level}" for i, level in enumerate(levels, 1)] if rng.random() < 0.5 else [f"{level} ({i} of {len(levels)})" for i, level in enumerate(levels, 1)]
    return replace(labelled, question=Question("score", asks, [("", level) for level in levels]), target=target)


def fewer(levels: list[str], target: list[float], rng: random.Random) -> tuple[list[str], list[float]]:
    """A run of levels that holds the gold one, at a random place in it, or neighbours made one."""
    gold = max(range(len(target)), key=target.__getitem__)
    if rng.random() < 0.5:
        count = rng.randint(2, len(levels) - 1)
        first = rng.randint(max(0, gold - count + 1), min(gold, len(levels) - count))
        kept = target[first: first + count]
        if sum(kept) < 0.75:
            return levels, target
        return levels[first: first + count], [share / sum(kept) for share in kept]
    cuts = sorted(rng.sample(range(1, len(levels)), rng.randint(1, len(levels) - 2)))
    parts = [range(start, end) for start, end in zip([0, *cuts], [*cuts, len(levels)])]
    return [" or ".join(levels[i] for i in part) for part in parts], [sum(target[i] for i in part) for part in parts]


def threshold(asks: str, levels: list[str], target: list[float], task: str, rng: random.Random) -> Labelled:
    """Whether it is at least a level, asked where the answer is clear."""
    place = rng.randint(1, len(levels) - 1)
    above = sum(target[place:])
    text = rng.choice(["{q} At least: {l}", "{q} Is it \"{l}\" or higher on this scale: {s}?", "On the scale {s}, it is {l} or more. {q}"])
    scale = ", ".join(levels)
    return Labelled(Question("noul", text.format(q=asks, l=levels[place], s=scale), [("false", None), ("true", None)]), [1 - above, above], task)


# --- a choice without its right option ------------------------------------------------------------------------------


def without_gold(labelled: Labelled, none: tuple[str, str | None], rng: random.Random) -> Labelled:
    """The right option removed and "none" in its place: the rest must be clearly wrong."""
    question, gold = labelled.question, labelled.gold
    options = [option for i, option in enumerate(question.options) if i != gold]
    options.insert(rng.randint(0, len(options)), none)
    return replace(labelled, question=replace(question, options=options), target=[float(option is none) for option in options])
