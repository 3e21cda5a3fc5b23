"""What users vary, varied: names, descriptions, instructions, subsets of options, text around the evidence, typos.

Every function takes a `random.Random`; the same seed gives the same question.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace

from .evidence import named_in
from .prompts import Question
from .rewording import without_gold
from .tasks import Labelled, Task, from_labels, from_row

NONE_OPTIONS = [
    ("none_of_these", "nothing else in the list fits"), ("other", "anything that fits none of the others"),
    ("none", None), ("none of the above", None), ("something_else", None), ("other", None),
    ("no_match", "no other option applies"), ("unknown", "the text is about something else"),
]
# Tasks whose labels are clearly apart, so that removing the gold label really leaves nothing that fits.
CLEAR_LABELS = ("clinc150_intents", "hwu64_intents", "metatool_routing", "stackoverflow_tags", "paper_fields", "package_sections", "clinc150_domains")
# Questions of rows whose options exclude each other, and where what the text says is one of them alone.
CLEAR_ROWS = ("who_did_what", "verb_roles", "passages_open", "passages_closed", "small_stories", "town_dialogues", "bfcl_tools", "relations", "ecqa", "qasc")

NONE_NAMES = {name for name, _ in NONE_OPTIONS} | {"not stated", "cannot be answered", "not mentioned", "does not matter", "unanswerable", "no match"}

CHOICE_INSTRUCTIONS = [
    "Which option fits the text best?", "Choose the best match.", "Classify the text.", "category", "label", "class",
    "Which of these applies?", "Select one.", "What is this about?", "Assign a category.", "type", "Sort this into one group.",
]
MATCH_STATEMENTS = [
    "The text fits the description: {}", "Is this right: {}?", "{}", "Does this apply? {}", "This is true of the message: {}",
    "Does the text match \"{}\"?", "category: {}", "Would you file this under {}?", "It is about: {}", "Label it {}.",
]


def words_of(name: str) -> list[str]:
    """Words of an identifier or a phrase: `BookRestaurant`, `book_restaurant`, `book restaurant` are alike."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[\s_\-/.]+", spaced) if word]


def restyle(name: str, rng: random.Random) -> str:
    """The same name in another writing."""
    words = words_of(name)
    if not words or len(words) > 5:
        return name
    lower = [word.lower() for word in words]
    styles = [
        lambda: "_".join(lower), lambda: " ".join(lower), lambda: "".join(word.capitalize() for word in lower),
        lambda: lower[0] + "".join(word.capitalize() for word in lower[1:]), lambda: " ".join(lower).capitalize(),
        lambda: "-".join(lower), lambda: " ".join(word.capitalize() for word in lower), lambda: "_".join(lower).upper(),
    ]
    return rng.choice(styles)()


def restyle_all(names: list[str], rng: random.Random) -> list[str]:
    """One writing for a whole list; the names stay apart."""
    seed = rng.random()
    styled = [restyle(name, random.Random(seed)) for name in names]
    return styled if len(set(styled)) == len(names) else names


