"""What the linear layers of a graph read on calibration texts: the fp32 graph runs with those values as further outputs."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from onnx import helper

from .graph import GraphBuilder
from .quantize import InputStatistics
from .runtime import open_session


class Collector:
    """Stands in for a session of the fp32 graph `g`; every run adds to `statistics`, by name of what is read."""

    def __init__(self, g: GraphBuilder, statistics: dict[str, InputStatistics]):
        self.statistics = statistics
        self.read = dict(g.linear_inputs)
        model = g.model()
        self.outputs = [value.name for value in model.graph.output]
        model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in sorted(set(self.read.values())))
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "graph.onnx"
            path.write_bytes(model.SerializeToString())
            if g.weights:
                g.weights.save(Path(scratch))
            self.session = open_session(path)

    def run(self, _names: None, feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        found = self.session.run([*self.outputs, *self.read.values()], dict(feed))
        for name, value in zip(self.read, found[len(self.outputs) :]):
            rows = value.reshape(-1, value.shape[-1])
            if name not in self.statistics:
                self.statistics[name] = InputStatistics(rows.shape[1])
            self.statistics[name].add(rows)
        return found[: len(self.outputs)]
