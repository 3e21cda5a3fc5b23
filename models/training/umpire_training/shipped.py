"""Graphs over the weights of another: in float16 and float32, for devices, from the int8 file that the folder ships anyway.

A graph of these holds no weights. Its initializers point into the int8 file, and `Cast` and `Mul` make floats of them. The
runtime does that once, when the graph is loaded: everything they read is constant. (`DequantizeLinear` says the same in one
node, but onnxruntime 1.30 leaves it in the graph for every run unless `session.disable_quant_qdq` is set.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .encoder_graph import State
from .folder_file import read_folder_file
from .graph import GraphBuilder

# What has fewer bytes may stand in a graph: it is not worth two hundred bytes that say where else it stands.
INLINE_BYTES = 128
INT8, SCALE = ".int8", ".scale"


@dataclass
class Place:
    """Where a tensor lies in a file of the folder."""

    file: str
    offset: int
    length: int
    kind: int  # TensorProto's
    dims: tuple[int, ...]

    def initializer(self, name: str) -> TensorProto:
        tensor = TensorProto(name=name, dims=self.dims, data_type=self.kind, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.file), ("offset", self.offset), ("length", self.length)):
            tensor.external_data.add(key=key, value=str(value))
        return tensor


class ShippedWeights:
    """The weights of a folder's int8 graphs by the names that `KevModel` and the builders give them."""

    def __init__(self, places: Mapping[str, Place], files: Mapping[str, bytes]):
        self.places, self._files = places, files

    @classmethod
    def read(cls, folder: Path, renamed: Mapping[str, str] | None = None) -> "ShippedWeights":
        """`renamed`: regular expressions of names in the files → ours, tried in order, the first that matches counts."""
        files: dict[str, bytes] = {}
        places: dict[str, Place] = {}
        graphs = sorted(path.name.removesuffix(".gz") for path in folder.glob("*.int8.onnx*"))
        for graph in dict.fromkeys(graphs):
            content = read_folder_file(folder / graph)
            for name, place in _places(graph, content).items():
                places[_rename(name, renamed or {})] = place
                files[place.file] = content if place.file == graph else read_folder_file(folder / place.file)
        return cls(places, files)

    def stored(self, name: str) -> np.ndarray:
        place = self.places[name]
        kind = helper.tensor_dtype_to_np_dtype(place.kind)
        raw = self._files[place.file][place.offset : place.offset + place.length]
        return np.frombuffer(raw, kind).reshape(place.dims)

    def matrix(self, name: str, reads: str) -> np.ndarray:
        """What the int8 graph multiplies its unsmoothed input by, `[in, out]` float32."""
        product = self.stored(f"{name}.weight{INT8}").astype(np.float32) * self.stored(f"{name}.weight{SCALE}")
        smoothing = f"{reads}.smoothing"
        return product * self.stored(smoothing)[:, None] if smoothing in self.places else product

    def table(self, name: str) -> np.ndarray:
        return self.stored(f"{name}{INT8}").astype(np.float32) * self.stored(f"{name}{SCALE}")

    def state(self) -> State:
        """Every weight as torch would have it, in float32: the model that is shipped, for the reference and the exporter."""
        found: dict[str, np.ndarray] = {}
        for name in self.places:
            if name.endswith(INT8):
                whole = name.removesuffix(INT8)
                base = whole.removesuffix(".weight")
                found[whole] = self.table(whole) if whole == "words.weight" else self.matrix(base, reads_of(base)).T
            elif name.endswith((SCALE, ".smoothing", ".sought")):
                continue
            elif name.endswith(".gate.tanh"):
                found[name.removesuffix(".tanh")] = np.arctanh(self.stored(name))
            elif name.startswith("sharpness."):
                found["sharpness"] = np.concatenate([self.stored(f"sharpness.{kind}") for kind in (0, 1)])
            else:
                stored = self.stored(name)
                # Graphs multiply by [in, out]; tables and norms stand as they are in torch.
                found[name] = stored.T if stored.ndim == 2 and not is_table(name) else stored
        return {name: np.ascontiguousarray(array, np.float32) for name, array in found.items()}


def is_table(name: str) -> bool:
    """Whether rows are looked up in it, and it is not multiplied by."""
    tables = r"(words|positions|segments|window_indexes|head_module\.(match|lead_match|level_bias|type_embedding|level_embedding))\.weight"
    return re.fullmatch(tables, name) is not None


def reads_of(layer: str) -> str:
    """The name under which the builders know what a linear layer reads (`encoder_graph.project`)."""
    if layer in ("state_key", "state_value"):
        return "finished_state"
    return re.sub(r"\.(query|key|value)$", ".read", layer)


