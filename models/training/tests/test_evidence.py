"""Where in the state an answer lies, and how much attention goes there."""

import json
import random
from dataclasses import replace

import pytest
import torch

from umpire_training import evidence, pack
from umpire_training.batch import Batch, collate
from umpire_training.evidence import looked_at, named_in, overlooked, places_of, sentence_of
from umpire_training.mix import Mix, prepared_with_evidence
from umpire_training.prompts import Limits, Question, prepare
from umpire_training.rewording import noul_criteria, vary_levels
from umpire_training.statements import FOLLOWS, OPEN, gathered
from umpire_training.tasks import Example, Labelled
from umpire_training.written import Document, Edit, Pair, Turn, asked, asked_more, compatible, documents, in_short, snippet, stated, turned

STATE = "Dear team,\nthe van came on Monday. Nobody was in! It comes again, they say."
NOUL = Question("noul", "Did anyone open the door?", [("false", None), ("true", None)])
LONG = Question("choice", "When did the van come, as far as the writer of this message knows?", [("Monday", None), ("Tuesday", "or later")])
PARCEL = "The parcel was left with the neighbour at number nine."


@pytest.mark.parametrize(("part", "sentence"), [
    ("Monday", "the van came on Monday."), ("Nobody", "Nobody was in!"), ("on Monday. Nobody", "the van came on Monday. Nobody was in!"),
    ("they say.", "It comes again, they say."), ("came", "the van came on Monday."), ("o", "o"), ("nowhere", "nowhere"), (" ", " "),
])
def test_the_sentence_around_a_part(part, sentence):
    assert sentence_of(STATE, part) == sentence


def tokens(text, state, places, limits):
    windows = prepare(state, [], text, limits).windows
    return text.tokenizer.decode([windows[window][place] for window, place in places])


@pytest.mark.parametrize("window_tokens", [256, 8])
def test_places_are_the_tokens_of_the_parts_in_whatever_window(text, window_tokens):
    limits = Limits(window_tokens=window_tokens)
    found = places_of(STATE, [("Nobody was in!",), ("Monday", "they say"), (), ("o",), ("Tuesday",), ("Monday", "Tuesday"), (STATE,)], text, limits)
    assert [tokens(text, STATE, places, limits) for places in found[:2]] == ["nobody was in!", "monday they say"]
    assert found[2:] == [[]] * 5  # none named; twice; not there; one part not there; all of the state is no place


def batch_of(text, *examples: Example) -> Batch:
    return collate([prepared_with_evidence(example, text, Limits()) for example in examples])


def example(question: Question, *parts: str, state: str = STATE) -> Example:
    return Example(state, [Labelled(question, [1.0] + [0.0] * (len(question.options) - 1), "", parts)])


def shares_of(model, batch: Batch) -> torch.Tensor:
    shares: list[torch.Tensor] = []
    model.forward_batch(batch, 0.0, shares)
    return torch.stack(shares)


def test_rows_are_looked_at_alike_alone_and_beside_others(tiny, text, monkeypatch):
    """Padding takes no attention, and no row that of another."""
    monkeypatch.setattr(evidence, "LAYERS", (0, 1))
    one, other = example(NOUL, "Nobody was in!"), example(LONG, "Monday", state=f"{PARCEL} {STATE}")
    both = batch_of(text, one, example(NOUL), other)
    order = [int(row) for row in both.evidence.rows]
    alone = torch.cat([shares_of(tiny, batch_of(text, each)) for each in (one, other)], 1)
    assert len(order) == 2 and torch.allclose(shares_of(tiny, both).sort(1).values, alone.sort(1).values, atol=1e-6)


def test_the_share_is_that_of_the_heads_that_look_there_most(text):
    """Against attention written out for one row."""
    batch, heads = batch_of(text, example(NOUL, "Nobody was in!")), 6
    torch.manual_seed(0)
    qkv = torch.randn(len(batch.token_ids), 3 * heads * 4)
    state, instructions = batch.state_tokens, int((batch.token_lead == 0).sum())
    [places] = prepared_with_evidence(example(NOUL, "Nobody was in!"), text, Limits()).questions[0].evidence,
    by_head = []
    for head in range(heads):
        query, key = (qkv[:, part * heads * 4 + head * 4: part * heads * 4 + head * 4 + 4] for part in (0, 1))
        keys = torch.cat([key[:state], key[state: state + instructions]])
        shares = torch.softmax(query[state: state + instructions] @ keys.T / 2, -1)
        by_head.append(shares[:, [place for _, place in places]].sum(1).mean().item())
    assert looked_at(qkv, batch.evidence, heads).item() == pytest.approx(sum(sorted(by_head)[-evidence.HEADS:]) / evidence.HEADS, abs=1e-6)


