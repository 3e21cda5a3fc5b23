"""Prepared requests -> the packed tensors of `KevModel.forward_batch`.

All tokens of a batch lie in one row: state windows (and encoded instruction slices) first, branches after. Only
attention needs rectangles. Windows and rows are sorted by length and cut into groups that are nearly as long, so that
little of a rectangle is padding; padding slots point at token 0 and are masked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from .attention import MASKED
from .evidence import Evidence, EvidentQuestion
from .model import long_scale
from .native_attention import HEAD_SIZE, Runs
from .prompts import QUESTION_TYPES, Chunk, PreparedQuestion, PreparedRequest

# A rectangle may be this much larger than what is in it, plus the slots whose time a group of its own costs.
PADDED_SHARE, GROUP_SLOTS = 1.12, 400


@dataclass
class Group:
    """Windows, or rows of branches, of about one length. `slots` are places in the packed row."""

    slots: Tensor  # [N, S] whose queries
    flat: Tensor | None  # places of the real ones among N · S; None where nothing is padded
    keys: Tensor | None  # [N, T] what they read besides their own slots: the row's state tokens; None for windows
    mask: Tensor | None  # [N, 1, 1 or S, T + S] additive; None where all is seen
    scale: Tensor | None  # [N, 1, 1, 1] of the scores of long states; None for windows


@dataclass
class Batch:
    token_ids: Tensor  # [T]
    positions: Tensor  # [T]
    segments: Tensor  # [T]
    window_index: Tensor  # [state tokens]
    state_tokens: int  # the first tokens of the row belong to windows
    token_window: Tensor  # [state tokens]
    window_count: int
    windows: list[Group]  # in packed order
    rows: list[Group]  # in packed order
    window_runs: Runs  # the same windows, for attention without rectangles
    row_runs: Runs  # the same rows; tokens count from the first branch token
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
    evidence: Evidence | None  # of the rows where it is known

    def to(self, device: str) -> "Batch":
        return Batch(**{f.name: moved(getattr(self, f.name), device) for f in fields(self)})


def moved(value, device: str):
    if isinstance(value, Evidence):
        return value.to(device)
    if isinstance(value, Tensor):
        return value.to(device, non_blocking=True)
    if isinstance(value, list) and value and isinstance(value[0], Group):
        return [Group(**{f.name: moved(getattr(group, f.name), device) for f in fields(group)}) for group in value]
    return value


class Row(NamedTuple):
    """One run of `answer`: instructions and pieces beside the windows that they read."""

    chunk: Chunk
    windows: list[int]
    options: list[int]  # of its pieces
    evidence: list[tuple[int, int]]  # window, token in it


class Collector:
    """Numbers windows, rows, pieces and options while requests are added."""

    def __init__(self):
        self.windows: list[tuple[list[int], int, int]] = []  # ids, segment, index
        self.rows: list[Row] = []
        self.questions: list[tuple[int, PreparedQuestion]] = []  # first option, question
        self.options = 0

    def add(self, request: PreparedRequest, max_index: int) -> None:
        state = [self.window(ids, 0, min(i, max_index)) for i, ids in enumerate(request.windows)]
        for question in request.questions:
            extra = [self.window(ids, 1, min(i, max_index)) for i, ids in enumerate(question.windows)]
            for chunk in question.chunks:
                on = [(state[window], token) for window, token in question.evidence] if isinstance(question, EvidentQuestion) else []
                self.rows.append(Row(chunk, state + extra, [self.options + option for option in chunk.options], on))
            self.questions.append((self.options, question))
            self.options += len(question.order)

    def window(self, ids: list[int], segment: int, index: int) -> int:
        self.windows.append((ids, segment, index))
        return len(self.windows) - 1

    def sort(self) -> None:
        """Windows by length, rows by what they read and how long they are: neighbours make tight rectangles."""
        order = sorted(range(len(self.windows)), key=lambda i: len(self.windows[i][0]))
        place = {old: new for new, old in enumerate(order)}
        self.windows = [self.windows[i] for i in order]
        self.rows = [row._replace(windows=[place[w] for w in row.windows], evidence=[(place[w], token) for w, token in row.evidence]) for row in self.rows]
        self.rows.sort(key=lambda row: (self.keys_of(row) // 16, len(row.chunk.token_ids)))

    def keys_of(self, row: Row) -> int:
        return sum(len(self.windows[w][0]) for w in row.windows)


def cut_groups(sizes: list[tuple[int, int]]) -> list[range]:
    """sizes: (own tokens, keys) in order -> runs whose rectangles hold little more than what is in them."""
    found, start = [], 0
    widest, most, filled = 0, 0, 0
    for i, (own, keys) in enumerate(sizes):
        area = max(widest, own) * max(most, keys)
        if i > start and (i + 1 - start) * area > PADDED_SHARE * (filled + own * keys) + GROUP_SLOTS * max(most, keys):
            found.append(range(start, i))
            start, widest, most, filled = i, 0, 0, 0
        widest, most, filled = max(widest, own), max(most, keys), filled + own * keys
    return [*found, range(start, len(sizes))]


def padded(rows: list[list[int]], fill: int = 0) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [fill] * (width - len(row)) for row in rows])


def ranges(starts: list[int], sizes: list[int]) -> tuple[Tensor, Tensor]:
    """-> slots [N, max size], which of them are real"""
    width = torch.arange(max(sizes))[None]
    real = width < torch.tensor(sizes)[:, None]
    return (torch.tensor(starts)[:, None] + width).masked_fill(~real, 0), real


def additive(visible: Tensor) -> Tensor | None:
    """None where everything is visible."""
    return None if bool(visible.all()) else torch.zeros(visible.shape).masked_fill(~visible, MASKED)


def real_places(real: Tensor) -> Tensor | None:
    return None if bool(real.all()) else real.flatten().nonzero()[:, 0]


def collate(requests: list[PreparedRequest], max_index: int = 63) -> Batch:
    c = Collector()
    for request in requests:
        c.add(request, max_index)
    c.sort()
    sizes = [len(tokens) for tokens, _, _ in c.windows]
    starts = [0, *accumulate(sizes)]
    state_tokens = starts.pop()
    row_sizes = [len(row.chunk.token_ids) for row in c.rows]
    row_starts = [state_tokens, *(state_tokens + end for end in accumulate(row_sizes))]
    branch_tokens = row_starts.pop() - state_tokens
    ids = [token for tokens, _, _ in c.windows for token in tokens]
    segments = [segment for tokens, segment, _ in c.windows for _ in tokens]
    row_windows = torch.zeros(len(c.rows), len(c.windows))
    for number, row in enumerate(c.rows):
        row_windows[number, row.windows] = 1
    return Batch(
        token_ids=torch.tensor(ids + [token for row in c.rows for token in row.chunk.token_ids]),
        positions=torch.tensor([i for size in sizes for i in range(size)] + [p for row in c.rows for p in row.chunk.positions]),
        segments=torch.tensor(segments + [1] * branch_tokens),
        window_index=torch.tensor([index for tokens, _, index in c.windows for _ in tokens]),
        state_tokens=state_tokens, window_count=len(c.windows),
        token_window=torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes)),
        windows=window_groups(sizes, starts), rows=row_groups(c, sizes, starts, row_sizes, row_starts),
        window_runs=runs_of([[0] * size for size in sizes], [[] for _ in sizes], starts, sizes),
        row_runs=runs_of([row.chunk.branch for row in c.rows], [row.windows for row in c.rows], starts, sizes),
        row_windows=row_windows, row_state_tokens=torch.tensor([float(c.keys_of(row)) for row in c.rows]),
        **piece_tensors(c), **question_tensors(c), places=[question.order for _, question in c.questions],
        evidence=evidence_of(c, sizes, starts, row_starts))


def evidence_of(c: Collector, sizes: list[int], starts: list[int], row_starts: list[int]) -> Evidence | None:
    numbers = [number for number, row in enumerate(c.rows) if row.evidence]
    if not numbers:
        return None
    rows = [c.rows[number] for number in numbers]
    state = [[slot for w in row.windows for slot in range(starts[w], starts[w] + sizes[w])] for row in rows]
    lead = [[row_starts[number] + i for i, branch in enumerate(row.chunk.branch) if branch == 0] for number, row in zip(numbers, rows)]
    on = [{starts[w] + token for w, token in row.evidence} for row in rows]
    read = [[*slots, *own] for slots, own in zip(state, lead)]
    queries, keys = padded(lead, -1), padded(read, -1)
    return Evidence(torch.tensor(numbers), queries.clamp(min=0), (queries >= 0).float(), keys.clamp(min=0),
                    torch.zeros(keys.shape).masked_fill(keys < 0, MASKED), padded([[int(slot in found) for slot in slots] for slots, found in zip(read, on)]).float(),
                    torch.tensor([long_scale(len(slots)) for slots in state]))


def window_groups(sizes: list[int], starts: list[int]) -> list[Group]:
    found = []
    for run in cut_groups([(size, size) for size in sizes]):
        slots, real = ranges([starts[i] for i in run], [sizes[i] for i in run])
        found.append(Group(slots, real_places(real), None, additive(real[:, None, None]), None))
    return found


def row_groups(c: Collector, sizes: list[int], starts: list[int], row_sizes: list[int], row_starts: list[int]) -> list[Group]:
    keys = [c.keys_of(row) for row in c.rows]
    return [row_group(c, run, sizes, starts, row_sizes, row_starts, keys)
            for run in cut_groups([(size, size + read) for size, read in zip(row_sizes, keys)])]


def row_group(c: Collector, run: range, sizes: list[int], starts: list[int], row_sizes: list[int], row_starts: list[int],
              keys: list[int]) -> Group:
    slots, real = ranges([row_starts[i] for i in run], [row_sizes[i] for i in run])
    state = padded([[slot for w in c.rows[i].windows for slot in range(starts[w], starts[w] + sizes[w])] for i in run], -1)
    branch = padded([c.rows[i].chunk.branch for i in run], -1)
    sees = (branch[:, None, :] == 0) | ((branch[:, None, :] == branch[:, :, None]) & (branch[:, None, :] >= 0))
    sees_state = (state >= 0)[:, None, :].expand(-1, branch.shape[1], -1)
    scale = torch.tensor([long_scale(keys[i]) for i in run])[:, None, None, None]
    return Group(slots, real_places(real), state.clamp(min=0), additive(torch.cat([sees_state, sees], 2)[:, None]), scale)


def runs_of(branches: list[list[int]], read: list[list[int]], starts: list[int], sizes: list[int]) -> Runs:
    """branches: of the tokens of each run; read: numbers of the windows that it reads"""
    keys = [sum(sizes[w] for w in windows) for windows in read]
    return Runs(torch.tensor([0, *accumulate(map(len, branches))]), torch.tensor([0, *accumulate(map(len, read))]),
                torch.tensor([starts[w] for windows in read for w in windows], dtype=torch.int64),
                torch.tensor([sizes[w] for windows in read for w in windows], dtype=torch.int64),
                torch.tensor([branch for row in branches for branch in row], dtype=torch.int32),
                torch.tensor([(long_scale(count) if count else 1.0) * HEAD_SIZE**-0.5 for count in keys]))


def piece_tensors(c: Collector) -> dict:
    token_piece, token_lead, number = [], [], 0
    count = sum(len(row.options) for row in c.rows)
    for place, row in enumerate(c.rows):
        token_lead += [len(c.rows) if branch else place for branch in row.chunk.branch]
        token_piece += [number + branch - 1 if branch else count for branch in row.chunk.branch]
        number += len(row.options)
    lengths = torch.tensor([float(length) for row in c.rows for length in row.chunk.lengths])
    option = torch.tensor([option for row in c.rows for option in row.options])
    totals = torch.zeros(c.options).index_add(0, option, lengths)
    return {"token_piece": torch.tensor(token_piece), "token_lead": torch.tensor(token_lead),
            "lead_lengths": torch.tensor([float(row.chunk.branch.count(0)) for row in c.rows]), "piece_lengths": lengths,
            "piece_row": torch.tensor([place for place, row in enumerate(c.rows) for _ in row.options]),
            "piece_place": torch.tensor([place for row in c.rows for place in range(len(row.options))]),
            "piece_option": option, "piece_weight": lengths / totals[option], "option_count": c.options}


def question_tensors(c: Collector) -> dict:
    slots = padded([list(range(first, first + len(q.order))) for first, q in c.questions], -1)
    return {"option_slots": slots.clamp(min=0), "option_mask": slots >= 0,
            "question_type": torch.tensor([QUESTION_TYPES.index(q.type) for _, q in c.questions]),
            "levels": padded([q.levels for _, q in c.questions]).clamp(max=64)}
