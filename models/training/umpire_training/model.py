"""`kev` in PyTorch: a split encoder whose branches read the state inside every layer.

Two ways through the same weights:
- `encode`, `answer`, `head`: one window, one chunk, one question a call. They are the three ONNX graphs, one to one.
- `forward_batch`: many questions at once for training and evaluation. Linear layers run on packed tokens without
  padding; only attention is padded. A test holds both to the same numbers.

What a piece vector is: 372 numbers of the projected mean of its last hidden states, then 12 match features: per
attention head the cosine between the mean last-layer values of the piece and those of the state. They carry the base
model's notion of similarity to the head before anything is trained; both means are linear in what `encode` returns.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MASKED = -1e4  # exp(-1e4) is exactly 0 in fp32: what is masked has no influence at all
KeyValue = tuple[Tensor, Tensor]


@dataclass
class Shape:
    vocabulary: int = 30522
    hidden: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536
    positions: int = 512
    window_indexes: int = 64
    question_types: int = 3
    levels: int = 65  # 0 = no level
    norm_eps: float = 1e-12

    @property
    def head_size(self) -> int:
        return self.hidden // self.heads


class Layer(nn.Module):
    """A BERT layer (post-norm), split so that the attention in the middle is the caller's."""

    def __init__(self, shape: Shape):
        super().__init__()
        hidden = shape.hidden
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=shape.norm_eps)
        self.inner = nn.Linear(hidden, shape.inner)
        self.outer = nn.Linear(shape.inner, hidden)
        self.norm = nn.LayerNorm(hidden, eps=shape.norm_eps)

    def merge(self, x: Tensor, attended: Tensor) -> Tensor:
        """x, attended [..., hidden] -> [..., hidden]: everything after the attention."""
        x = self.attention_norm(x + self.output(attended))
        return self.norm(x + self.outer(F.gelu(self.inner(x))))


class SetLayer(nn.Module):
    """Options of one question look at each other, without positions, behind a gate that starts closed."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.heads, self.head_size = 6, shape.hidden // 6
        self.norm = nn.LayerNorm(shape.hidden)
        self.qkv = nn.Linear(shape.hidden, 3 * shape.hidden)
        self.output = nn.Linear(shape.hidden, shape.hidden)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x [Q, K, hidden], mask [Q, 1, 1, K] additive -> [Q, K, hidden]"""
        batch, count, hidden = x.shape
        qkv = self.qkv(self.norm(x)).view(batch, count, 3, self.heads, self.head_size)
        query, key, value = (part.transpose(1, 2) for part in qkv.unbind(2))
        attended = attention(query, key, value, mask)
        return x + torch.tanh(self.gate) * self.output(attended.transpose(1, 2).reshape(batch, count, hidden))


