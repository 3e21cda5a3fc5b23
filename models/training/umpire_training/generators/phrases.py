"""A tiny phrase grammar and shared word lists: `[a|b|]` is one of the alternatives, `{name}` a word of a list."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from ..tasks import Labelled
from .common import yes_no

ALTERNATIVES = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
SLOT = re.compile(r"\{(\w+)\}")
CLAIMS = ["{0}", "{0}", "{0}", "Is it true that {1}?", "True or false: {0}", "Check whether {1}.", "Does this hold: {1}?", "{2}",
          "Statement: {0}", "Decide if {1}.", "It is the case that {1}.", "Can one say that {1}?", "Verify: {0}"]
# Words that keep their capital inside a sentence are whatever is not in this list.
OPENERS = {"the", "a", "an", "it", "this", "that", "there", "nobody", "somebody", "someone", "all", "no", "one", "some", "at", "in", "by", "under",
           "according", "both", "only", "more", "fewer", "less", "as", "every", "each", "they", "he", "she", "something", "what", "two", "three", "four"}

FIRST = """Aaron Abena Adele Agnes Ahmed Aisha Alan Alma Amara Amir Anita Anton Arjun Astrid Ava Bashir Beata Ben Bianca Bilal Boris Bruno Carla Carlos
Celine Chiara Chloe Clara Colin Cora Dalia Damian Daria Dev Diego Dina Dora Edith Eduardo Elif Elsa Emeka Emil Enzo Esra Esther Ethan Fabian Farid Fay
Felix Fiona Flora Frank Freya Gabriel Gemma Georg Gita Gloria Goran Grace Greta Hana Harold Hassan Hector Helga Hiro Hugo Ibrahim Ida Igor Imani Ingrid
Iris Ivan Jack Jana Jasper Jia Joel Jonas Julia Kai Karim Kate Kenji Kira Lars Leila Leo Lena Liam Lin Lola Luca Lucy Magda Malik Mara Marco Mei Mila
Milo Mina Mona Musa Nadia Nia Nico Nils Nina Noah Nora Olaf Omar Oscar Otto Pablo Paula Pedro Petra Pia Quentin Rafael Rana Ravi Rita Rosa Ruth Sana
Sara Selma Silas Sofia Stella Sven Tara Tariq Theo Tia Tobias Uma Ursula Vera Victor Wanda Wei Willem Xavier Yara Yusuf Zainab Zoe""".split()
LAST = """Abbott Adeyemi Alvarez Bauer Becker Brandt Castillo Chen Cooper Costa Dahl Diaz Dubois Eriksson Farouk Fischer Fontaine Garcia Gupta Hansen
Hoffmann Ibarra Ivanov Jansen Johansson Kaplan Keller Khan Kim Kowalski Larsen Lopez Marino Mbeki Meyer Moreau Nakamura Novak Nguyen Okoye Olsen Park Patel
Petrov Quinn Ramos Rossi Sato Schmidt Shah Silva Singh Stone Suzuki Torres Turner Varga Vogel Wagner Wong Yilmaz Zhang Ziegler""".split()
CITIES = """Lisbon Oslo Nairobi Lima Toronto Osaka Warsaw Geneva Dublin Athens Hanoi Bergen Porto Leeds Denver Austin Krakow Malmo Turin Ghent Cairo
Accra Quito Perth Bristol Lyon Seville Vienna Zagreb Tallinn Riga Cork Boston Montreal Santiago Delhi Pune Busan Kyoto Tunis""".split()


def expand(template: str, rng: random.Random, slots: Mapping[str, Sequence[str] | str] | None = None) -> str:
    """A slot that holds one string is that string; a list gives another word each time."""
    slots = slots or {}

    def word(match: re.Match) -> str:
        values = slots[match[1]]
        return values if isinstance(values, str) else rng.choice(values)

    previous = None
    while previous != template:
        previous = template
        template = ALTERNATIVES.sub(lambda match: rng.choice(match[1].split("|")), template)
        template = SLOT.sub(word, template)
    template = re.sub(r" +", " ", template)
    return re.sub(r" ([,.;!?])(?=\s|$)", r"\1", template)


def sentence(text: str) -> str:
    """With a capital at the start and a stop at the end."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".!?…\"" else ".")


def inner(text: str) -> str:
    """The sentence as a part of another one."""
    text = text.rstrip(".")
    first = text.split(" ", 1)[0].lower()
    return text[:1].lower() + text[1:] if first in OPENERS else text


def claim(statement: str, truth: bool, rng: random.Random) -> Labelled:
    """An assertion as a yes/no question in one of many wordings."""
    if ":" in statement[:24]:  # a bare key stays as it is
        return yes_no(statement, truth)
    part = inner(statement)
    return yes_no(rng.choice(CLAIMS).format(sentence(statement), part, part), truth)


def person(rng: random.Random) -> str:
    return rng.choice(FIRST) if rng.random() < 0.6 else f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def people(rng: random.Random, count: int) -> list[str]:
    """Different first names, all with or all without a family name."""
    first = rng.sample(FIRST, count)
    return first if rng.random() < 0.7 else [f"{name} {last}" for name, last in zip(first, rng.sample(LAST, count))]


def others(gold: str, pool: Sequence[str], count: int, rng: random.Random) -> list[str]:
    left = [value for value in dict.fromkeys(pool) if value != gold]
    return rng.sample(left, min(count, len(left)))
