"""Rows side by side in one run answer as PyTorch does, one window and one question at a time."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
import torch

from umpire_training.graph import GraphBuilder
from umpire_training.kev_batch_graph import build_batch, build_head_rows
from umpire_training.model import KevModel, Shape

SHAPE = Shape(vocabulary=500)
# Tokens of each document's windows; then of each question its document, its instructions and its pieces.
DOCUMENTS = [[17], [256, 256, 31], [5], [256, 90]]
QUESTIONS = [(0, 7, [3, 4]), (1, 9, [5, 2, 2, 6]), (1, 3, [1, 1]), (2, 5, [2, 2, 2]), (3, 12, [4, 9, 1])]


@pytest.fixture(scope="module")
def model() -> KevModel:
    torch.manual_seed(0)
    made = KevModel(SHAPE).eval()
    for parameter in made.parameters():
        if parameter.abs().sum() == 0:  # what training begins at zero would hide a mistake
            torch.nn.init.normal_(parameter, std=0.05)
    return made


def open_graph(build, model: KevModel, precision: str) -> onnxruntime.InferenceSession:
    graph = GraphBuilder("rows", precision)
    build(graph, {name: value.detach().float().numpy() for name, value in model.state_dict().items()}, SHAPE)
    return onnxruntime.InferenceSession(graph.model().SerializeToString())


def padded(rows: list[list[int]], filler: int) -> np.ndarray:
    made = np.full((len(rows), max(map(len, rows))), filler, np.int64)
    for place, row in enumerate(rows):
        made[place, : len(row)] = row
    return made


# Measured: 2.2e-5 and 4.0e-7 in fp32, 3.5e-2 and 8.1e-4 in fp16, of pieces up to 6.6 and documents up to 1.7. Pieces choose among places
# of the document, which sharpens what rounding does.
@pytest.mark.parametrize(("precision", "most", "most_of_document"), [("fp32", 1e-4, 1e-6), ("fp16", 4e-2, 1.5e-3)])
def test_batch(model: KevModel, precision: str, most: float, most_of_document: float) -> None:
    random = np.random.default_rng(0)
    windows = [(random.integers(0, 500, tokens).tolist(), place) for document in DOCUMENTS for place, tokens in enumerate(document)]
    firsts = np.cumsum([0, *map(len, DOCUMENTS)])
    rows_of = [list(range(firsts[number], firsts[number + 1])) for number in range(len(DOCUMENTS))]
    ids, positions, branch = [], [], []
    for _, lead, pieces in QUESTIONS:
        ids.append(random.integers(0, 500, lead + sum(pieces)).tolist())
        positions.append([*range(lead), *(lead + place for piece in pieces for place in range(piece))])
        branch.append([0] * lead + [number for number, piece in enumerate(pieces, 1) for _ in range(piece)])
    most_pieces = max(len(pieces) for *_, pieces in QUESTIONS)
    window_vectors, views, found = open_graph(build_batch, model, precision).run(None, {
        "window_ids": padded([window for window, _ in windows], 0),
        "window_tokens": np.array([len(window) for window, _ in windows]),
        "segment": np.zeros(len(windows), np.int64),
        "window_index": np.array([place for _, place in windows]),
        "token_ids": padded(ids, 0), "positions": padded(positions, 0), "branch": padded(branch, -1),
        "pieces": np.arange(1, most_pieces + 1),
        "windows_of": padded([rows_of[document] for document, *_ in QUESTIONS], -1),
    })  # fmt: skip
    with torch.inference_mode():
        for number, (document, _, pieces) in enumerate(QUESTIONS):
            runs = [model.encode(torch.tensor([windows[row][0]]), torch.tensor([0]), torch.tensor([windows[row][1]])) for row in rows_of[document]]
            cache = [tuple(torch.cat([run[layer][kind] for run in runs], 2) for kind in (0, 1)) for layer in range(SHAPE.layers)]
            numbers = torch.arange(1, len(pieces) + 1)
            one_row = (torch.tensor([row[number]]) for row in (ids, positions, branch))
            wanted = model.answer(*one_row, numbers, cache).numpy()
            assert np.abs(found[number, : len(pieces)] - wanted).max() < most
            assert np.abs(views[number]).max() > 0.1  # the mean of the instructions' last states
            tokens = np.array([len(windows[row][0]) for row in rows_of[document]])
            vector = (window_vectors[rows_of[document]] * tokens[:, None]).sum(0) / tokens.sum()
            assert np.abs(vector - model.join(cache[-1][1]).mean(1)[0].numpy()).max() < most_of_document


def test_head_rows(model: KevModel) -> None:
    vectors = np.random.default_rng(1).normal(size=(3, 4, SHAPE.hidden)).astype(np.float32)
    kinds, levels = np.array([0, 1, 2]), np.array([[0] * 4, [0] * 4, [1, 2, 3, 4]])
    graph = open_graph(build_head_rows, model, "fp32")
    found = graph.run(None, {"option_vectors": vectors, "question_type": kinds, "levels": levels})[0]
    with torch.inference_mode():
        for row in range(3):
            one = (torch.tensor(part[row : row + 1]) for part in (vectors, kinds, levels))
            assert np.abs(found[row] - model.head(*one)[0].numpy()).max() < 1e-4