def test_the_loss_turns_attention_to_the_evidence(tiny, text, monkeypatch):
    monkeypatch.setattr(evidence, "LAYERS", (0, 1))
    batch, optimizer = batch_of(text, example(NOUL, "Nobody was in!"), example(LONG, "Monday")), torch.optim.AdamW(tiny.parameters(), lr=3e-3)
    before = shares_of(tiny, batch)
    for _ in range(60):
        shares: list[torch.Tensor] = []
        tiny.forward_batch(batch, 0.0, shares)
        optimizer.zero_grad()
        overlooked(shares).sum().backward()
        optimizer.step()
    assert shares_of(tiny, batch).mean() > 0.9 > 0.5 > before.mean()


def test_logits_stay_what_they_are(tiny, text):
    batch = batch_of(text, example(NOUL, "Nobody was in!"), example(LONG))
    with torch.inference_mode():
        assert torch.equal(tiny.forward_batch(batch), tiny.forward_batch(batch, 0.0, []))
    assert batch_of(text, example(LONG)).evidence is None


# --- where it is known ------------------------------------------------------------------------------------------------

DOCUMENT = Document("w-1", STATE, {
    "in": {"type": "noul", "instructions": ["Was anyone in?"], "gold": False},
    "day": {"type": "choice", "instructions": ["When?"], "criteria": {"Monday": None, "Friday": None}, "gold": "Monday"},
    "tone": {"type": "score", "instructions": ["How polite?"], "criteria": ["rude", "polite"], "gold": 1},
}, [Edit("Nobody was", "My son was", {"in": True}), Edit("Monday", "Friday", {"day": "Friday"}), Edit("Nobody was in", "We all were in", {"in": True})],
    [Pair("The van returns.", "The van stays away.", ["comes again"]), Pair("The van came.", "A lorry came.", ["the van", "came on"])])


@pytest.mark.parametrize(("edit", "found"), [
    (None, {"in": ("Nobody was in!",), "day": ("the van came on Monday.",), "tone": ()}),
    (0, {"in": ("My son was in!",), "day": ("the van came on Monday.",), "tone": ()}),
    (1, {"in": ("Nobody was in!",), "day": ("the van came on Friday.",), "tone": ()}),
])
def test_edits_show_what_decides(edit, found):
    questions = asked(DOCUMENT, list(found), None if edit is None else DOCUMENT.edits[edit], random.Random(1))
    assert {name: question.evidence for name, question in zip(found, questions, strict=True)} == found


def test_both_statements_of_a_pair_are_asked():
    found = stated(DOCUMENT.pairs, random.Random(2))
    assert {(q.question.instructions, q.gold, q.evidence) for q in found} == {
        ("The van returns.", 1, ("comes again",)), ("The van stays away.", 0, ("comes again",)),
        ("The van came.", 1, ("the van", "came on")), ("A lorry came.", 0, ("the van", "came on"))}


def test_a_snippet_holds_the_sentences_that_decide():
    assert snippet(STATE, ["comes again", "on Monday"]) == "the van came on Monday.\nIt comes again, they say."
    listed = replace(DOCUMENT, more=[{"type": "choice", "instructions": "When?", "criteria": {"Monday": None, "Friday": None}, "gold": "Monday", "list": 0, "quotes": ["Monday"]},
                                     {"type": "score", "instructions": "How late?", "criteria": ["a", "b"], "gold": 0, "quotes": ["in"]}])
    found = {(e.state, frozenset(q.question.instructions for q in e.questions)) for e in (in_short(listed, random.Random(seed)) for seed in range(60))}
    statements = {"The van returns.", "The van stays away."}, {"The van came.", "A lorry came."}
    assert found == {("the van came on Monday.", frozenset(["When?"])), ("It comes again, they say.", frozenset(statements[0])),
                     ("the van came on Monday.", frozenset(statements[1])),
                     ("the van came on Monday.\nIt comes again, they say.", frozenset(statements[0] | statements[1]))}


