"""From texts to token ids, as models/README.md says: windows of the document, and chunks of options beside an instruction."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path

from tokenizers import Tokenizer

from .wire import ChoiceQuestion, NoulQuestion, Question

CLS, SEP = 101, 102


@dataclass(frozen=True)
class Option:
    name: str
    text: str


@dataclass
class Chunk:
    """Tokens of one run of `answer`."""

    token_ids: list[int]
    positions: list[int]
    branch: list[int]
    # Of every piece, the option it belongs to, and its number of tokens.
    options: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)


class Texts:
    """The tokenizer, to which no text is a special token and no text too long."""

    def __init__(self, path: Path):
        raw = json.loads(gzip.decompress(path.read_bytes()))
        raw.update(added_tokens=[], truncation=None, padding=None, post_processor=None)
        self._tokenizer = Tokenizer.from_str(json.dumps(raw))
        vocabulary = self._tokenizer.get_vocab()
        self._continues = [False] * len(vocabulary)
        for token, token_id in vocabulary.items():
            self._continues[token_id] = token.startswith("##")

    def tokenize(self, texts: list[str]) -> list[list[int]]:
        encodings = self._tokenizer.encode_batch([well_formed(text) for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def cut(self, ids: list[int], size: int) -> list[list[int]]:
        """Slices of at most `size` ids, at least one; no word is split unless less than half a slice would remain."""
        slices, start = [], 0
        while start < len(ids):
            end = min(start + size, len(ids))
            if end < len(ids) and self._continues[ids[end]]:
                word = end
                while word > start and self._continues[ids[word]]:
                    word -= 1
                if 2 * (word - start) >= size:
                    end = word
            slices.append(ids[start:end])
            start = end
        return slices or [[]]


def well_formed(text: str) -> str:
    """Half characters, which JSON can carry and UTF-8 cannot, become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def list_options(question: Question) -> list[Option]:
    """In the order of the request; noul: false, true."""
    if isinstance(question, ChoiceQuestion):
        described = list(question.criteria.items())
    elif isinstance(question, NoulQuestion):
        criteria = question.criteria
        described = [
            ("false", criteria.when_false if criteria else None),
            ("true", criteria.when_true if criteria else None),
        ]
    else:
        return [Option("", level) for level in question.criteria]
    return [Option(name, f"{name}: {text}" if text else name) for name, text in described]


def reading_order(question: Question, options: list[Option]) -> list[int]:
    """Places of the options in the order in which the model reads them."""
    places = range(len(options))
    if question.type == "score":
        return list(places)
    parts = [tuple(well_formed(part).encode() for part in (option.text, option.name)) for option in options]
    return sorted(places, key=parts.__getitem__)


def with_specials(ids: list[int]) -> list[int]:
    return [CLS, *ids, SEP]


def build_chunks(instruction: list[int], options: list[list[list[int]]], capacity: int) -> list[Chunk]:
    """instruction: with its specials; options: of every option its pieces, each with `[SEP]`."""
    chunks: list[Chunk] = []
    first = len(instruction)
    for option, pieces in enumerate(options):
        for piece in pieces:
            if not chunks or len(chunks[-1].token_ids) + len(piece) > capacity:
                chunks.append(Chunk(list(instruction), list(range(first)), [0] * first))
            chunk = chunks[-1]
            chunk.options.append(option)
            chunk.lengths.append(len(piece))
            chunk.token_ids += piece
            chunk.positions += range(first, first + len(piece))
            chunk.branch += [len(chunk.options)] * len(piece)
    return chunks
