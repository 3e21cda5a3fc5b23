"""From texts to token ids, exactly as models/README.md says (the server has the same code in TypeScript).

Nothing here knows about batches or tensors: a prepared request is lists of ints.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from tokenizers import Tokenizer

from .folder_file import read_folder_file

CLS, SEP = 101, 102
QUESTION_TYPES = ("choice", "noul", "score")


@dataclass(frozen=True)
class Limits:
    """The numbers of the manifest that decide how text is cut."""

    window_tokens: int = 256
    max_window_index: int = 63
    branch_tokens: int = 512
    branch_scores: int = 1_048_576


@dataclass
class Question:
    """One typed question. `options` are (name, description) pairs, in the order of the request.

    score: the names are empty and the descriptions are the levels, lowest first.
    noul: always (false, criterion), (true, criterion).
    """

    type: str
    instructions: str
    options: list[tuple[str, str | None]]


@dataclass
class Chunk:
    """One run of `answer`: instructions, then pieces numbered from 1."""

    token_ids: list[int]
    positions: list[int]
    branch: list[int]
    options: list[int]  # per piece, which option (in sorted order) it belongs to
    lengths: list[int]  # per piece, its number of tokens


@dataclass
class PreparedQuestion:
    type: str
    windows: list[list[int]]  # encoded instruction slices, segment 1, index from 0
    chunks: list[Chunk]
    order: list[int]  # order[i] = place in the request of the i-th sorted option
    levels: list[int]
    input_tokens: int


@dataclass
class PreparedRequest:
    windows: list[list[int]]  # segment 0, index from 0
    questions: list[PreparedQuestion] = field(default_factory=list)
    input_tokens: int = 0


class Text:
    """The tokenizer, with no text ever read as a special token and nothing truncated."""

    def __init__(self, path: str | Path):
        raw = json.loads(read_folder_file(Path(path)))
        # Added tokens are matched in raw text before anything else: without them "[SEP]" is plain data.
        raw.update(added_tokens=[], truncation=None, padding=None, post_processor=None)
        self.tokenizer = Tokenizer.from_str(json.dumps(raw))
        size = self.tokenizer.get_vocab_size()
        tokens = (self.tokenizer.id_to_token(i) for i in range(size))
        self.continues = [token is not None and token.startswith("##") for token in tokens]

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(well_formed(text), add_special_tokens=False).ids

    def cut(self, ids: list[int], size: int) -> list[list[int]]:
        return cut(ids, size, self.continues)


def well_formed(text: str) -> str:
    """Lone surrogates become U+FFFD, pairs of them the character they mean."""
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cut(ids: list[int], size: int, continues: list[bool]) -> list[list[int]]:
    """Slices of at most `size` ids; a word is not split unless the slice would be under half of `size`."""
    slices, start = [], 0
    while start < len(ids):
        end = min(start + size, len(ids))
        if end < len(ids) and continues[ids[end]]:
            word = end
            while word > start and continues[ids[word]]:
                word -= 1
            if 2 * (word - start) >= size:
                end = word
        slices.append(ids[start:end])
        start = end
    return slices


def render(question: Question) -> list[tuple[str, str]]:
    """(text, name) of every option, in the order of the request."""
    if question.type == "score":
        return [(description or "", "") for _, description in question.options]
    return [(f"{name}: {description}" if description else name, name) for name, description in question.options]


def sort_options(question: Question) -> list[int]:
    """Places in the request in the order the model reads them: by the UTF-8 bytes of (text, name)."""
    places = range(len(question.options))
    if question.type == "score":
        return list(places)
    rendered = render(question)
    return sorted(places, key=lambda i: tuple(well_formed(part).encode("utf-8") for part in rendered[i]))


def with_specials(ids: list[int]) -> list[int]:
    return [CLS, *ids, SEP]


def state_windows(ids: list[int], text: Text, limits: Limits) -> list[list[int]]:
    return [with_specials(part) for part in text.cut(ids, limits.window_tokens - 2) or [[]]]


def chunk_capacity(limits: Limits, state_keys: int) -> int:
    return min(limits.branch_tokens, limits.branch_scores // state_keys)


def build_chunks(first: list[int], options: list[list[list[int]]], capacity: int) -> list[Chunk]:
    """first: `[CLS] slice [SEP]`; options: per sorted option its pieces, with [SEP]."""
    chunks: list[Chunk] = []
    for option, pieces in enumerate(options):
        for piece in pieces:
            if not chunks or len(chunks[-1].token_ids) + len(piece) > capacity:
                size = len(first)
                chunks.append(Chunk(list(first), list(range(size)), [0] * size, [], []))
            chunk = chunks[-1]
            chunk.options.append(option)
            chunk.lengths.append(len(piece))
            chunk.token_ids += piece
            chunk.positions += range(len(first), len(first) + len(piece))
            chunk.branch += [len(chunk.options)] * len(piece)
    return chunks


def prepare_question(question: Question, state_keys: int, text: Text, limits: Limits) -> PreparedQuestion:
    """state_keys: tokens of the state's windows, specials included."""
    size = limits.window_tokens - 2
    instruction_ids = text.ids(question.instructions)
    *encoded, last = text.cut(instruction_ids, size) or [[]]
    windows = [with_specials(part) for part in encoded]
    order = sort_options(question)
    rendered = render(question)
    option_ids = [text.ids(rendered[place][0]) for place in order]
    options = [[[*part, SEP] for part in text.cut(ids, size) or [[]]] for ids in option_ids]
    keys = state_keys + sum(map(len, windows))
    levels = list(range(1, len(order) + 1)) if question.type == "score" else [0] * len(order)
    chunks = build_chunks(with_specials(last), options, chunk_capacity(limits, keys))
    tokens = len(instruction_ids) + sum(map(len, option_ids))
    return PreparedQuestion(question.type, windows, chunks, order, levels, tokens)


def prepare(state: str, questions: list[Question], text: Text, limits: Limits = Limits()) -> PreparedRequest:
    ids = text.ids(state)
    request = PreparedRequest(state_windows(ids, text, limits), [], len(ids))
    keys = sum(map(len, request.windows))
    for question in questions:
        request.questions.append(prepare_question(question, keys, text, limits))
    request.input_tokens += sum(question.input_tokens for question in request.questions)
    return request


def question_from_json(raw: dict) -> Question:
    """A question as golden.json writes it."""
    if raw["type"] == "noul":
        options = [("false", raw.get("false")), ("true", raw.get("true"))]
    elif raw["type"] == "score":
        options = [("", level) for level in raw["levels"]]
    else:
        options = [(name, description) for name, description in raw["options"]]
    return Question(raw["type"], raw["instructions"], options)
