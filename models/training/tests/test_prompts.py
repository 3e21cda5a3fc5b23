"""The contract of models/README.md, rule by rule."""

import pytest

from umpire_training.prompts import CLS, SEP, Limits, Question, cut, prepare, render, sort_options, well_formed

#                0      1      2     3     4      5     6
CONTINUES = [False, False, True, True, False, True, False]


@pytest.mark.parametrize(("ids", "size", "expected"), [
    ([], 4, []),
    ([0, 1, 4], 4, [[0, 1, 4]]),
    ([0, 1, 4, 6], 2, [[0, 1], [4, 6]]),
    ([0, 0, 1, 2, 3], 4, [[0, 0], [1, 2, 3]]),  # the word 1 2 3 moves as a whole: half of the size remains
    ([0, 1, 2, 3, 6], 3, [[0, 1, 2], [3, 6]]),  # one id would remain, under half: the word is split
    ([1, 2, 3, 2, 3], 2, [[1, 2], [3, 2], [3]]),  # a word longer than a slice
])
def test_cut(ids, size, expected):
    assert cut(ids, size, CONTINUES) == expected


def test_specials_are_plain_text(text):
    ids = text.ids("[SEP] and [CLS]")
    assert SEP not in ids and CLS not in ids and text.ids("[") + text.ids("sep") + text.ids("]") == ids[:3]


def test_lone_surrogates():
    assert well_formed("a\ud800b\udc00") == "a\ufffdb\ufffd"
    assert well_formed("\ud83d\ude00") == "😀"


def test_rendering():
    question = Question("choice", "?", [("b", None), ("a", "x"), ("a", "")])
    assert render(question) == [("b", "b"), ("a: x", "a"), ("a", "a")]
    assert sort_options(question) == [2, 1, 0]
    assert render(Question("noul", "?", [("false", None), ("true", "yes")]))[1] == ("true: yes", "true")
    levels = Question("score", "?", [("", "z"), ("", "a")])
    assert render(levels) == [("z", ""), ("a", "")] and sort_options(levels) == [0, 1]


def test_sorted_by_bytes_not_by_code_units():
    names = ["\U0001f600", "\uffee", "a"]  # UTF-16 would put the emoji before U+FFEE
    question = Question("choice", "?", [(name, None) for name in names])
    assert [names[i] for i in sort_options(question)] == ["a", "\uffee", "\U0001f600"]


def test_positions_and_branches(text):
    question = Question("choice", "which", [("one", None), ("two words", None)])
    request = prepare("a state", [question], text)
    [chunk] = request.questions[0].chunks
    assert request.windows == [[CLS, *text.ids("a state"), SEP]]
    assert chunk.token_ids == [CLS, *text.ids("which"), SEP, *text.ids("one"), SEP, *text.ids("two words"), SEP]
    assert chunk.positions == [0, 1, 2, 3, 4, 3, 4, 5]
    assert chunk.branch == [0, 0, 0, 1, 1, 2, 2, 2]
    assert request.input_tokens == 2 + 1 + 3


def test_nothing_at_all(text):
    request = prepare("", [Question("choice", "", [("", None)])], text)
    assert request.windows == [[CLS, SEP]]
    assert request.questions[0].chunks[0].token_ids == [CLS, SEP, SEP]
    assert request.input_tokens == 0


def test_long_instructions_and_options(text):
    question = Question("choice", "word " * 600, [("a", "word " * 300), ("b", None)])
    prepared = prepare("x", [question], text).questions[0]
    assert [len(window) for window in prepared.windows] == [256, 256]
    first = prepared.chunks[0]
    assert first.branch.count(0) == 600 - 2 * 254 + 2
    assert [option for chunk in prepared.chunks for option in chunk.options] == [0, 0, 1]


def test_chunks_hold_the_instructions_each_and_at_least_one_piece(text):
    options = [(f"option {i}", "word " * 40) for i in range(20)]
    limits = Limits(branch_tokens=10)
    chunks = prepare("x", [Question("choice", "which one", options)], text, limits).questions[0].chunks
    assert len(chunks) == 20 and all(chunk.branch[:4] == [0] * 4 for chunk in chunks)
    few_scores = Limits(branch_scores=3 * 60)
    chunks = prepare("x", [Question("choice", "which one", options)], text, few_scores).questions[0].chunks
    assert all(len(chunk.token_ids) <= 60 for chunk in chunks)