class Head(nn.Module):
    """Option vectors of one question -> logits."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.heads = shape.heads
        self.type_embedding = nn.Embedding(shape.question_types, shape.hidden)
        self.level_embedding = nn.Embedding(shape.levels, shape.hidden)
        self.set_layer = SetLayer(shape)
        self.norm = nn.LayerNorm(shape.hidden)
        self.inner = nn.Linear(shape.hidden, shape.hidden)
        self.outer = nn.Linear(shape.hidden, 1)
        self.match = nn.Embedding(shape.question_types, shape.heads)
        nn.init.zeros_(self.type_embedding.weight)
        nn.init.zeros_(self.level_embedding.weight)
        nn.init.normal_(self.outer.weight, std=0.01)
        nn.init.zeros_(self.outer.bias)
        with torch.no_grad():
            # choice starts as similarity; for yes/no similarity says nothing; levels are a bit alike what they describe
            self.match.weight.copy_(torch.tensor([12.0, 0.0, 4.0])[:, None].expand(-1, shape.heads) / shape.heads)

    def forward(self, vectors: Tensor, question_type: Tensor, levels: Tensor, mask: Tensor | None = None) -> Tensor:
        """vectors [Q, K, hidden], question_type [Q], levels [Q, K] -> logits [Q, K]"""
        match = (vectors[..., -self.heads:] * self.match(question_type)[:, None, :]).sum(-1)
        x = vectors + self.type_embedding(question_type)[:, None, :] + self.level_embedding(levels)
        x = self.norm(self.set_layer(x, mask))
        return self.outer(F.gelu(self.inner(x))).squeeze(-1) + match


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """[N, heads, S, head_size] -> same. mask additive, broadcastable to [N, heads, S, T]"""
    if mask is not None:
        mask = mask.to(query.dtype)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


class KevModel(nn.Module):
    def __init__(self, shape: Shape = Shape()):
        super().__init__()
        self.shape = shape
        hidden = shape.hidden
        self.words = nn.Embedding(shape.vocabulary, hidden)
        self.positions = nn.Embedding(shape.positions, hidden)
        self.segments = nn.Embedding(2, hidden)
        self.window_indexes = nn.Embedding(shape.window_indexes, hidden)
        self.embedding_norm = nn.LayerNorm(hidden, eps=shape.norm_eps)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.piece_projection = nn.Linear(hidden, hidden - shape.heads)
        self.match_centre = nn.Parameter(torch.zeros(shape.heads, shape.head_size))
        self.head_module = Head(shape)
        nn.init.zeros_(self.window_indexes.weight)
        nn.init.eye_(self.piece_projection.weight)
        nn.init.zeros_(self.piece_projection.bias)

    # --- the three graphs -------------------------------------------------------------------------------------

    def encode(self, token_ids: Tensor, segment: Tensor, window_index: Tensor) -> list[KeyValue]:
        """token_ids [W, S], segment [W], window_index [W] -> per layer key, value [W, heads, S, head_size]"""
        x = self.words(token_ids) + self.positions.weight[: token_ids.shape[1]]
        x = x + (self.segments(segment) + self.window_indexes(window_index))[:, None, :]
        x = self.embedding_norm(x)
        cache: list[KeyValue] = []
        for number, layer in enumerate(self.layers):
            key, value = self.split(layer.key(x)), self.split(layer.value(x))
            cache.append((key, value))
            if number + 1 < len(self.layers):  # nothing reads what the state becomes after the last layer
                x = layer.merge(x, self.join(attention(self.split(layer.query(x)), key, value, None)))
        return cache

    def answer(self, token_ids: Tensor, positions: Tensor, branch: Tensor, pieces: Tensor,
               cache: list[KeyValue]) -> Tensor:
        """token_ids, positions, branch [1, B], pieces [P] = 1..P, cache per layer [1, heads, S, head_size]
        -> piece vectors [P, hidden]"""
        x = self.embedding_norm(self.words(token_ids) + self.positions(positions) + self.segments.weight[1])
        mask = self.branch_mask(branch, cache[0][0].shape[2])
        for layer, (key, value) in zip(self.layers, cache):
            own_value = self.split(layer.value(x))
            keys = torch.cat([key, self.split(layer.key(x))], 2)
            values = torch.cat([value, own_value], 2)
            x = layer.merge(x, self.join(attention(self.split(layer.query(x)), keys, values, mask)))
        member = (branch == pieces[:, None]).to(x.dtype)  # [P, B]
        mean = member / member.sum(1, keepdim=True)
        state_value = cache[-1][1].mean(2)  # [1, heads, head_size]
        piece_value = torch.matmul(mean, self.join(own_value)[0]).view(-1, *state_value.shape[1:])
        return self.piece_vectors(torch.matmul(mean, x[0]), piece_value, state_value)

    def head(self, option_vectors: Tensor, question_type: Tensor, levels: Tensor) -> Tensor:
        """option_vectors [1, K, hidden], question_type [1], levels [1, K] -> logits [1, K]"""
        return self.head_module(option_vectors, question_type, levels)

    # --- shared pieces ----------------------------------------------------------------------------------------

    def split(self, x: Tensor) -> Tensor:
        """[N, S, hidden] -> [N, heads, S, head_size]"""
        return x.view(x.shape[0], x.shape[1], self.shape.heads, self.shape.head_size).transpose(1, 2)

    def join(self, x: Tensor) -> Tensor:
        """[N, heads, S, head_size] -> [N, S, hidden]"""
        return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], self.shape.hidden)

    def branch_mask(self, branch: Tensor, state_keys: int) -> Tensor:
        """branch [R, B] (0 = instructions, -1 = padding) -> additive [R, 1, B, state_keys + B]"""
        sees = (branch[:, None, :] == 0) | (branch[:, None, :] == branch[:, :, None])
        own = torch.zeros(sees.shape, device=branch.device).masked_fill(~sees, MASKED)
        return F.pad(own, (state_keys, 0))[:, None]

    def piece_vectors(self, mean: Tensor, piece_value: Tensor, state_value: Tensor) -> Tensor:
        """mean [P, hidden]; values [P or 1, heads, head_size] -> [P, hidden]"""
        left, right = piece_value - self.match_centre, state_value - self.match_centre
        norms = (left.square().sum(-1) * right.square().sum(-1) + 1e-12).sqrt()
        match = (left * right).sum(-1) / norms
        return torch.cat([self.piece_projection(mean), match], -1)

    # --- many questions at once -------------------------------------------------------------------------------

    def forward_batch(self, batch: "Batch") -> Tensor:
        """-> logits [Q, Kmax] float32; places without an option hold MASKED"""
        b = batch
        x = self.words(b.token_ids) + self.positions(b.positions) + self.segments(b.segments)
        x = torch.cat([x[: b.state_tokens] + self.window_indexes(b.window_index), x[b.state_tokens:]])
        x = self.embedding_norm(x)
        for number, layer in enumerate(self.layers):
            last = number + 1 == len(self.layers)
            query, key, value = layer.query(x), layer.key(x), layer.value(x)
            own_value, state_value = value[b.state_tokens:], value[: b.state_tokens]
            attended = self.branch_attention(b, query, key, value)
            if last:
                x = layer.merge(x[b.state_tokens:], attended)
            else:
                x = layer.merge(x, torch.cat([self.window_attention(b, query, key, value), attended]))
        return self.read_out(b, x, own_value, state_value)

    def window_attention(self, b: "Batch", query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """packed [T, hidden] -> [state tokens, hidden]"""
        padded = [self.split(F.embedding(b.window_slots, part)) for part in (query, key, value)]
        out = self.join(attention(*padded, b.window_mask))
        return out.reshape(-1, self.shape.hidden)[b.window_flat]

    def branch_attention(self, b: "Batch", query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """packed [T, hidden] -> [branch tokens, hidden]; keys are the row's state tokens, then the row itself"""
        query = self.split(F.embedding(b.row_slots, query))
        key, value = (self.split(F.embedding(b.key_slots, part)) for part in (key, value))
        out = self.join(attention(query, key, value, b.row_mask))
        return out.reshape(-1, self.shape.hidden)[b.row_flat]

    def read_out(self, b: "Batch", x: Tensor, own_value: Tensor, state_value: Tensor) -> Tensor:
        x, own_value, state_value = x.float(), own_value.float(), state_value.float()
        pieces = b.piece_row.shape[0]
        size = (pieces + 1, self.shape.hidden)  # the last row collects the tokens of the instructions
        with torch.autocast(x.device.type, enabled=False):
            mean = torch.zeros(size, device=x.device).index_add(0, b.token_piece, x)[:pieces]
            own = torch.zeros(size, device=x.device).index_add(0, b.token_piece, own_value)[:pieces]
            mean, own = mean / b.piece_lengths[:, None], own / b.piece_lengths[:, None]
            windows = torch.zeros(b.window_slots.shape[0], self.shape.hidden, device=x.device)
            windows = windows.index_add(0, b.token_window, state_value)
            state = (b.row_windows @ windows) / b.row_state_tokens[:, None]
            heads = (-1, self.shape.heads, self.shape.head_size)
            vectors = self.piece_vectors(mean, own.view(heads), state[b.piece_row].view(heads))
            options = torch.zeros(b.option_count, self.shape.hidden, device=x.device)
            options = options.index_add(0, b.piece_option, vectors * b.piece_weight[:, None])
            mask = torch.zeros(b.option_mask.shape, device=x.device).masked_fill(~b.option_mask, MASKED)
            logits = self.head_module(options[b.option_slots], b.question_type, b.levels, mask[:, None, None, :])
            return logits.masked_fill(~b.option_mask, MASKED)


