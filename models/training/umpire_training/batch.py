"""Prepared requests -> the packed tensors of `KevModel.forward_batch`.

All tokens of a batch lie in one row: state windows (and encoded instruction slices) first, branches after. Slots are
places in that row, `flat` indexes bring padded results back to it. Padding slots point at token 0 and are masked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from .model import MASKED
from .prompts import QUESTION_TYPES, PreparedQuestion, PreparedRequest


@dataclass
class Batch:
    token_ids: Tensor  # [T]
    positions: Tensor  # [T]
    segments: Tensor  # [T]
    window_index: Tensor  # [state tokens]
    state_tokens: int  # the first tokens of the row belong to windows
    token_window: Tensor  # [state tokens]
    window_slots: Tensor  # [W, Smax]
    window_mask: Tensor  # [W, 1, 1, Smax]
    window_flat: Tensor  # [state tokens]
    row_slots: Tensor  # [R, Bmax]
    row_mask: Tensor  # [R, 1, Bmax, Kmax]
    row_flat: Tensor  # [branch tokens]
    key_slots: Tensor  # [R, Kmax]
    row_windows: Tensor  # [R, W] 1 where the row reads the window
    row_state_tokens: Tensor  # [R]
    token_piece: Tensor  # [branch tokens], P for tokens of instructions
    token_lead: Tensor  # [branch tokens], row for tokens of instructions, R for others
    lead_lengths: Tensor  # [R]
    piece_lengths: Tensor  # [P]
    piece_row: Tensor  # [P]
    piece_place: Tensor  # [P] its number in the row, from 0
    piece_option: Tensor  # [P], numbered through the batch
    piece_weight: Tensor  # [P] share of its option's tokens
    option_count: int
    option_slots: Tensor  # [Q, Kmax]
    option_mask: Tensor  # [Q, Kmax] bool
    question_type: Tensor  # [Q]
    levels: Tensor  # [Q, Kmax]
    places: list[list[int]]  # per question: place in the request of each column

    def to(self, device: str) -> "Batch":
        moved = {f.name: getattr(self, f.name) for f in fields(self)}
        return Batch(**{name: value.to(device) if isinstance(value, Tensor) else value for name, value in moved.items()})


class Collector:
    """Numbers windows, rows, pieces and options while requests are added."""

    def __init__(self):
        self.windows: list[tuple[list[int], int, int]] = []  # ids, segment, index
        self.rows: list[tuple] = []  # chunk, window numbers
        self.pieces: list[tuple[int, int, int]] = []  # row, option, length
        self.questions: list[tuple[int, PreparedQuestion]] = []  # first option, question
        self.options = 0

    def add(self, request: PreparedRequest, max_index: int) -> None:
        state = [self.window(ids, 0, min(i, max_index)) for i, ids in enumerate(request.windows)]
        for question in request.questions:
            extra = [self.window(ids, 1, min(i, max_index)) for i, ids in enumerate(question.windows)]
            for chunk in question.chunks:
                for option, length in zip(chunk.options, chunk.lengths):
                    self.pieces.append((len(self.rows), self.options + option, length))
                self.rows.append((chunk, state + extra))
            self.questions.append((self.options, question))
            self.options += len(question.order)

    def window(self, ids: list[int], segment: int, index: int) -> int:
        self.windows.append((ids, segment, index))
        return len(self.windows) - 1


def padded(rows: list[list[int]], fill: int = 0) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [fill] * (width - len(row)) for row in rows])


def additive(visible: Tensor) -> Tensor:
    return torch.zeros(visible.shape).masked_fill(~visible, MASKED)


def collate(requests: list[PreparedRequest], max_index: int = 63) -> Batch:
    c = Collector()
    for request in requests:
        c.add(request, max_index)
    starts, ids, positions, segments, indexes, token_window = [], [], [], [], [], []
    for number, (tokens, segment, index) in enumerate(c.windows):
        size = len(tokens)
        starts.append(len(ids))
        ids += tokens
        positions += range(size)
        segments += [segment] * size
        indexes += [index] * size
        token_window += [number] * size
    state_tokens = len(ids)
    rows = row_tensors(c, starts, state_tokens)
    for chunk, _ in c.rows:
        ids += chunk.token_ids
        positions += chunk.positions
    branch_tokens = len(ids) - state_tokens
    widths = torch.tensor([len(tokens) for tokens, _, _ in c.windows])
    widest = int(widths.max())
    filled = torch.arange(widest)[None] < widths[:, None]
    return Batch(
        token_ids=torch.tensor(ids), positions=torch.tensor(positions),
        segments=torch.tensor(segments + [1] * branch_tokens),
        window_index=torch.tensor(indexes),
        state_tokens=state_tokens, token_window=torch.tensor(token_window),
        window_slots=(torch.tensor(starts)[:, None] + torch.arange(widest)[None]).masked_fill(~filled, 0),
        window_mask=additive(filled)[:, None, None], window_flat=filled.flatten().nonzero()[:, 0],
        **rows, **piece_tensors(c), **question_tensors(c), places=[question.order for _, question in c.questions])


def row_tensors(c: Collector, starts: list[int], state_tokens: int) -> dict:
    slots, branches, keys, position = [], [], [], state_tokens
    for chunk, windows in c.rows:
        size = len(chunk.token_ids)
        slots.append(list(range(position, position + size)))
        branches.append(chunk.branch)
        keys.append([slot for w in windows for slot in range(starts[w], starts[w] + len(c.windows[w][0]))])
        position += size
    branch, row_slots, state = padded(branches, -1), padded(slots), padded(keys, -1)
    sees = (branch[:, None, :] == 0) | ((branch[:, None, :] == branch[:, :, None]) & (branch[:, None, :] >= 0))
    sees_state = (state >= 0)[:, None, :].expand(-1, branch.shape[1], -1)
    row_windows = torch.zeros(len(c.rows), len(c.windows))
    for row, (_, windows) in enumerate(c.rows):
        row_windows[row, windows] = 1
    return {
        "row_slots": row_slots, "row_flat": (branch >= 0).flatten().nonzero()[:, 0],
        "key_slots": torch.cat([state.clamp(min=0), row_slots], 1),
        "row_mask": additive(torch.cat([sees_state, sees], 2))[:, None],
        "row_windows": row_windows, "row_state_tokens": torch.tensor([float(len(k)) for k in keys])}


def piece_tensors(c: Collector) -> dict:
    token_piece, token_lead, number = [], [], 0
    for row, (chunk, _) in enumerate(c.rows):
        token_lead += [len(c.rows) if branch else row for branch in chunk.branch]
        token_piece += [number + branch - 1 if branch else len(c.pieces) for branch in chunk.branch]
        number += len(chunk.options)
    lengths = torch.tensor([float(length) for _, _, length in c.pieces])
    option = torch.tensor([option for _, option, _ in c.pieces])
    totals = torch.zeros(c.options).index_add(0, option, lengths)
    return {"token_piece": torch.tensor(token_piece), "token_lead": torch.tensor(token_lead),
            "lead_lengths": torch.tensor([float(chunk.branch.count(0)) for chunk, _ in c.rows]), "piece_lengths": lengths,
            "piece_row": torch.tensor([row for row, _, _ in c.pieces]),
            "piece_place": torch.tensor([place for chunk, _ in c.rows for place in range(len(chunk.options))]),
            "piece_option": option, "piece_weight": lengths / totals[option], "option_count": c.options}


def question_tensors(c: Collector) -> dict:
    slots = padded([list(range(first, first + len(q.order))) for first, q in c.questions], -1)
    return {"option_slots": slots.clamp(min=0), "option_mask": slots >= 0,
            "question_type": torch.tensor([QUESTION_TYPES.index(q.type) for _, q in c.questions]),
            "levels": padded([q.levels for _, q in c.questions]).clamp(max=64)}
