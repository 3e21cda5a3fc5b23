"""WordNet's fields of knowledge, kinds of things and categories as topics, in single entries and short glossaries."""

from __future__ import annotations

import random
import re
from collections import defaultdict

from .collection import Dataset, noul
from .topic_labels import DOMAINS, KINDS, NOUN_CATEGORIES, VERB_CATEGORIES
from .wordnet_files import DOMAIN, HYPONYMS, Synset, WordNet

FEWEST = 12  # entries of a topic
DOMAIN_ASKED = ["Which field does it belong to?", "subject", "Assign the entry to a field of knowledge.", "What is the topic?", "The text is about",
                "Which subject area uses this term?", "domain", "Choose the field this comes from.", "topic", "File this under the right subject.",
                "What area does this concern?"]
KIND_ASKED = ["What sort of thing is it?", "kind", "What is described?", "Sort the entry into a group.", "The text describes", "category of the thing",
              "Which group does it belong to?", "Choose what the text is about.", "topic", "Classify the item."]
NOUN_ASKED = ["What sort of thing does the word name?", "semantic category", "category", "The entry names", "Which broad class does this fall into?",
              "Classify the noun by its meaning.", "What is defined here?", "word class by meaning"]
VERB_ASKED = ["What is the verb about?", "semantic category", "Classify the action.", "The word describes", "Which broad class does the verb fall into?",
              "field of meaning", "Sort the action into a group.", "type of action"]
IN_DOMAIN = ["It is a term of {}.", "Is this about {}?", "{}", "The text concerns {}.", "Does it belong to {}?", "A glossary of {} would have this.",
             "related to {}", "Would someone interested in {} read this?"]
IS_KIND = ["It is about {}.", "Does the text describe {}?", "{}", "The text deals with {}.", "Is the topic {}?", "on the subject of {}"]


def bare(definition: str) -> str:
    """Without the field in brackets before it, which would give the answer away."""
    return re.sub(r"^(\([^)]*\)\s*)+", "", definition).strip()


def entry(synset: Synset, rng: random.Random) -> str:
    """One entry as it stands in glossaries, or only what it says."""
    text, word = bare(synset.definition), rng.choice(synset.words)
    kind = rng.random()
    if synset.examples and kind < 0.25:
        return rng.choice([f'{word}: {text}; "{rng.choice(synset.examples)}"', f"{text}\nExample: {rng.choice(synset.examples)}"])
    return rng.choice([f"{word}: {text}", f"{word} - {text}", f"{word.capitalize()}: {text}.", f"{word}\n{text}"]) if kind < 0.7 else text


def state(members: list[Synset], synset: Synset, rng: random.Random) -> str:
    """One entry, or with others of the same topic a short glossary."""
    if rng.random() < 0.65:
        return entry(synset, rng)
    others = rng.sample(members, min(len(members), rng.randint(1, 4)))
    return rng.choice(["\n", "\n", "; ", "\n\n"]).join(entry(other, rng) for other in [synset, *others])


def topic_members(net: WordNet) -> dict[str, list[Synset]]:
    """Entries that point to one topic alone."""
    topic_of = {key: name for name, (_, keys) in DOMAINS.items() for key in keys}
    found = defaultdict(list)
    for synset in net.synsets.values():
        topics = {topic_of.get(key) for key in synset.related(DOMAIN)} - {None}
        if len(topics) == 1 and bare(synset.definition):
            found[topics.pop()].append(synset)
    return {name: members for name, members in found.items() if len(members) >= FEWEST}


def below(net: WordNet, key: str) -> set[str]:
    found, open_keys = set(), [key]
    while open_keys:
        for narrower in net.synsets[open_keys.pop()].related(*HYPONYMS):
            if narrower not in found:
                found.add(narrower)
                open_keys.append(narrower)
    return found