# --- weights ----------------------------------------------------------------------------------------------------


def from_minilm(folder: str | Path, shape: Shape = Shape()) -> KevModel:
    """A new model with the encoder of all-MiniLM-L6-v2 (a Hugging Face BERT folder)."""
    from safetensors.torch import load_file

    model = KevModel(shape)
    source = {name.removeprefix("bert."): value for name, value in load_file(str(Path(folder) / "model.safetensors")).items()}
    names = {"words": "embeddings.word_embeddings", "positions": "embeddings.position_embeddings",
             "segments": "embeddings.token_type_embeddings", "embedding_norm": "embeddings.LayerNorm"}
    parts = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
             "output": "attention.output.dense", "attention_norm": "attention.output.LayerNorm",
             "inner": "intermediate.dense", "outer": "output.dense", "norm": "output.LayerNorm"}
    for number in range(shape.layers):
        names |= {f"layers.{number}.{ours}": f"encoder.layer.{number}.{theirs}" for ours, theirs in parts.items()}
    state = {f"{ours}.{kind}": source[f"{theirs}.{kind}"] for ours, theirs in names.items()
             for kind in ("weight", "bias") if f"{theirs}.{kind}" in source}
    missing, unexpected = model.load_state_dict(state, strict=False)
    ours = {"window_indexes", "piece_projection", "match_centre", "head_module"}
    left = [name for name in missing if name.split(".")[0] not in ours]
    if left or unexpected:
        raise ValueError(f"base model does not fit: missing {left}, unexpected {unexpected}")
    return model


def save(model: KevModel, path: str | Path, **extra) -> None:
    """Weights and shape; `extra` must be plain data or tensors."""
    torch.save({"shape": asdict(model.shape), "model": model.state_dict(), **extra}, path)


def load(path: str | Path) -> KevModel:
    """The model of a checkpoint or of final.pt, in fp32 and evaluation mode."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    model = KevModel(Shape(**saved["shape"]))
    model.load_state_dict(saved["model"])
    return model.eval()