def test_a_document_is_drawn_beside_an_edit_of_it_or_alone_or_as_a_snippet():
    mix = Mix([], {"groups": {}, "alone_share": 0.2, "pairs_share": 0.3, "turned_share": 0.5, "snippet_share": 0.3, "altered_short": 0.5, "plain_share": 0.5}, 1, [DOCUMENT])
    kinds = {"beside": 0, "alone": 0, "snippet": 0}
    for unit in (mix.pair() for _ in range(300)):
        asks = {q.question.instructions for q in unit[0].questions}
        kind = "beside" if len(unit) == 2 else "snippet" if "Nobody" not in unit[0].state else "alone"
        kinds[kind] += 1
        statements = {"The van returns.", "The van stays away.", "The van came.", "A lorry came."}
        assert asks & statements if kind != "beside" else not asks & statements
        assert bool(asks & {"Was anyone in?", "When?", "How polite?"}) == (kind != "snippet")
    assert all(60 < count < 140 for count in kinds.values()), kinds


TURNS = [Turn("on Monday", "next month", [], more=[(0, "Friday")]), Turn("comes again", "stays away", [0]), Turn("the van came", "a lorry came", [1]),
         Turn("the van", "a lorry", [1]), Turn("Nobody was in", "We were in", [], [0])]
LISTED = {"type": "choice", "instructions": "When?", "criteria": {"Monday": None, "Friday": None}, "gold": "Monday", "list": 0, "quotes": ["Monday"]}


@pytest.mark.parametrize("short", [False, True])
def test_two_versions_of_a_document_answer_everything_differently(short):
    document, seen = replace(DOCUMENT, more=[LISTED], turns=TURNS), set()
    for seed in range(80):
        first, second = turned(document, 3, short, random.Random(seed))
        golds = [{q.question.instructions: q.question.options[q.gold][0] for q in side.questions} for side in (first, second)]
        assert golds[0].keys() == golds[1].keys() and golds[0] and all(golds[0][name] != golds[1][name] for name in golds[0])
        for side, gold in zip((first, second), golds, strict=True):
            said = {"The van returns.": "true" if "comes again" in side.state else "false", "A lorry came.": "true" if "a lorry" in side.state else "false",
                    "When?": "Friday" if "next month" in side.state else "Monday"}
            assert gold == gold | {statement: answer for statement, answer in said.items() if statement in gold}
            assert short or side.state.startswith("Dear team,")
        seen |= golds[0].keys()
    assert seen == {"When?", "The van returns.", "The van stays away.", "The van came.", "A lorry came."}


def test_turns_that_disturb_each_other_are_not_taken_together():
    document = replace(DOCUMENT, turns=TURNS)
    taken = {frozenset(TURNS.index(turn) for turn in compatible(document, 9, random.Random(seed))) for seed in range(200)}
    assert taken == {frozenset(each) for each in ((0, 1, 2), (0, 1, 3), (0, 2, 4), (0, 3, 4))}  # 2 and 3 overlap, and 4 leaves unclear what 1 turns


