"""WordNet's names of people and places by type, and questions that ask for a thing, by what sort of answer they want."""

from __future__ import annotations

import random
import re
from collections import defaultdict

from .collection import Dataset
from .topic_labels import NAMES, NOUN_CATEGORIES
from .wordnet_files import HYPERNYMS, Synset, WordNet
from .wordnet_topics import bare

ASKED = ["What sort of entity is it?", "type", "Who or what does the entry describe?", "Classify the entry.", "The text is about a", "entity type",
         "Which kind of person, place or thing is this?", "Sort this article into a category.", "category of the entry"]
ANSWER_ASKED = ["What sort of answer does the question want?", "answer type", "The answer will be", "What is being asked for?", "Classify the question by its answer.",
                "kind of question", "Which category would the answer fall into?", "The question asks for"]
PERSON, PLACE = 18, 15
EACH = 350
QUESTIONS = ["What is the word for {}?", "What do you call {}?", "What is {} called?", "Name {}.", "Which word means {}?", "What is the term for {}?"]
WHO = ["Who was the {}?", "Who is known as the {}?", "Name the {}.", "What is the name of the {}?"]
WHICH_PLACE = ["What is the name of the {}?", "Which place is the {}?", "What is the {} called?", "Name the {}."]


def named(net: WordNet) -> dict[str, list[Synset]]:
    """Names under one of the types, the nearest one first."""
    type_of = {net.senses["n", word][0]: name for name, (_, words) in NAMES.items() for word in words}
    found = defaultdict(list)
    for synset in net.synsets.values():
        if synset.is_instance and synset.definition:
            types = {type_of[key] for key in nearest(net, synset, type_of)}
            if len(types) == 1:
                found[types.pop()].append(synset)
    return found


def nearest(net: WordNet, synset: Synset, wanted: dict[str, str]) -> list[str]:
    """The wanted synsets above this one at the least distance."""
    level = synset.related(*HYPERNYMS)
    while level:
        if hits := [key for key in level if key in wanted]:
            return hits
        level = [key for above in net.of(level) for key in above.related(*HYPERNYMS)]
    return []


def name_state(synset: Synset, rng: random.Random) -> str:
    name, text = rng.choice(synset.words), bare(synset.definition)
    return rng.choice([f"{name}: {text}", f"{name} ({text})", f"{name}\n{text[:1].upper()}{text[1:]}.", f"{name} - {text}", text])


def name_rows(net: WordNet, rng: random.Random) -> list[dict]:
    rows = []
    for name, members in named(net).items():
        rows += [{"state": name_state(synset, rng), "label": name} for synset in rng.sample(members, min(EACH, len(members)))]
    return rows


def question(synset: Synset, rng: random.Random) -> str:
    text = re.sub(r"\s*\([^)]*\)", "", bare(synset.definition)).split(";")[0].strip()
    text = re.sub(r"^(a|an|the) ", "", text) if synset.is_instance else text
    wordings = QUESTIONS if not synset.is_instance else WHO if synset.category == PERSON else WHICH_PLACE
    return rng.choice(wordings).format(text)


def question_rows(net: WordNet, each: int, rng: random.Random) -> list[dict]:
    groups = defaultdict(list)
    for synset in net.synsets.values():
        if synset.category in NOUN_CATEGORIES and 3 <= len(synset.definition.split()) <= 25:
            if not synset.is_instance or synset.category in (PERSON, PLACE):
                groups[NOUN_CATEGORIES[synset.category][0]].append(synset)
    rows = []
    for name, members in groups.items():
        usual = sorted(rng.sample(members, len(members)), key=lambda synset: (synset.key not in net.tagged, rng.random()))[: 2 * each]
        rows += [{"state": question(synset, rng), "label": name} for synset in rng.sample(usual, min(each, len(usual)))]
    return rows


def datasets(net: WordNet, source: str, licence: str) -> list[Dataset]:
    rng = random.Random(32)
    return [
        Dataset("wordnet_names", "choice", name_rows(net, rng), source, licence, {name: text for name, (text, _) in NAMES.items()}, ASKED,
                "people, places and other names, by the nearest type above them"),
        Dataset("wordnet_answers", "choice", question_rows(net, 350, rng), source, licence, dict(NOUN_CATEGORIES.values()), ANSWER_ASKED,
                "definitions as questions; the lexicographer file of the answer"),
    ]
