"""Where in a state an answer lies, and how much of their attention instructions give to it.

A question about a document of 200 tokens hears of the five that decide it as one part in forty, and the loss of its answer says
little about where to look: documents and their edits stayed unlearned for 20 million tokens, those trained on as much as others.
Where it is known what decides (the place of an edit, the text that a statement is about, the words of a right option), the place
itself is taught: in some layers a few heads of the instructions' tokens must look there, and what the readout takes for
the likest place must be there. Only training does this; the model stays as it is (TRIALS.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from .attention import MASKED
from .prompts import Limits, PreparedQuestion, Text, well_formed

LAYERS = (2, 3, 4)  # what they find, one layer at least can compare
WATCHED = len(LAYERS) + 1  # and the readout
HEADS = 3  # of a layer, those that look there most; the others stay free
MOST = 0.5  # of a state: evidence longer than that is no place
SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
AROUND = 120  # characters of its sentence on either side of a place

Place = tuple[int, int]  # window of the state, token in it


@dataclass
class EvidentQuestion(PreparedQuestion):
    evidence: list[Place]  # none where it is not known


@dataclass
class Evidence:
    """Of the N rows of a batch whose evidence is known. Slots are places in the packed row."""

    rows: Tensor  # [N]
    queries: Tensor  # [N, I] slots of the instructions' tokens
    asks: Tensor  # [N, I] 1 where there is one
    keys: Tensor  # [N, T] slots of the state's tokens and of the instructions'
    hidden: Tensor  # [N, T] additive, of what is padding
    places: Tensor  # [N, T] 1 on the evidence
    scale: Tensor  # [N] of the scores of long states

    def to(self, device: str) -> "Evidence":
        return Evidence(*(getattr(self, name).to(device, non_blocking=True) for name in self.__dataclass_fields__))


def named_in(state: str, raw: dict) -> tuple[str, ...]:
    """The right option of a row's choice, where the state says it and another one: it is what is to be found there."""
    if raw["type"] != "choice" or len(raw["gold"]) < 3 or raw["gold"] not in state:
        return ()
    return (raw["gold"],) if any(name != raw["gold"] and name in state for name in raw["criteria"]) else ()


def sentence_of(state: str, part: str) -> str:
    """The sentence or line around a part of the state, cut where it is long; the part alone where it does not stand there once."""
    if not part.strip() or state.count(part) != 1:
        return part
    start = state.index(part)
    end = start + len(part)
    before = [match.end() for match in SENTENCE_END.finditer(state, max(0, start - AROUND), start)]
    after = SENTENCE_END.search(state, end, end + AROUND)
    return state[before[-1] if before else max(0, start - AROUND): after.start() if after else min(len(state), end + AROUND)].strip()


def places_of(state: str, evidence: list[tuple[str, ...]], text: Text, limits: Limits) -> list[list[Place]]:
    """Of every question the tokens of the state that its evidence covers: none where a part does not stand there exactly once,
    or where the parts are most of the state."""
    if not any(evidence):
        return [[] for _ in evidence]
    encoded = text.tokenizer.encode(well_formed(state), add_special_tokens=False)
    windows = [(window, 1 + i) for window, ids in enumerate(text.cut(encoded.ids, limits.window_tokens - 2)) for i in range(len(ids))]
    found = []
    for parts in evidence:
        spans = [(start, start + len(part)) for part in parts if part.strip() and state.count(part) == 1 for start in [state.index(part)]]
        tokens = [windows[i] for i, (first, last) in enumerate(encoded.offsets) if any(first < end and last > start for start, end in spans)]
        found.append(tokens if len(spans) == len(parts) and len(tokens) <= MOST * len(windows) else [])
    return found


def looked_at(qkv: Tensor, evidence: Evidence, heads: int) -> Tensor:
    """qkv [tokens, 3 · hidden] of a layer -> [N] share of attention on the evidence, of the heads that give most"""
    hidden = qkv.shape[1] // 3
    query, key = F.embedding(evidence.queries, qkv[:, :hidden]), F.embedding(evidence.keys, qkv[:, hidden: 2 * hidden])
    query, key = (part.view(*part.shape[:2], heads, -1).transpose(1, 2).float() for part in (query, key))
    query = query * (evidence.scale[:, None, None, None] * query.shape[-1] ** -0.5)
    shares = torch.softmax(query @ key.transpose(2, 3) + evidence.hidden[:, None, None], -1)
    on = (shares @ evidence.places[:, None, :, None])[..., 0]  # [N, heads, I]
    by_head = (on * evidence.asks[:, None]).sum(-1) / evidence.asks.sum(-1)[:, None]
    return by_head.topk(HEADS, 1).values.mean(1)


def found_by(sought: Tensor, state_value: Tensor, evidence: Evidence) -> Tensor:
    """sought [N, hidden] by the rows' instructions, state_value [state tokens, hidden] -> [N] share of the likest places on the evidence"""
    own = evidence.keys >= len(state_value)
    scores = torch.bmm(F.embedding(evidence.keys.masked_fill(own, 0), state_value), sought[:, :, None])[..., 0]
    return (torch.softmax(scores + evidence.hidden + own * MASKED, -1) * evidence.places).sum(-1)


def overlooked(shares: list[Tensor]) -> Tensor:
    """Shares [N] of some layers and of the readout -> the loss of each row, their mean [N]"""
    return -torch.stack(shares).clamp(min=1e-6).log().mean(0)
