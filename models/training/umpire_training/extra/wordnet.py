"""WordNet 3.0: definitions and words, senses in sentences, kinds of things. Topics, names, feelings: `wordnet_*`."""

from __future__ import annotations

import random
import re

from . import wordnet_emotions, wordnet_names, wordnet_topics
from .collection import Dataset, choice, noul, shuffled
from .registry import Registry
from .wordnet_files import HYPERNYMS, HYPONYMS, Synset, WordNet, read_wordnet

LICENCE = "WordNet 3.0 licence (free use, notice kept)"
SOURCE = "Debian wordnet-base, WordNet 3.0"

WHICH_WORD = ["Which word is defined?", "Find the word for this definition.", "word", "What is described here?", "The text explains the term",
              "Choose the term that the definition belongs to.", "Which of these means that?", "term", "Pick the matching word.",
              "What is this called?"]
WHICH_DEFINITION = ["What does the word mean?", "meaning", "Pick the right definition.", "The word means", "Which explanation is right?",
                    "Choose the definition that fits the word."]
WHICH_SENSE = ['Which meaning of "{}" is used here?', 'In which sense is "{}" meant?', 'sense of "{}"', 'What does "{}" mean in this sentence?',
               'Choose the meaning of "{}" that fits the context.', 'Here "{}" stands for', 'Decide what "{}" refers to.', 'meaning of {}']
SAME_SENSE = ['Here "{}" means: {}', 'Does "{}" mean {} in this sentence?', '"{}" is used in the sense of {}', '{} = {}',
              'Is "{}" to be understood as {}?']
KIND_OF = ["{0} is a kind of {1}.", "Is {0} a kind of {1}?", "{0} is classed as {2}.", "The text describes a kind of {1}.", "kind of {1}",
           "Is this a sort of {1}?", "What is described is a type of {1}.", "{0} counts as {2}."]


def plain(word: str) -> bool:
    """No names, numbers or Latin taxa."""
    return word.islower() and len(word) > 2 and re.fullmatch(r"[a-z' -]+", word) is not None


def common(net: WordNet, synset: Synset) -> bool:
    return not synset.is_instance and bool(synset.definition) and any(plain(word) for word in synset.words)


def preferred(net: WordNet, limit: int, rng: random.Random) -> list[Synset]:
    """Usual words first: those counted in a corpus, then the rest, both in random order."""
    usable = [synset for synset in net.synsets.values() if common(net, synset) and net.siblings(synset)]
    rng.shuffle(usable)
    usable.sort(key=lambda synset: synset.key not in net.tagged)
    return usable[:limit]


def article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def stem(word: str) -> str:
    return word.lower()[: max(4, len(word) - 3)]


def rivals(net: WordNet, synset: Synset, pool: list[Synset], count: int, rng: random.Random) -> list[str]:
    """Words for near things first, then any: never a synonym, a wider or a narrower word."""
    barred = {synset.key, *net.ancestors(synset), *synset.related(*HYPONYMS)}
    own = {word.lower() for word in synset.words}
    near = net.siblings(synset)
    rng.shuffle(near)
    near = near[: rng.randint(0, count)]
    others = [other for other in rng.sample(pool, count + 5) if other.part == synset.part]
    words = []
    for other in near + others:
        names = [word for word in other.words if plain(word) and word not in own and word not in words]
        if other.key not in barred and names and not own & {word.lower() for word in other.words}:
            words.append(rng.choice(names))
    return words[:count]


def describe(synset: Synset, word: str, rng: random.Random) -> str:
    """The definition, sometimes with an example in which the word is left out."""
    usable = [text for text in synset.examples if re.search(rf"\b{re.escape(word)}\b", text)]
    if usable and rng.random() < 0.4:
        blanked = re.sub(rf"\b{re.escape(word)}\b", "___", rng.choice(usable))
        return rng.choice([f"{synset.definition}\nExample: {blanked}", f'{synset.definition}; "{blanked}"', f"{blanked}\n({synset.definition})"])
    return rng.choice([synset.definition, synset.definition, synset.definition[0].upper() + synset.definition[1:] + "."])


def word_rows(net: WordNet, synsets: list[Synset], rng: random.Random) -> list[dict]:
    rows = []
    for synset in synsets:
        word = next(word for word in synset.words if plain(word))
        if stem(word) in synset.definition.lower():
            continue
        words = rivals(net, synset, synsets, rng.choice([3, 4, 5, 7, 9, 12, 15, 19]), rng)
        if len(words) >= 3:
            rows.append({"state": describe(synset, word, rng),
                         "questions": [choice(rng.choice(WHICH_WORD), shuffled([word, *words], None, rng), word)]})
    return rows


def definition_rows(net: WordNet, synsets: list[Synset], rng: random.Random) -> list[dict]:
    """A word (and an example) as the state, definitions as the options."""
    rows = []
    for synset in synsets:
        word = next(word for word in synset.words if plain(word))
        near = [other.definition for other in net.siblings(synset) if other.definition]
        far = [other.definition for other in rng.sample(synsets, 5)]
        other = rng.sample(near, min(len(near), rng.randint(1, 4))) + far[: rng.randint(1, 3)]
        options = list(dict.fromkeys([synset.definition, *other]))
        example = f"{word}\n{rng.choice(synset.examples)}" if synset.examples and rng.random() < 0.4 else word
        if len(net.senses.get((synset.part, word), [])) == 1 and 3 <= len(options):
            rows.append({"state": example, "questions": [choice(rng.choice(WHICH_DEFINITION), shuffled(options, None, rng), synset.definition)]})
    return rows


