"""What the linear layers of a graph read on calibration texts: run the fp32 graph with those values as outputs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from onnx import helper

from .graph import GraphBuilder
from .quantize import InputStatistics
from .runtime import open_session


def collect(
    g: GraphBuilder, feeds: Iterable[Mapping[str, np.ndarray]], into: dict[str, InputStatistics] | None = None
) -> dict[str, InputStatistics]:
    """Statistics by name of what is read, over all `feeds` of the fp32 graph `g`; adds to `into` where given."""
    statistics = {} if into is None else into
    model = g.model()
    known = {value.name for value in model.graph.output}
    values = {name: value for name, value in g.linear_inputs.items()}
    model.graph.output.extend(helper.make_empty_tensor_value_info(v) for v in sorted(set(values.values()) - known))
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "graph.onnx"
        if g.weights:
            g.weights.save(Path(scratch))
        path.write_bytes(model.SerializeToString())
        session = open_session(path, threads=2)
        for feed in feeds:
            found = session.run(list(values.values()), dict(feed))
            for name, value in zip(values, found):
                rows = value.reshape(-1, value.shape[-1])
                statistics.setdefault(name, InputStatistics.empty(rows.shape[1])).add(rows)
    return statistics
