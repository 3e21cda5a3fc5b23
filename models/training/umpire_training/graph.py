"""A small ONNX graph builder: nodes are written by hand, weights of several graphs share one file.

Owns names, element types per precision and the layout of the weights file. Knows nothing about any model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .quantize import Quantizer, quantize_rows

OPSET = 20
IR_VERSION = 10
PRECISIONS = ("fp32", "fp16", "int8")
# Weights start on their own page, so that a runtime can map the file instead of copying it.
ALIGNMENT = 4096
MICROSOFT = "com.microsoft"


@dataclass
class WeightsFile:
    """The bytes that several graphs share; a name is stored once and always means the same array."""

    name: str
    offsets: dict[str, tuple[int, int]] = field(default_factory=dict)
    data: bytearray = field(default_factory=bytearray)

    def place(self, name: str, array: np.ndarray) -> TensorProto:
        """An initializer that points into this file."""
        if name not in self.offsets:
            self.data.extend(b"\0" * (-len(self.data) % ALIGNMENT))
            raw = np.ascontiguousarray(array).tobytes()
            self.offsets[name] = (len(self.data), len(raw))
            self.data.extend(raw)
        offset, length = self.offsets[name]
        tensor = TensorProto(
            name=name,
            dims=array.shape,
            data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
            data_location=TensorProto.EXTERNAL,
        )
        for key, value in (("location", self.name), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        return tensor

    def save(self, folder: Path) -> None:
        (folder / self.name).write_bytes(bytes(self.data))


class GraphBuilder:
    """Collects nodes and initializers of one graph; every method returns the name of the value it made."""

    # Whether attention is written in plain operators, which every device has, and not as one that is fused for processors.
    plain_attention = False

    def __init__(
        self,
        name: str,
        precision: str,
        weights: WeightsFile | None = None,
        quantizer: Quantizer | None = None,
    ):
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {PRECISIONS}, not {precision!r}")
        self.name = name
        self.precision = precision
        self.weights = weights
        self.quantizer = quantizer or Quantizer()
        self.linear_inputs: dict[str, str] = {}  # what a linear layer reads: its name for statistics → value
        self.smoothed: dict[str, str] = {}
        self.given: Mapping[str, str] = {}  # of a graph inside this one: its inputs
        self.caught: dict[str, str] | None = None  # and its outputs
        self.float_type = np.float16 if precision == "fp16" else np.float32
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.initializers: dict[str, TensorProto] = {}
        self.counts: dict[str, int] = {}

    # ---- values -------------------------------------------------------------------------------

    def input(self, name: str, kind: str, shape: list[int | str]) -> str:
        """A graph input; float inputs are float32 in every precision (Node cannot pass float16)."""
        if name in self.given:
            return self.given[name]
        self.inputs.append(helper.make_tensor_value_info(name, _element(kind), shape))
        return self._to_internal(name) if kind == "float32" else name

    def output(self, value: str, name: str, shape: list[int | str]) -> None:
        """A float32 graph output."""
        if self.caught is not None:
            self.caught[name] = value
            return
        if self.float_type is np.float16:
            self.nodes.append(helper.make_node("Cast", [value], [name], name=f"output/{name}", to=TensorProto.FLOAT))
        else:
            self._rename(value, name)
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    @contextmanager
    def in_float32(self) -> Iterator[Callable[[str], str]]:
        """Inside, floats are float32 in every precision; what it gives takes values from outside in."""
        outside, self.float_type = self.float_type, np.float32
        try:
            yield (lambda value: value) if outside is np.float32 else (lambda value: self.cast(value, "float32"))
        finally:
            self.float_type = outside

    def embed(self, build: Callable[[], None], given: Mapping[str, str]) -> dict[str, str]:
        """A whole graph inside this one, reading `given` where it has inputs of those names → its outputs by name."""
        self.given, self.caught, self.smoothed = given, {}, {}
        try:
            build()
            return self.caught
        finally:
            self.given, self.caught = {}, None

    def node(self, op: str, *inputs: str, domain: str = "", outputs: int = 1, **attributes):
        """A node; returns its output's name, or the list of names when it has several."""
        number = self.counts[op] = self.counts.get(op, -1) + 1
        base = f"{op}_{number}"
        names = [base] if outputs == 1 else [f"{base}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=base, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value) -> str:
        """A small constant kept in the graph itself: Python ints become int64, floats the internal float type."""
        array = np.asarray(value)
        array = array.astype(self.float_type if array.dtype.kind == "f" else np.int64)
        key = f"constant_{array.dtype}_{'x'.join(map(str, array.shape))}_{array.ravel().tolist()}"
        if key not in self.initializers:
            self.initializers[key] = numpy_helper.from_array(array, key)
        return key

    def weight(self, name: str, array: np.ndarray) -> str:
        """A stored tensor; float arrays take the internal float type."""
        if name not in self.initializers:
            array = array.astype(self.float_type) if array.dtype.kind == "f" else array
            make = self.weights.place if self.weights else lambda n, a: numpy_helper.from_array(a, n)
            self.initializers[name] = make(name, array)
        return name

    # ---- layers -------------------------------------------------------------------------------

    def cast(self, value: str, kind: str) -> str:
        return self.node("Cast", value, to=_element(kind))

    def to_float(self, value: str) -> str:
        """Cast to the graph's internal float type."""
        return self.cast(value, np.dtype(self.float_type).name)

    def linear(
        self, x: str, name: str, weight: np.ndarray, bias: np.ndarray | None, *, reads: str = "", keep_float: bool = False
    ) -> str:
        """`x @ weight + bias` with weight `[in, out]`; quantised in int8 graphs unless `keep_float`.

        Layers that read the same value give it the same name in `reads`.
        """
        bias_name = self.weight(f"{name}.bias", bias) if bias is not None else ""
        self.linear_inputs[reads or name] = x
        if self.precision == "int8" and not keep_float:
            return self._linear_int8(x, name, weight, bias_name, reads or name)
        product = self.node("MatMul", x, self.weight(f"{name}.weight", weight))
        return self.node("Add", product, bias_name) if bias_name else product

    def _linear_int8(self, x: str, name: str, weight: np.ndarray, bias_name: str, reads: str) -> str:
        stored = self.quantizer.matrix(name, weight, reads)
        if stored.smoothing is not None:
            if reads not in self.smoothed:
                self.smoothed[reads] = self.node("Mul", x, self.weight(f"{reads}.smoothing", 1 / stored.smoothing))
            x = self.smoothed[reads]
        levels, scales = self.weight(f"{name}.weight.int8", stored.levels), self.weight(f"{name}.weight.scale", stored.scales)
        return self.node("DynamicQuantizeMatMul", x, levels, scales, "", bias_name, domain=MICROSOFT)

    def table(self, ids: str, name: str, table: np.ndarray, keep_float: bool = False) -> str:
        """Rows of `table` `[rows, width]`; stored by row as int8 with one scale each in int8 graphs unless `keep_float`."""
        if self.precision == "int8" and not keep_float:
            levels, scales = quantize_rows(table)
            rows = self.to_float(self.node("Gather", self.weight(f"{name}.int8", levels), ids, axis=0))
            return self.node("Mul", rows, self.node("Gather", self.weight(f"{name}.scale", scales), ids, axis=0))
        return self.node("Gather", self.weight(name, table), ids, axis=0)

    def layer_norm(self, x: str, name: str, scale: np.ndarray, bias: np.ndarray, epsilon: float) -> str:
        inputs = [x, self.weight(f"{name}.weight", scale), self.weight(f"{name}.bias", bias)]
        return self.node("LayerNormalization", *inputs, axis=-1, epsilon=epsilon)

    # ---- result -------------------------------------------------------------------------------

    def model(self) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, list(self.initializers.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="umpire_training")

    def save(self, path: Path) -> None:
        path.write_bytes(self.model().SerializeToString(deterministic=True))

    def _rename(self, old: str, new: str) -> None:
        """Gives a node's output another name; an Identity node instead would be a copy."""
        for node in self.nodes:
            for names in (node.input, node.output):
                for i, name in enumerate(names):
                    if name == old:
                        names[i] = new
        self.linear_inputs = {reads: new if value == old else value for reads, value in self.linear_inputs.items()}

    def _to_internal(self, name: str) -> str:
        return self.cast(name, "float16") if self.float_type is np.float16 else name


def _element(kind: str) -> int:
    return helper.np_dtype_to_tensor_dtype(np.dtype(kind))