class ShippedBuilder(GraphBuilder):
    """A builder whose weights are those of a folder's int8 graphs, made floats as the graph is loaded."""

    plain_attention = True

    def __init__(self, name: str, precision: str, shipped: ShippedWeights):
        """`precision`: fp16 or fp32"""
        super().__init__(name, precision)
        self.shipped = shipped
        self.made: dict[tuple[str, type], str] = {}  # by what was asked for and the float type: the value's name

    def weight(self, name: str, array: np.ndarray) -> str:
        """The shipped tensor of that name; `array` says what its shape must be."""
        if name not in self.shipped.places and array.nbytes > INLINE_BYTES:
            raise ValueError(f"{name} is not among the shipped weights")
        if name not in self.shipped.places:
            return super().weight(name, array)
        place = self.shipped.places[name]
        if place.dims != array.shape:
            raise ValueError(f"{name} is {place.dims} where the graph needs {array.shape}")
        if place.kind != TensorProto.FLOAT or self.float_type is np.float32:
            return self._stored(name)
        return self._once(name, lambda: self.to_float(self._stored(name)))

    def linear(
        self, x: str, name: str, weight: np.ndarray, bias: np.ndarray | None, *, reads: str = "", keep_float: bool = False
    ) -> str:
        self.linear_inputs[reads or name] = x
        is_float = f"{name}.weight{INT8}" not in self.shipped.places
        matrix = self.weight(f"{name}.weight", weight) if is_float else self._matrix(name, weight, reads or name)
        product = self.node("MatMul", x, matrix)
        return product if bias is None else self.node("Add", product, self.weight(f"{name}.bias", bias))

    def table(self, ids: str, name: str, table: np.ndarray, keep_float: bool = False) -> str:
        """Of an int8 table only the rows that are read become floats: as floats the whole would take four times its memory."""
        if f"{name}{INT8}" not in self.shipped.places:
            return super().table(ids, name, table, keep_float=True)
        self._require_shape(f"{name}{INT8}", table.shape)
        rows, scales = (self.node("Gather", self._stored(f"{name}{part}"), ids, axis=0) for part in (INT8, SCALE))
        rows = self.node("Mul", self.cast(rows, "float32"), scales)
        return rows if self.float_type is np.float32 else self.to_float(rows)

    def _matrix(self, name: str, weight: np.ndarray, reads: str) -> str:
        self._require_shape(f"{name}.weight{INT8}", weight.shape)
        return self._once(f"{name}.weight", lambda: self._dequantized(name, f"{reads}.smoothing"))

    def _dequantized(self, name: str, smoothing: str) -> str:
        levels, scales = (self._stored(f"{name}.weight{part}") for part in (INT8, SCALE))
        # In float32, and rounded to float16 once.
        matrix = self.node("Mul", self.cast(levels, "float32"), scales)
        if smoothing in self.shipped.places:
            matrix = self.node("Mul", matrix, self.node("Unsqueeze", self._stored(smoothing), self.constant([1])))
        return matrix if self.float_type is np.float32 else self.to_float(matrix)

    def _stored(self, name: str) -> str:
        if name not in self.initializers:
            place = self.shipped.places[name]
            small = place.length <= INLINE_BYTES
            self.initializers[name] = numpy_helper.from_array(self.shipped.stored(name), name) if small else place.initializer(name)
        return name

    def _once(self, name: str, make) -> str:
        key = (name, self.float_type)
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def _require_shape(self, name: str, shape: tuple[int, ...]) -> None:
        if self.shipped.places[name].dims != shape:
            raise ValueError(f"{name} is {self.shipped.places[name].dims} where the graph needs {shape}")


def _places(graph: str, content: bytes) -> dict[str, Place]:
    """Of every weight of a graph, in the file beside it or in the graph's own bytes."""
    found: dict[str, Place] = {}
    searched = 0
    for tensor in onnx.load_model_from_string(content).graph.initializer:
        if tensor.name.startswith("constant_"):
            continue
        dims = tuple(tensor.dims)
        if tensor.data_location == TensorProto.EXTERNAL:
            data = {entry.key: entry.value for entry in tensor.external_data}
            found[tensor.name] = Place(data["location"], int(data["offset"]), int(data["length"]), tensor.data_type, dims)
            continue
        # Bytes of a tensor stand in the file as they are, behind its name and those of the tensors before it.
        offset = content.index(tensor.raw_data, max(searched, content.index(tensor.name.encode(), searched)))
        searched = offset + len(tensor.raw_data)
        found[tensor.name] = Place(graph, offset, len(tensor.raw_data), tensor.data_type, dims)
    return found


def _rename(name: str, renamed: Mapping[str, str]) -> str:
    for pattern, ours in renamed.items():
        changed, count = re.subn(pattern, ours, name)
        if count:
            return changed
    return name
