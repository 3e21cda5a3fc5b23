"""Writes two models of random weights as exporters lay them out on a hub, for `npm run bench:foreign`.

    python foreign_models.py --tokenizer models/text-embed-mini --out FOLDER

`embedder`: BERT-base (12 layers of 768). `judge`: DeBERTa-v3-small (6 layers of 768) with the three labels of entailment. Each
with its weights for torch, and with graphs for onnxruntime in float32 and in int8, made by onnxruntime's own dynamic quantization.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import torch
from embedding_folder import configurations, read
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

TOKENS = 512
SPECIALS = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "unk", "mask")}
LABELS = ("entailment", "neutral", "contradiction")
# So large that answers to different texts differ as those of a trained model do.
CLASSIFIER_RANGE = 0.5


class Graph(torch.nn.Module):
    """The first output of a model, its inputs by position."""

    def __init__(self, model: PreTrainedModel, names: list[str]) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.model(**dict(zip(self.names, inputs, strict=True)), return_dict=False)[0]


def embedder(source: Path, folder: Path) -> None:
    tokenizer = Tokenizer.from_str(read(source / "tokenizer.json").decode("utf-8"))
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), attn_implementation="eager")
    write(BertModel(config).eval(), tokenizer, folder, ["input_ids", "attention_mask", "token_type_ids"])
    for name, content in configurations(config.hidden_size, TOKENS).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if name != "config.json":
            path.write_text(json.dumps(content))


def judge(source: Path, folder: Path) -> None:
    tokenizer = unigram(json.loads(read(source / "tokenizer.json"))["model"]["vocab"])
    config = DebertaV2Config(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=768,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=3072,
        relative_attention=True,
        position_buckets=256,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        type_vocab_size=0,
        id2label=dict(enumerate(LABELS)),
        label2id={label: place for place, label in enumerate(LABELS)},
        attn_implementation="eager",
    )
    model = DebertaV2ForSequenceClassification(config).eval()
    torch.nn.init.normal_(model.classifier.weight, std=CLASSIFIER_RANGE)
    write(model, tokenizer, folder, ["input_ids", "attention_mask"])


def unigram(words: dict[str, int]) -> Tokenizer:
    """The words of another vocabulary, which stand there from the most frequent on."""
    pieces = [word.replace("##", "") if word.startswith("##") else f"▁{word}" for word in words if word[0] != "["]
    ranked = [(piece, -math.log(rank + 2)) for rank, piece in enumerate(dict.fromkeys(["▁", *pieces]))]
    tokenizer = Tokenizer(models.Unigram([(token, 0.0) for token in SPECIALS.values()] + ranked, unk_id=3))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    frame = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=frame
    )
    return tokenizer


def write(model: PreTrainedModel, tokenizer: Tokenizer, folder: Path, names: list[str]) -> None:
    tokenizer.no_padding()
    tokenizer.no_truncation()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=TOKENS, **SPECIALS)
    fast.model_input_names = names
    fast.save_pretrained(folder)
    model.save_pretrained(folder)
    (folder / "onnx").mkdir(exist_ok=True)
    full, prepared, quantized = (folder / "onnx" / name for name in ("model.onnx", "prepared.onnx", "model_quantized.onnx"))
    export(model, full, names)
    quant_pre_process(full, prepared, skip_symbolic_shape=True)
    quantize_dynamic(prepared, quantized, weight_type=QuantType.QInt8)
    prepared.unlink()


def export(model: PreTrainedModel, path: Path, names: list[str]) -> None:
    output = "logits" if hasattr(model, "classifier") else "last_hidden_state"
    ids = torch.tensor([[1, 7, 9, 11, 8, 2]])
    example: dict[str, Any] = {name: torch.ones_like(ids) for name in names} | {"input_ids": ids}
    axes = {name: {0: "batch_size", 1: "sequence_length"} for name in [*names, "last_hidden_state"]}
    axes = {name: axes.get(name, {0: "batch_size"}) for name in [*names, output]}
    graph = Graph(model, names).eval()
    with torch.no_grad():
        torch.onnx.export(
            graph, tuple(example[name] for name in names), path,
            input_names=names, output_names=[output], dynamic_axes=axes, opset_version=17, dynamo=False,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=Path, required=True, help="a model folder with a WordPiece tokenizer")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.manual_seed(20261122)
    for make in (embedder, judge):
        make(options.tokenizer, options.out / make.__name__)


if __name__ == "__main__":
    main()
