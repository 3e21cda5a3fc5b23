"""Turns found by words alone: one place, in a quote, and the same text for all the rest of the document."""

import pytest

from umpire_training.word_turns import the_words_that_differ, with_word_turns, word_turns
from umpire_training.written import Document, Pair, Turn

STATE = "Ana rang at nine. The clerk said no. Later Ben wrote to the clerk."


def document(pairs=(), more=()):
    return Document("d-001", STATE, {}, [], list(pairs), list(more))


def test_the_words_of_the_other_statement_take_the_place():
    [turn] = word_turns(document([Pair("It was Ana who rang.", "It was Ben who rang.", ["Ana rang at nine."])]))
    assert (turn.before, turn.after, turn.pairs, turn.unclear) == ("Ana", "Ben", [0], [])


def test_a_pair_whose_quote_is_touched_is_unclear():
    pairs = [Pair("The call came at nine.", "The call came at noon.", ["rang at nine"]), Pair("Somebody rang.", "Nobody rang.", ["Ana rang at nine."])]
    assert [(turn.before, turn.pairs, turn.unclear) for turn in word_turns(document(pairs))] == [("nine", [0], [1])]


@pytest.mark.parametrize(
    "pair",
    [
        Pair("A clerk answered.", "A boss answered.", ["The clerk said no."]),  # twice in the state
        Pair("Ben wrote.", "Ana wrote.", ["The clerk said no."]),  # not in the quote
        Pair("It was Ben who mailed.", "It was Ben who phoned.", ["Later Ben wrote to the clerk."]),  # not in the state's words
        Pair("Ana called.", "Ben called at noon.", ["Ana rang at nine."]),  # two places
        Pair("Ana rang.", "Ana rang twice.", ["Ana rang at nine."]),  # nothing gives way
    ],
)
def test_no_turn_without_one_place_for_it(pair):
    assert word_turns(document([pair])) == []


def test_capitals_as_the_place_has_them():
    def after(true, false, quote):
        return word_turns(document([Pair(true, false, [quote])]))[0].after

    assert after("Ben wrote.", "The owner wrote.", "Later Ben wrote") == "the owner"
    assert after("It was Ana.", "It was the owner.", "Ana rang") == "The owner"


def test_words_that_stand_in_longer_ones_bring_their_neighbours():
    made = Document("d-002", "Art was late. The party began.", {}, [], [Pair("Late: Art", "Late: Bo", ["Art was late."])])
    [turn] = word_turns(made)
    assert made.state.count(turn.before) == 1
    assert made.state.replace(turn.before, turn.after) == "Bo was late. The party began."


def test_a_right_option_said_literally_gives_way_to_another_that_says_something():
    asked = {"type": "choice", "instructions": ["Who rang?"], "criteria": {"Ana": None, "Ben": None, "nobody": None}, "gold": "Ana", "quotes": ["Ana rang at nine."]}
    [turn] = word_turns(document(more=[asked]))
    assert (turn.before, turn.after, turn.more) == ("Ana", "Ben", [(0, "Ben")])


def test_what_was_turned_by_hand_is_left():
    made = document([Pair("It was Ana who rang.", "It was Ben who rang.", ["Ana rang at nine."])])
    made.turns = [Turn("Ana rang", "Ben, not Ana, rang", [0])]
    assert [turn.before for turn in with_word_turns([made])[0].turns] == ["Ana rang"]


def test_where_statements_differ():
    assert the_words_that_differ("She paid 4,000 euros.", "She paid 400 euros.") == ("4,000", "400")
    assert the_words_that_differ("She paid.", "He left.") == ("She paid", "He left")
    assert the_words_that_differ("She paid him.", "He paid her.") is None
