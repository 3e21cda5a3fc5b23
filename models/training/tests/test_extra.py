"""Readers of the extra training data, on small samples in the form of the sources."""

from __future__ import annotations

import gzip
import json
import random

from umpire_training.extra import chats, fortunes, packages, registry, reviews, words
from umpire_training.extra.collection import Dataset, choice, noul, write
from umpire_training.extra.wordnet import sense_rows, word_rows
from umpire_training.extra.wordnet_files import WordNet, read_index, read_synset
from umpire_training.extra.wordnet_topics import bare, below
from umpire_training.tasks import plain_examples, training_tasks

SYNSETS = """\
00000001 06 n 01 vehicle 0 003 ~ 00000002 n 0000 ~ 00000003 n 0000 ~ 00000004 n 0000 | a thing that carries people
00000002 06 n 02 car 0 motor_car 0 001 @ 00000001 n 0000 | (driving) has four wheels and an engine; "he needs a car to get to work"
00000003 06 n 01 sledge 0 001 @ 00000001 n 0000 | glides over snow on runners
00000004 06 n 01 boat 0 001 @ 00000001 n 0000 | floats on water; "the boat sank"; - A. Writer
00000005 10 n 01 boat 1 000 | a dish for gravy
00000006 00 s 02 galore(ip) 0 aplenty 0 000 | in great numbers"""


def small_net() -> WordNet:
    synsets = [read_synset(line) for line in SYNSETS.splitlines()]
    return WordNet(synsets, {("n", "boat"): ["n00000004", "n00000005"]}, set())


def test_synsets_have_words_relations_definition_and_examples():
    car = small_net().synsets["n00000002"]
    assert car.words == ["car", "motor car"]
    assert car.definition == "(driving) has four wheels and an engine"
    assert car.examples == ["he needs a car to get to work"]
    assert car.related("@") == ["n00000001"]
    assert bare(car.definition) == "has four wheels and an engine"
    assert small_net().synsets["a00000006"].words == ["galore", "aplenty"]


def test_ancestors_siblings_and_what_lies_below():
    net = small_net()
    car = net.synsets["n00000002"]
    assert net.ancestors(car) == {"n00000001"}
    assert {synset.words[0] for synset in net.siblings(car)} == {"sledge", "boat"}
    assert below(net, "n00000001") == {"n00000002", "n00000003", "n00000004"}


def test_index_lines_give_senses_in_order():
    assert read_index(["  1 a licence line", "motor_car n 2 1 @ 2 1 00000002 00000009  "]) == [("motor car", "n", 1, ["n00000002", "n00000009"])]


def test_senses_name_the_right_one():
    row = next(row for row in sense_rows(small_net(), random.Random(1)) if row["state"] == "the boat sank")
    for question in row["questions"]:
        if question["type"] == "choice":
            assert question["criteria"][question["gold"]] == "floats on water"
        else:
            assert ("floats on water" in question["instructions"]) == question["gold"]


def test_words_have_rivals_that_are_not_synonyms():
    net = small_net()
    nouns = [synset for synset in net.synsets.values() if synset.part == "n"]
    for row in word_rows(net, nouns * 5, random.Random(2)):
        question = row["questions"][0]
        assert question["gold"] in question["criteria"]
        if question["gold"] == "car":
            assert "motor car" not in question["criteria"]


def test_review_snippets_and_their_shares():
    snippets = reviews.read_snippets("1_1\t-2.5\tit broke on day one.\n1_2\t1.0\ti like it.", "1_1\t-2.5\t0.5\t[-3, -2]\n1_2\t1.0\t0.0\t[1, 1]")
    assert [snippet.document for snippet in snippets] == ["1", "1"]
    assert reviews.share(snippets[0].ratings, reviews.level) == {"very negative": 0.5, "negative": 0.5}
    assert reviews.side(snippets[1].mean) == "positive"
    assert [reviews.overall(means) for means in ([1.0, 1.4], [-1.5, -0.9], [1.5, -1.6], [0.1, 0.2], [0.9, -0.5])] == [
        "positive", "negative", "mixed", "neutral", None]


def test_lexicon_lines():
    assert words.read_lexicon("good\t1.9\t0.9\t[2, 1]")[0] == words.Rated("good", 1.9, [2, 1])


def test_quotes_lose_breaks_and_keep_the_writer():
    text = "A long line that was broken by hand because the screen was narrow,\nand goes on here.\n\t\t-- Somebody\n%\nshort\n%\n"
    assert fortunes.read_quotes(text) == [
        "A long line that was broken by hand because the screen was narrow, and goes on here.\n-- Somebody"]


def test_chats_are_read_without_a_yaml_library():
    text = "categories:\n- food\nconversations:\n- - 'what''s tea'\n  - a drink\n    made of leaves\n- - code?\n  - |\n    ```\n"
    assert chats.turns(text) == [["what's tea", "a drink made of leaves"], ["code?"]]


def test_package_descriptions_and_tags():
    long = "it draws pictures " * 10
    index = "Package: a\nDescription-md5: 1\nTag: works-with::image:raster, role::program,\n use::editing\nSection: graphics\n"
    texts = f"Package: a\nDescription-md5: 1\nDescription-en: image editor\n {long}\n and more\n .\n * a list\n"
    (package,) = packages.read_packages(index, texts)
    assert package.text.startswith("Image editor\nit draws") and package.text.endswith("and more\n* a list")
    assert packages.tags_of(package, "works-with") == {"image"}
    assert packages.facet_rows([package], "use") == [{"state": package.text, "label": "editing"}]
    assert all(question["type"] == "noul" for question in packages.statements(package, random.Random(3)))


def test_fields_of_a_package():
    assert registry.package_fields("Package: x\nFilename: p/x.deb\n\nPackage: xy\nFilename: p/xy.deb\nSHA256: 0\n", "xy")["Filename"] == "p/xy.deb"


def test_written_tasks_are_read_like_the_others(tmp_path):
    write(tmp_path, Dataset("topics", "choice", [{"state": "a goal", "label": "sport"}] * 2, "here", "MIT", {"sport": None, "law": "courts"}, ["topic"]))
    rows = [{"state": "a goal", "questions": [noul("Is it sport?", True), choice("topic", {"sport": None, "law": None}, "sport")]}]
    write(tmp_path, Dataset("asked", "mixed", rows, "here", "MIT"))
    tasks = {task.name: task for task in training_tasks(tmp_path)}
    assert len(tasks["topics"].rows) == 1
    assert [labelled.gold for labelled in plain_examples(tasks["asked"])[0].questions] == [1, 0]
    with gzip.open(tmp_path / "train" / "asked.jsonl.gz", "rt") as file:
        assert json.loads(file.readline()) == rows[0]
    assert [entry["format"] for entry in json.loads((tmp_path / "tasks.json").read_text())] == ["labels", "questions"]