def sense_names(net: WordNet, senses: list[Synset], word: str, rng: random.Random) -> list[str]:
    """A name for every sense: another word for it or a wider one; otherwise numbers."""
    names = []
    for sense in senses:
        wider = [name for above in net.of(sense.related(*HYPERNYMS)) for name in above.words]
        free = [name for name in [*sense.words, *wider] if name.lower() != word and name not in names]
        names.append(free[0] if free else "")
    if all(names) and rng.random() < 0.7:
        return names
    prefix = rng.choice(["sense ", "meaning ", ""])
    return [f"{prefix}{i + 1}" for i in range(len(senses))]


def sense_rows(net: WordNet, rng: random.Random) -> list[dict]:
    rows = []
    for (part, word), keys in net.senses.items():
        if not plain(word) or len(keys) < 2:
            continue
        senses = net.of(keys)
        for sense in senses:
            for example in sense.examples:
                if re.search(rf"\b{re.escape(word)}", example.lower()) and len(example.split()) > 2:
                    rows.append({"state": example, "questions": sense_questions(net, word, sense, senses, rng)})
    return rows


def sense_questions(net: WordNet, word: str, sense: Synset, senses: list[Synset], rng: random.Random) -> list[dict]:
    others = [other for other in senses[:12] if other.key != sense.key]
    picked = [sense, *rng.sample(others, min(len(others), rng.randint(1, 6)))]
    rng.shuffle(picked)
    names = sense_names(net, picked, word, rng)
    criteria = {name: other.definition for name, other in zip(names, picked)}
    asked = []
    if len(criteria) == len(picked):
        asked.append(choice(rng.choice(WHICH_SENSE).format(word), criteria, names[picked.index(sense)]))
    if rng.random() < 0.5 or not asked:
        meant = sense if rng.random() < 0.5 else rng.choice(others)
        asked.append(noul(rng.choice(SAME_SENSE).format(word, meant.definition), meant is sense))
    return asked


def kind_rows(net: WordNet, synsets: list[Synset], rng: random.Random) -> list[dict]:
    """Yes or no about a thing's kind; the wrong kinds lie near the right ones and have kinds of their own too."""
    rows = []
    for synset in synsets:
        if synset.part != "n":
            continue
        above = sorted(net.ancestors(synset))
        right = [net.synsets[key] for key in above if usable_kind(net.synsets[key])]
        near = [other for parent in net.of(above) for other in net.siblings(parent) if other.key not in above]
        near += [other for other in net.siblings(synset)]
        own = {word.lower() for word in synset.words} | {word for key in above for word in net.synsets[key].words}
        wrong = [other for other in near if usable_kind(other) and other.related(*HYPONYMS) and not own & set(other.words)]
        if right and wrong:
            word = next(word for word in synset.words if plain(word))
            kinds = [(rng.choice(right), True), (rng.choice(wrong), False)]
            rng.shuffle(kinds)
            rows.append({"state": f"{word}: {synset.definition}" if rng.random() < 0.7 else synset.definition,
                         "questions": [kind_question(word, kind, truth, rng) for kind, truth in kinds[: rng.randint(1, 2)]]})
    return rows


def usable_kind(synset: Synset) -> bool:
    """Not the uppermost ones, which are hard to tell for people as well."""
    return synset.category != 3 and plain(synset.words[0]) and not synset.is_instance


def kind_question(word: str, kind: Synset, truth: bool, rng: random.Random) -> dict:
    wider = rng.choice([name for name in kind.words if plain(name)])
    text = rng.choice(KIND_OF).format(article(word), wider, article(wider))
    return noul(text[0].upper() + text[1:], truth)


def datasets(registry: Registry) -> list[Dataset]:
    net = read_wordnet(registry.debian_package("wordnet-base") / "usr/share/wordnet")
    rng = random.Random(30)
    usual = preferred(net, 45_000, rng)
    def made(name: str, kind: str, rows: list[dict], notes: str, limit: int) -> Dataset:
        return Dataset(name, kind, rows, SOURCE, LICENCE, notes=notes, limit=limit)
    return [
        *[dataset for module in (wordnet_topics, wordnet_names, wordnet_emotions) for dataset in module.datasets(net, SOURCE, LICENCE)],
        made("wordnet_words", "choice", word_rows(net, usual[:35_000], rng), "definition to word; the other words name near things", 20_000),
        made("wordnet_definitions", "choice", definition_rows(net, usual, rng), "word to definition; words with one sense", 6_000),
        made("wordnet_senses", "mixed", sense_rows(net, rng), "which sense of a word in an example sentence", 20_000),
        made("wordnet_kinds", "noul", kind_rows(net, usual, rng), "is it a kind of that; wrong kinds lie near the right ones", 12_000),
    ]
