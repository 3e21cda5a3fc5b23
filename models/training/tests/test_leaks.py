"""The check that no held-out text is trained on: what it finds, what it lets pass, how it ends, what it writes."""

import gzip
import json
import sys

import pytest

from umpire_training import leaks, pack
from umpire_training.overlap import KnownTexts

ROBIN = "The quick robin flew over the old stone wall and landed in a garden full of ripe red berries"
CARD = "My card was declined twice at the shop"
KNOWN = [ROBIN, CARD, "Where is my parcel?", "12345", f"Notes. {ROBIN}. Then it slept until the morning came again"]


def found(texts, known=KNOWN):
    return [(f.text, f.kind) for f in KnownTexts(known).compare(texts)]


@pytest.mark.parametrize("text", [ROBIN.upper(), f"{ROBIN}!!", ROBIN.replace(" ", "\n"), ROBIN.replace("wall", "w a l l")])
def test_the_same_letters_are_equal(text):
    assert found([text]) == [(0, "equal")]


def test_other_texts_are_not_found():
    others = ["A robin is a bird", "My card arrived yesterday, thank you very much for that", "67890", "", "the old stone wall " * 9]
    assert found(others) == []


def test_half_of_the_runs_in_known_texts_is_near():
    words = ROBIN.split()
    mostly = " ".join([*words[:15], "and", "was", "never", "seen"])
    barely = " ".join([*words[:9], *"sat there for hours until somebody opened the window again".split()])
    assert found([mostly, barely]) == [(0, "near")]


def test_a_known_text_inside_a_long_one_is_near():
    filler = [f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(400)]
    [finding] = KnownTexts([ROBIN]).compare([" ".join([*filler[:200], ROBIN, *filler[200:]])])
    assert finding.kind == "near" and finding.share == 1.0


def test_runs_do_not_cross_texts():
    words = ROBIN.split()
    assert found([" ".join(words[:7]), " ".join(words[7:14])], [ROBIN]) == []


def test_short_texts_are_compared_by_runs_of_three():
    near, other = "my card was declined twice at a shop", "my phone was stolen twice at a shop"
    assert found([other, near]) == [(1, "short")]


def test_short_search_finds_what_comparing_all_pairs_finds():
    texts = [" ".join(f"{'abcd'[(i * 7 + j * j) % 4]}x{'efg'[(i + j) % 3]}" for j in range(4 + i % 9)) for i in range(120)]
    known, asked = texts[:60], texts[60:]
    from umpire_training.overlap import SHORT_JACCARD, jaccard, letters, short_runs

    def alike(text):
        return any(jaccard(short_runs(text), short_runs(other)) >= SHORT_JACCARD for other in known)

    wanted = {i for i, text in enumerate(asked) if alike(text) or letters(text) in map(letters, known)}
    assert wanted and {i for i, kind in found(asked, known)} == wanted


# --- the command --------------------------------------------------------------------------------------------------


def write_folder(folder, tasks: dict[tuple[str, str], list[str]], licence="MIT"):
    listed = []
    for (split, name), states in tasks.items():
        (folder / split).mkdir(parents=True, exist_ok=True)
        listed.append({"task": name, "split": split, "type": "choice", "labels": {"Play Music": None, name: None},
                       "instructions": ["?"], "licence": licence})
        with gzip.open(folder / split / f"{name}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps({"state": state, "label": name}) + "\n" for state in states)
    (folder / "tasks.json").write_text(json.dumps(listed))
    return folder


def run(monkeypatch, folder, *arguments) -> None:
    monkeypatch.setattr(sys, "argv", ["leaks", "--data", str(folder), "--generated", "20", *map(str, arguments)])
    leaks.main()


@pytest.fixture
def data(tmp_path):
    near = f"{ROBIN} before the rain"
    return write_folder(tmp_path / "data", {("train", "seen"): ["Something else altogether", near], ("heldout", "secret"): KNOWN})


def packed_states(folder) -> list[str]:
    found = pack.build(folder, [], [], limit=10, heldout_rows=10, kept_rows=0)
    return [row["state"] for task in found.tasks for row in task.rows]


def test_near_texts_are_told_and_left_out_of_what_a_run_reads(data, monkeypatch, capsys):
    run(monkeypatch, data)
    assert packed_states(data) == ["Something else altogether"]
    printed = capsys.readouterr().out
    assert "1 near to secret" in printed and "1 of 2 labels of secret: play music" in printed


def test_an_equal_text_fails_and_is_left_out_of_what_a_run_reads(data, monkeypatch):
    write_folder(data, {("train", "seen"): [CARD.lower()], ("heldout", "secret"): KNOWN})
    with pytest.raises(SystemExit, match="texts of held-out tasks"):
        run(monkeypatch, data)
    assert packed_states(data) == []


def test_an_equal_text_in_extra_data_fails(data, tmp_path, monkeypatch):
    extra = write_folder(tmp_path / "extra", {("train", "more"): ["where is  my PARCEL"]})
    with pytest.raises(SystemExit, match="texts of held-out tasks"):
        run(monkeypatch, data, "--extra", extra)


def test_tasks_that_are_not_trained_on_do_not_count(data, tmp_path, monkeypatch):
    run(monkeypatch, data, "--extra", write_folder(tmp_path / "extra", {("train", "more"): [CARD]}, "not stated"))


def test_an_equal_generated_text_fails(data, monkeypatch):
    from umpire_training.tasks import Example

    monkeypatch.setattr(leaks.generators, "generate", lambda rng: Example(CARD, [], "generated_support"))
    with pytest.raises(SystemExit, match="texts of held-out tasks"):
        run(monkeypatch, data)
