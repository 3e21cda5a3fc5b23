"""A request through texts, graphs and readout: from questions to answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .graphs import Cache, Graphs, read_manifest
from .settings import Settings
from .texts import SEP, Chunk, Option, Texts, build_chunks, list_options, reading_order, with_specials
from .wire import Answer, ChoiceAnswer, DecisionReply, DecisionRequest, NoulAnswer, Question, ScoreAnswer, Usage

QUESTION_TYPES = ("choice", "noul", "score")


class TooLong(ValueError):
    """The document is longer than the model reads."""


@dataclass
class Prepared:
    """A question as token ids; its options in the order in which the model reads them."""

    question: Question
    options: list[Option]
    order: list[int]
    instruction_ids: list[int]
    option_ids: list[list[int]]


@dataclass
class Document:
    """Slices of the state, and their keys and values once they are known."""

    slices: list[list[int]]
    windows: list[Cache] | None = None
    joined: Cache | None = None


class Decider:
    def __init__(self, settings: Settings):
        manifest = read_manifest(settings.model_folder)
        self._manifest = manifest
        self._texts = Texts(settings.model_folder / "tokenizer.json.gz")
        self._graphs = Graphs(settings, manifest)
        self._slice_tokens: int = manifest["windows"]["tokens"] - 2

    def decide(self, request: DecisionRequest) -> DecisionReply:
        state_ids, questions = self._tokenize(request)
        if len(state_ids) > self._manifest["limits"]["state_tokens"]:
            raise TooLong(f"The document has {len(state_ids)} tokens.")
        document = Document(self._texts.cut(state_ids, self._slice_tokens))
        probabilities = [self._ask(question, document) for question in questions]
        tokens = len(state_ids)
        for prepared in questions:
            tokens += len(prepared.instruction_ids) + sum(map(len, prepared.option_ids))
        answers = [to_answer(prepared, found) for prepared, found in zip(questions, probabilities)]
        return DecisionReply(
            model=request.model, answers=dict(zip(request.questions, answers)), usage=Usage(input_tokens=tokens)
        )

    def _tokenize(self, request: DecisionRequest) -> tuple[list[int], list[Prepared]]:
        """All texts of a request in one call of the tokenizer."""
        texts, questions = [request.state], []
        for question in request.questions.values():
            options = list_options(question)
            order = reading_order(question, options)
            texts += [question.instructions, *(options[place].text for place in order)]
            questions.append((question, options, order))
        ids = iter(self._texts.tokenize(texts))
        state_ids = next(ids)
        prepared = [
            Prepared(question, options, order, next(ids), [next(ids) for _ in order])
            for question, options, order in questions
        ]
        return state_ids, prepared

    def _encode(self, slices: list[list[int]], segment: int) -> list[Cache]:
        last = self._manifest["windows"]["max_index"]
        return [
            self._graphs.encode(with_specials(part), segment, min(index, last)) for index, part in enumerate(slices)
        ]

    def _ask(self, prepared: Prepared, document: Document) -> list[float]:
        """-> probabilities in the order of the request"""
        *encoded, last = self._texts.cut(prepared.instruction_ids, self._slice_tokens)
        keys = sum(len(part) + 2 for part in [*document.slices, *encoded])
        chunks = self._chunks(prepared, with_specials(last), keys)
        count, kind = len(prepared.order), prepared.question.type
        question_type = QUESTION_TYPES.index(kind)
        levels = [level + 1 if kind == "score" else 0 for level in range(count)]
        fits_one_run = len(document.slices) == len(chunks) == 1 and not encoded and len(chunks[0].options) == count
        if document.windows is None and fits_one_run and self._graphs.can_decide_at_once:
            window = with_specials(document.slices[0])
            logits, cache = self._graphs.decide(window, chunks[0], question_type, levels)
            document.windows, document.joined = [cache], cache
        else:
            cache = self._read(document, encoded)
            vectors = pool([(chunk, self._graphs.answer(chunk, cache)) for chunk in chunks], count)
            logits = self._graphs.head(vectors, question_type, levels)
        found = softmax(logits.astype(np.float64) / self._temperature(kind, count))
        probabilities = np.empty_like(found)
        probabilities[prepared.order] = found
        return probabilities.tolist()

    def _read(self, document: Document, encoded: list[list[int]]) -> Cache:
        """-> keys and values of the document, and of the instructions that did not fit into the branch"""
        if document.windows is None:
            document.windows = self._encode(document.slices, segment=0)
        if document.joined is None:
            document.joined = self._graphs.join(document.windows)
        if not encoded:
            return document.joined
        return self._graphs.join([*document.windows, *self._encode(encoded, segment=1)])

    def _chunks(self, prepared: Prepared, instruction: list[int], keys: int) -> list[Chunk]:
        limits = self._manifest["branches"]
        capacity = min(limits["max_tokens"], limits["max_scores"] // keys)
        pieces = [
            [[*part, SEP] for part in self._texts.cut(ids, self._slice_tokens)] for ids in prepared.option_ids
        ]
        return build_chunks(instruction, pieces, capacity)

    def _temperature(self, kind: str, options: int) -> float:
        bucket = "2" if options <= 2 else "3-5" if options <= 5 else "6-10" if options <= 10 else "11+"
        return self._manifest["temperatures"][kind][bucket]


def pool(runs: list[tuple[Chunk, np.ndarray]], options: int) -> np.ndarray:
    """-> [options, hidden]: the mean over the tokens of all pieces of an option"""
    vectors = np.concatenate([found for _, found in runs])
    owners = [option for chunk, _ in runs for option in chunk.options]
    if len(owners) == options:
        return vectors
    lengths = np.array([length for chunk, _ in runs for length in chunk.lengths], dtype=np.float32)
    totals = np.zeros((options, vectors.shape[1]), dtype=np.float32)
    np.add.at(totals, owners, vectors * lengths[:, None])
    return totals / np.bincount(owners, lengths).astype(np.float32)[:, None]


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def to_answer(prepared: Prepared, probabilities: list[float]) -> Answer:
    question = prepared.question
    if question.type == "noul":
        return NoulAnswer(noul=probabilities[1])
    best = max(range(len(probabilities)), key=probabilities.__getitem__)
    if question.type == "choice":
        names = [option.name for option in prepared.options]
        count = len(names)
        confidence = 1.0 if count == 1 else max(0.0, (probabilities[best] - 1 / count) / (1 - 1 / count))
        return ChoiceAnswer(
            choice=names[best], probabilities=dict(zip(names, probabilities)), confidence=confidence
        )
    return ScoreAnswer(
        score=sum(level * probability for level, probability in enumerate(probabilities)),
        legend={str(level): text for level, text in enumerate(question.criteria)},
        probabilities={str(level): probability for level, probability in enumerate(probabilities)},
        confidence=score_confidence(probabilities, best),
    )


def score_confidence(probabilities: list[float], best: int) -> float:
    """1 less the mean distance from the best level, in units of that of a uniform guess."""
    count = len(probabilities)
    spread = sum(probability * abs(level - best) for level, probability in enumerate(probabilities))
    uniform = sum(abs(level - (count - 1) / 2) for level in range(count)) / count
    return max(0.0, 1 - spread / uniform)
