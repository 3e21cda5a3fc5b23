"""Lays out an embedding model of ours as the folder that Infinity and sentence-transformers read with their ONNX engines.

    python embedding_folder.py --model models/text-embed-mini --out FOLDER

Both pool and normalise by themselves, so the graph ends where the pooling began; its inputs get the names that they use.
Nodes and weights before that are the same.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import onnx
from onnx import helper
from onnx.utils import Extractor

INPUTS = {"token_ids": "input_ids", "attention_mask": "attention_mask"}
HIDDEN = "last_hidden_state"


def hidden_states(graph: onnx.GraphProto) -> str:
    """The tensor that the pooling reads: the output of the last layer normalisation."""
    return [node.output[0] for node in graph.node if "LayerNormalization" in node.op_type][-1]


def without_pooling(model: onnx.ModelProto, dimensions: int) -> onnx.ModelProto:
    graph = model.graph
    renamed = {**INPUTS, hidden_states(graph): HIDDEN}
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        node.output[:] = [renamed.get(name, name) for name in node.output]
    for value in graph.input:
        value.name = renamed[value.name]
    del graph.value_info[:]
    shape = helper.make_tensor_value_info(HIDDEN, onnx.TensorProto.FLOAT, ["B", "S", dimensions])
    graph.output.append(shape)
    return Extractor(model).extract_model(list(INPUTS.values()), [HIDDEN])


def read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes())


def write_folder(model_folder: Path, out: Path) -> None:
    manifest = json.loads((model_folder / "model.json").read_text("utf-8"))
    dimensions, tokens = manifest["dimensions"], manifest["limits"]["input_tokens"]
    out.mkdir(parents=True, exist_ok=True)
    graph = onnx.load_from_string(read(model_folder / manifest["graphs"]["int8"]["embed"]))
    # Beside the other files: optimum looks for the graph by its bare name.
    onnx.save(without_pooling(graph, dimensions), out / "model_quantized.onnx")
    (out / "tokenizer.json").write_bytes(read(model_folder / "tokenizer.json"))
    shutil.copy(model_folder / "tokenizer_config.json", out / "tokenizer_config.json")
    for name, content in configurations(dimensions, tokens).items():
        path = out / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))


def configurations(dimensions: int, tokens: int) -> dict[str, Any]:
    """What the two read of a model besides its graph: its kind, where a text is cut, how vectors are pooled."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for index, (path, kind) in enumerate(kinds.items())
    ]
    return {
        "config.json": {
            "model_type": "bert",
            "architectures": ["BertModel"],
            "hidden_size": dimensions,
            # Infinity cuts a text here.
            "max_position_embeddings": tokens,
        },
        "modules.json": modules,
        "sentence_bert_config.json": {"max_seq_length": tokens, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": dimensions, "pooling_mode_mean_tokens": True},
        "2_Normalize/config.json": {},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    write_folder(options.model, options.out)


if __name__ == "__main__":
    main()