def test_turns_stand_in_a_file_of_their_own_and_go_through_a_pack(tmp_path):
    lists = [{"options": ["Monday", "Friday"], "asks": [{"q": "When?", "gold": "Monday"}, {"q": "And then?", "gold": "Friday"}]}]
    scales = [{"levels": ["rude", "polite"], "asks": [{"q": "How polite?", "gold": 1}]}]
    turns = [{"from": "van", "to": "lorry", "pairs": [0, 2], "unclear": [1]}, {"from": "Monday", "to": "Friday", "list": 0, "ask": 1, "gold": "Monday"},
             {"from": "Dear", "to": "Oi", "scale": 0, "ask": 0, "gold": 0}]
    rows = [{"id": "w-1", "turns": turns}, {"id": "w-1", "lists": lists, "scales": scales, "pairs": []}, {"id": "w-1", "state": STATE, "questions": {}}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    [found] = documents([tmp_path], dev=False)
    assert found.turns == [Turn("van", "lorry", [0, 2], [1]), Turn("Monday", "Friday", [], more=[(1, "Monday")]), Turn("Dear", "Oi", [], more=[(2, 0)])]
    pack.save(pack.Pack([], [found], {}, [], []), tmp_path / "p")
    assert [(turn.before, [tuple(each) for each in turn.more]) for turn in pack.load(tmp_path / "p").written[0].turns] == [(turn.before, turn.more) for turn in found.turns]


def test_lists_and_scales_become_questions(tmp_path):
    lists = [{"options": ["Monday", "late: on Friday"], "asks": [{"q": "When?", "gold": "Monday", "quote": "on Monday"}, {"q": "And then?", "gold": "late: on Friday"}]}]
    scales = [{"levels": ["rude", "polite"], "asks": [{"q": "How polite?", "gold": 1, "quote": ["Dear", "team"]}]}]
    rows = [{"id": "w-1", "state": STATE, "questions": {}}, {"id": "w-1", "lists": lists, "scales": scales}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    [document] = documents([tmp_path], dev=False)
    found = {(q.question.type, q.question.instructions, tuple(q.question.options), q.gold, q.evidence) for q in asked_more(document.more)}
    options, levels = (("Monday", None), ("late", "on Friday")), (("", "rude"), ("", "polite"))
    assert found == {("choice", "When?", options, 0, ("on Monday",)), ("choice", "And then?", options, 1, ()), ("score", "How polite?", levels, 1, ("Dear", "team"))}


def test_pairs_may_stand_in_a_file_of_their_own(tmp_path):
    state = {"id": "w-1", "state": STATE, "questions": {}}
    pairs = {"id": "w-1", "pairs": [{"true": "a", "false": "b", "quote": "van"}, {"true": "c", "false": "d", "quote": ["van", "in"]}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(pairs) + "\n")
    (tmp_path / "b.jsonl").write_text(json.dumps(state) + "\n" + json.dumps({**state, "id": "w-2"}) + "\n")
    assert {each.id: each.pairs for each in documents([tmp_path], dev=False)} == {"w-1": [Pair("a", "b", ["van"]), Pair("c", "d", ["van", "in"])], "w-2": []}


@pytest.mark.parametrize(("raw", "found"), [
    ({"type": "choice", "criteria": {"Monday": None, "van": None}, "gold": "Monday"}, ("Monday",)),
    ({"type": "choice", "criteria": {"Monday": None, "Friday": None}, "gold": "Monday"}, ()),  # no other is said: a topic, not a find
    ({"type": "choice", "criteria": {"Friday": None, "van": None}, "gold": "Friday"}, ()),
    ({"type": "choice", "criteria": {"in": None, "van": None}, "gold": "in"}, ()),
    ({"type": "noul", "gold": True}, ()),
])
def test_a_right_option_that_the_state_says(raw, found):
    assert named_in(STATE, raw) == found


def test_of_several_texts_the_one_that_is_asked_about_decides():
    texts = [(PARCEL, [("A neighbour has it.", FOLLOWS), ("It is heavy.", OPEN)]), ("The van came late.", [("It was not on time.", FOLLOWS)])]
    made = {"A neighbour has it.": PARCEL, "It is heavy.": PARCEL, "It was not on time.": "The van came late."}
    several = [e for e in (gathered(texts, texts, 0.5, random.Random(seed)) for seed in range(80)) if all(text in e.state for text, _ in texts)]
    assert len(several) > 20
    for e in several:
        for question in e.questions:
            [decides] = question.evidence
            about = next(text for statement, text in made.items() if statement in question.question.instructions)
            elsewhere = question.question.type == "noul" and not question.gold  # asked about the other text
            assert decides == about or elsewhere


def test_rewording_keeps_the_evidence_unless_the_instructions_say_nothing_more():
    kept, lost = set(), set()
    for seed in range(200):
        for question in (Labelled(NOUL, [1.0, 0.0], "", ("in",)), Labelled(Question("score", "How late?", [("", "a"), ("", "b"), ("", "c")]), [0.0, 1.0, 0.0], "", ("in",))):
            changed = noul_criteria(vary_levels(question, random.Random(seed)), random.Random(seed), 1.0)
            (kept if changed.evidence else lost).add((question.question.type, changed.question.type, changed.question.instructions == question.question.instructions))
    assert {("noul", "noul", True), ("score", "score", True)} <= kept and ("noul", "noul", False) not in kept and ("noul", "noul", True) not in lost