def kind_members(net: WordNet) -> dict[str, list[Synset]]:
    """Everything below a root that lies below no other root."""
    kinds_of = defaultdict(set)
    for name, (_, word, number) in KINDS.items():
        for key in below(net, net.senses["n", word][number - 1]):
            kinds_of[key].add(name)
    found = defaultdict(list)
    for key in sorted(kinds_of):
        if len(kinds_of[key]) == 1 and bare(net.synsets[key].definition):
            found[next(iter(kinds_of[key]))].append(net.synsets[key])
    return {name: members for name, members in found.items() if len(members) >= FEWEST}


def topic_rows(topics: dict[str, list[Synset]], each: int, rng: random.Random) -> list[dict]:
    """At most `each` rows of a topic; small topics get up to three rows an entry."""
    rows = []
    for name, members in topics.items():
        turns = [synset for _ in range(3) for synset in rng.sample(members, len(members))][:each]
        rows += [{"state": state(members, synset, rng), "label": name} for synset in turns]
    return rows


def topic_nouls(topics: dict[str, list[Synset]], labels: dict[str, str], wordings: list[str], count: int, rng: random.Random) -> list[dict]:
    """One to three yes/no questions, naming the topic or saying what it is."""
    names, rows = list(topics), []
    for _ in range(count):
        name = rng.choice(names)
        asked = [name, *rng.sample([other for other in names if other != name], 2)]
        rng.shuffle(asked)
        text = state(topics[name], rng.choice(topics[name]), rng)
        phrases = {other: labels[other] if rng.random() < 0.3 else other.replace("_", " ") for other in asked}
        rows.append({"state": text, "questions": [noul(phrased(rng.choice(wordings), phrases[other]), other == name) for other in asked[: rng.randint(1, 3)]]})
    return rows


def phrased(wording: str, phrase: str) -> str:
    text = wording.format(phrase)
    return text if wording == "{}" else text[0].upper() + text[1:]


def category_rows(net: WordNet, categories: dict[int, tuple[str, str]], each: int, rng: random.Random) -> list[dict]:
    groups = defaultdict(list)
    for synset in net.synsets.values():
        if synset.category in categories and not synset.is_instance and bare(synset.definition):
            groups[categories[synset.category][0]].append(synset)
    rows = []
    for name, members in groups.items():
        usual = sorted(rng.sample(members, len(members)), key=lambda synset: synset.key not in net.tagged)
        rows += [{"state": entry(synset, rng), "label": name} for synset in usual[:each]]
    return rows


def datasets(net: WordNet, source: str, licence: str) -> list[Dataset]:
    rng = random.Random(31)
    domains, kinds = topic_members(net), kind_members(net)
    fields, things = {name: DOMAINS[name][0] for name in DOMAINS}, {name: KINDS[name][0] for name in KINDS}
    def labelled(name: str, rows: list[dict], labels: dict, asked: list[str], notes: str) -> Dataset:
        return Dataset(name, "choice", rows, source, licence, labels, asked, notes)
    def yes_no(name: str, rows: list[dict], notes: str) -> Dataset:
        return Dataset(name, "noul", rows, source, licence, notes=notes)
    return [
        labelled("wordnet_domains", topic_rows(domains, 400, rng), fields, DOMAIN_ASKED,
                 "entries and short glossaries of a field of knowledge; entries of one field only"),
        labelled("wordnet_things", topic_rows(kinds, 400, rng), things, KIND_ASKED,
                 "kinds of things, from the chains of wider words"),
        labelled("wordnet_nouns", category_rows(net, NOUN_CATEGORIES, 900, rng), dict(NOUN_CATEGORIES.values()), NOUN_ASKED, "lexicographer files"),
        labelled("wordnet_verbs", category_rows(net, VERB_CATEGORIES, 900, rng), dict(VERB_CATEGORIES.values()), VERB_ASKED, "lexicographer files"),
        yes_no("wordnet_domain_nouls", topic_nouls(domains, fields, IN_DOMAIN, 6000, rng), "is it about that field"),
        yes_no("wordnet_thing_nouls", topic_nouls(kinds, things, IS_KIND, 5000, rng), "is it about that kind of thing"),
    ]