def opaque(count: int, rng: random.Random) -> list[str]:
    styles = [lambda i: chr(97 + i % 26) + (str(i // 26) if i >= 26 else ""), lambda i: f"option_{i + 1}",
              lambda i: str(i + 1), lambda i: f"L{i + 10}", lambda i: f"queue-{i + 1}", lambda i: f"C{i:03d}"]
    style = rng.choice(styles)
    ids = [style(i) for i in range(count)]
    rng.shuffle(ids)
    return ids


def vary_options(options: list[tuple[str, str | None]], rng: random.Random, restyled: bool = True) -> list[tuple[str, str | None]]:
    """names only 40 %, opaque ids where descriptions carry the meaning 8 %, another writing half of the time"""
    names = [name for name, _ in options]
    descriptions = [description for _, description in options]
    described = [d for d in descriptions if d]
    if restyled and rng.random() < 0.5:
        names = restyle_all(names, rng)
    kind = rng.random()
    if len(described) == len(options) and len(set(described)) == len(described):
        if kind < 0.08:
            names = opaque(len(options), rng)
            return list(zip(names, descriptions))
        if kind < 0.13:
            return [(description, None) for description in descriptions]
    if kind < 0.48:
        return [(name, None) for name in names]
    if kind < 0.53:  # some described, some not
        return [(name, d if rng.random() < 0.5 else None) for name, d in zip(names, descriptions)]
    return list(zip(names, descriptions))


def similar(name: str, others: list[str], task: Task, rng: random.Random, count: int) -> list[str]:
    """Hard negatives: labels alike in meaning where the task knows them, else that share words; the rest at random."""
    def bag(label):
        return {w.lower() for w in words_of(label)} | {w for w in (task.labels[label] or "").split() if len(w) > 4}
    if name in task.near:
        allowed = set(others)
        closest = [other for other in task.near[name] if other in allowed][: max(count, 3)]
        hard = rng.sample(closest, min(len(closest), (count + 1) // 2))
    else:
        own = bag(name)
        hard = sorted(others, key=lambda other: -len(own & bag(other)) - rng.random())[: count // 2]
    rest = [other for other in others if other not in hard]
    return hard + rng.sample(rest, count - len(hard))


def option_count(total: int, rng: random.Random) -> int:
    """2 to 48, small numbers more often; the full list, up to 100, in 4 % of cases"""
    if rng.random() < 0.04 or total <= 3:
        return min(total, 100)
    return min(total, max(2, round(2 ** rng.uniform(1.0, 5.6))))


def choice_from_labels(task: Task, row: dict, rng: random.Random) -> Labelled:
    """A choice over some of the task's labels, the gold one kept (or replaced by "none of these")."""
    plain = from_labels(task, row, rng.choice(task.instructions))
    names = [name for name, _ in plain.question.options]
    shares = dict(zip(names, plain.target))
    kept = [name for name in names if shares[name] > 0]
    others = [name for name in names if shares[name] == 0]
    count = option_count(len(names), rng)
    wanted = max(0, min(count - len(kept), len(others)))
    pick = similar if rng.random() < 0.5 else None
    chosen = kept + (pick(kept[0], others, task, rng, wanted) if pick else rng.sample(others, wanted))
    rng.shuffle(chosen)
    options = vary_options([(name, task.labels[name]) for name in chosen], rng)
    target = [shares[name] for name in chosen]
    if task.name in CLEAR_LABELS and len(options) > 2:
        options, target = with_none(options, target, rng)
    instructions = plain.question.instructions if rng.random() < 0.85 else rng.choice(CHOICE_INSTRUCTIONS)
    return Labelled(Question("choice", instructions, options), target, task.name)


def with_none(options, target, rng: random.Random):
    """A "none" option: in 28 % of cases in place of the gold one, in 14 % beside it."""
    kind = rng.random()
    if kind > 0.42:
        return options, target
    none = rng.choice(NONE_OPTIONS)
    if none[0] in {name for name, _ in options}:
        return options, target
    if kind < 0.28:
        kept = [i for i, share in enumerate(target) if share == 0]
        options, target = [options[i] for i in kept], [0.0] * len(kept)
        return [*options, none], [*target, 1.0]
    return [*options, none], [*target, 0.0]


def noul_from_choice(task: Task, row: dict, rng: random.Random, wanted: bool | None = None) -> Labelled | None:
    """Yes or no about one label: the gold one, or one that is easily taken for it."""
    shares = row.get("soft") or {row["label"]: 1.0}
    gold = max(shares, key=shares.get)
    if shares[gold] < 0.7 * sum(shares.values()):
        return None
    asked, criteria = gold, (None, None)
    if not (rng.random() < 0.5 if wanted is None else wanted):
        near = [name for name in task.near.get(gold, ()) if name not in shares][:6]
        others = near if near and rng.random() < 0.75 else [name for name in task.labels if name not in shares]
        if not others:
            return None
        asked = rng.choice(others)
        if task.labels[asked] and task.labels[gold] and rng.random() < 0.25:
            criteria = task.labels[gold], task.labels[asked]
    elif task.labels[gold] and task.near.get(gold) and rng.random() < 0.25:
        criteria = task.labels[rng.choice(task.near[gold][:6])], task.labels[gold]
    description = task.labels[asked]
    phrase = description if description and rng.random() < 0.5 else " ".join(words_of(asked)).lower()
    found = noul(rng.choice(MATCH_STATEMENTS).format(phrase), asked == gold, task.name)
    if all(criteria):
        found.question.options = [("false", criteria[0]), ("true", criteria[1])]
    return found


def noul(instructions: str, truth: bool, task: str) -> Labelled:
    return Labelled(Question("noul", instructions, [("false", None), ("true", None)]), [1.0 - truth, float(truth)], task)


def label_questions(task: Task, row: dict, rng: random.Random) -> list[Labelled]:
    """What one row of a label task asks: the task itself, sometimes again with other options, sometimes as yes or no."""
    if task.type != "choice":
        question = from_labels(task, row, rng.choice(task.instructions))
        if task.type == "noul" and rng.random() < 0.4:
            names = ["false", "true"]
            question.question.options = [(name, None) for name in names]
        return [question]
    found = [choice_from_labels(task, row, rng)]
    if rng.random() < 0.2:
        found.append(choice_from_labels(task, row, rng))
    count = rng.choice([0, 0, 1, 1, 2])  # cheap: the state is read anyway
    for wanted in (True, False) if count == 2 else [None] * count:
        if extra := noul_from_choice(task, row, rng, wanted):
            found.append(extra)
    return found


def row_questions(task: Task, row: dict, rng: random.Random, most: int = 4) -> list[Labelled]:
    """Questions that a row brings with it, options shuffled and varied."""
    found = []
    for raw in rng.sample(row["questions"], min(most, len(row["questions"]))):
        labelled = from_row(raw, task.name)
        labelled.evidence = named_in(row["state"], raw)
        if raw["type"] == "choice":
            labelled = vary_choice(labelled, rng)
            names = {name for name, _ in labelled.question.options}
            none = rng.choice(NONE_OPTIONS)
            if task.name in CLEAR_ROWS and len(names) > 3 and not names & NONE_NAMES and none[0] not in names and rng.random() < 0.25:
                labelled = without_gold(labelled, none, rng)
        found.append(labelled)
    return found


def vary_choice(labelled: Labelled, rng: random.Random) -> Labelled:
    question = labelled.question
    places = list(range(len(question.options)))
    rng.shuffle(places)
    if len(places) > 3 and rng.random() < 0.3:
        others = [i for i in places if i != labelled.gold]
        places = [labelled.gold, *rng.sample(others, rng.randint(1, len(others)))]
    identifiers = any("_" in name or re.search("[a-z][A-Z]", name) for name, _ in question.options)
    options = [question.options[i] for i in places]
    if identifiers:
        options = vary_options(options, rng)
    elif rng.random() < 0.2:
        options = [(name, None) for name, _ in options]
    return replace(labelled, question=Question("choice", question.instructions, options), target=[labelled.target[i] for i in places])


# --- the state --------------------------------------------------------------------------------------------------

GREETINGS = ["Hi,", "Hello team,", "Good morning,", "Hey there", "Dear support,", "Hi, hope you are well.", "To whom it may concern,"]
SIGNATURES = ["Thanks", "Best regards,\nJane", "Kind regards\nM. Okafor\nSent from my phone", "Cheers, Tom", "Thank you in advance.",
              "--\nThis e-mail and its attachments are confidential.", "Regards"]
HEADERS = ["From: {}@example.com\nTo: help@example.com\nDate: Tue, {} Mar 2024 10:{}:07", "[2024-05-{1} 08:{2}] channel=web user={0}",
           "Ticket #{1}{2} | status: open | source: e-mail", "Message {1}{2}, received at 09:{2}", "Name: {0}\nLanguage: en"]
NOTICES = ["Our office is closed on public holidays.", "You are receiving this message because you have an account.",
           "Page 1 of 2", "Please do not reply to this address.", "Attachments: none", "Version 3.2.1", "Session restored.",
           "Read our privacy notice for how data is handled.", "Chat started."]


def header(rng: random.Random) -> str:
    return rng.choice(HEADERS).format(rng.choice(["maria", "user81", "k.lee", "ops"]), rng.randint(10, 28), rng.randint(10, 59))


def surround(state: str, rng: random.Random) -> str:
    """Neutral text around the evidence: it must not answer anything itself."""
    before = rng.sample([rng.choice(GREETINGS), header(rng), rng.choice(NOTICES)], rng.randint(0, 2))
    after = rng.sample([rng.choice(SIGNATURES), rng.choice(NOTICES)], rng.randint(0, 2))
    return rng.choice(["\n", "\n\n", " "]).join([*before, state, *after])


def wrap(state: str, rng: random.Random) -> str:
    """The text inside a record, as applications send it."""
    quoted = state.replace('"', '\\"').replace("\n", "\\n")
    return rng.choice([f'{{"id": {rng.randint(1, 9999)}, "text": "{quoted}"}}', f'{{"message": "{quoted}", "channel": "web"}}',
                       f"User: {state}", f"Text: {state}", f"<message>{state}</message>", f"> {state}", f'"{state}"'])


def typos(state: str, rng: random.Random) -> str:
    letters = list(state)
    for _ in range(max(1, len(letters) // 60)):
        i = rng.randrange(len(letters)) if letters else 0
        if i + 1 < len(letters) and letters[i].isalpha() and letters[i + 1].isalpha():
            kind = rng.random()
            if kind < 0.4:
                letters[i], letters[i + 1] = letters[i + 1], letters[i]
            elif kind < 0.8:
                letters[i] = ""
            else:
                letters[i] *= 2
    return "".join(letters)


def vary_state(state: str, rng: random.Random) -> str:
    if len(state) < 2000:
        if rng.random() < 0.05:
            state = typos(state, rng)
        if rng.random() < 0.06:
            state = wrap(state, rng)
        elif rng.random() < 0.25:
            state = surround(state, rng)
    return state


def shorten(state: str, characters: int) -> str:
    """Whole lines or words from the start: long mails cost much and say it early. Dialogues keep their end."""
    if len(state) <= characters:
        return state
    if state.startswith(("User:", "Assistant:")):
        return state[-characters:].split("\n", 1)[-1] or state[-characters:]
    return state[:characters].rsplit(" ", 1)[0]
