"""`kev` in PyTorch: a split encoder whose branches read the state inside every layer.

Two ways through the same weights:
- `encode`, `answer`, `head`: one window, one chunk, one question a call. They are the three ONNX graphs, one to one.
- `forward_batch`: many questions at once for training and evaluation. Linear layers run on packed tokens without
  padding; only attention is padded, and not even that where it runs in C++. A test holds both to the same numbers.

The state runs through all layers. For the last layer, branches read keys and values projected from the finished
state, not from the input of that layer: so the mean of those values holds the sentence vector of the base model.

What a piece vector is: 336 numbers projected from the mean of its last hidden states and from that of its
instructions', then four times 12 match features: the cosine of either mean with the mean of the finished state, and with
the mean of the state weighted by likeness (the place in a long state where it says so), in 12 partial sums. They carry
the base model's notion of similarity to the head before anything is trained; for a yes/no question it is the
instructions that may be like the state, not the words `true` and `false`.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import evidence
from .attention import MASKED, attention, read_layer, read_state, read_windows

NOUL = 1  # its place among prompts.QUESTION_TYPES
SHARPNESS = 20.0
FURTHEST = 10.0  # logits apart: further is the same
LONG = 256  # keys; scores beside more are scaled up
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
    pair: bool = True
    rivals: int = 96
    long_scale: bool = True
    gate: float = 0.3

    @property
    def head_size(self) -> int:
        return self.hidden // self.heads

    @property
    def projected(self) -> int:
        """Numbers of a piece vector that are no match features."""
        return self.hidden - 4 * self.heads


def long_scale(keys: int) -> float:
    """What scores are multiplied by beside a long state, where a softmax is flatter by its number of keys alone."""
    return max(1.0, math.log(keys) / math.log(LONG))


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

    def query_key_value(self, x: Tensor) -> Tensor:
        """x [T, hidden] -> [T, 3 · hidden]"""
        parts = (self.query, self.key, self.value)
        return F.linear(x, torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts]))

    def merge(self, x: Tensor, attended: Tensor) -> Tensor:
        """x, attended [..., hidden] -> [..., hidden]: everything after the attention."""
        x = self.attention_norm(x + self.output(attended))
        return self.norm(x + self.outer(F.gelu(self.inner(x))))


class SetLayer(nn.Module):
    """Options of one question look at each other, without positions, behind a gate. It starts ajar, and its output at
    zero: behind a closed one the output gets no gradient, and neither ever moves."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.heads, self.head_size = 6, shape.hidden // 6
        self.norm = nn.LayerNorm(shape.hidden)
        self.qkv = nn.Linear(shape.hidden, 3 * shape.hidden)
        self.output = nn.Linear(shape.hidden, shape.hidden)
        self.gate = nn.Parameter(torch.full((1,), shape.gate))
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

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
        self.shape = shape
        self.heads, self.levels, places = shape.heads, shape.levels, shape.question_types * shape.levels
        self.type_embedding = nn.Embedding(shape.question_types, shape.hidden)
        self.level_embedding = nn.Embedding(places, shape.hidden)
        self.set_layer = SetLayer(shape)
        self.norm = nn.LayerNorm(shape.hidden)
        self.inner = nn.Linear(shape.hidden, shape.hidden)
        self.outer = nn.Linear(shape.hidden, 1)
        # of the option's own cosines, mean and likeliest place; of the instructions'
        self.match = nn.Embedding(shape.question_types, 2 * shape.heads)
        self.lead_match = nn.Embedding(places, 2 * shape.heads)
        self.level_bias = nn.Embedding(places, 1)
        if shape.rivals:
            self.own_rivals, self.rivals = nn.Linear(shape.hidden, shape.rivals), nn.Linear(3, shape.rivals, bias=False)
            self.rivals_outer = nn.Linear(shape.rivals, 1, bias=False)
            nn.init.zeros_(self.rivals_outer.weight)
        for table in (self.type_embedding, self.level_embedding, self.lead_match, self.level_bias):
            nn.init.zeros_(table.weight)
        nn.init.normal_(self.outer.weight, std=0.05)
        nn.init.zeros_(self.outer.bias)
        self.start_match()

    @torch.no_grad()
    def start_match(self) -> None:
        """choice starts as similarity, levels are a bit alike what they describe, yes (level 2) where the cosines of
        instructions and state are above 0.3."""
        self.match.weight.copy_(torch.tensor([10.0, 0.0, 3.0])[:, None].expand(-1, 2 * self.heads))
        for level, sign in ((1, -1.0), (2, 1.0)):
            self.lead_match.weight[self.levels + level] = 1.5 * sign
            self.level_bias.weight[self.levels + level] = -0.9 * sign

    def forward(self, vectors: Tensor, question_type: Tensor, levels: Tensor, mask: Tensor | None = None) -> Tensor:
        """vectors [Q, K, hidden], question_type [Q], levels [Q, K] -> logits [Q, K]"""
        # options of a yes/no question come as false, true: their places are their levels
        counted = torch.arange(1, levels.shape[1] + 1, device=levels.device) * (question_type == NOUL)[:, None]
        places = levels + counted.clamp(max=self.levels - 1) + self.levels * question_type[:, None]
        own, lead = vectors[..., -4 * self.heads: -2 * self.heads], vectors[..., -2 * self.heads:]
        match = (own * self.match(question_type)[:, None, :] + lead * self.lead_match(places)).sum(-1) + self.level_bias(places)[..., 0]
        x = vectors + self.type_embedding(question_type)[:, None, :] + self.level_embedding(places)
        x = self.norm(self.set_layer(x, mask))
        logits = self.outer(F.gelu(self.inner(x))).squeeze(-1) + match
        if not self.shape.rivals:
            return logits
        rivals = F.gelu(self.own_rivals(x) + self.rivals(self.beside(logits if mask is None else logits + mask[:, 0, 0])))
        return logits + self.rivals_outer(rivals).squeeze(-1)

    def beside(self, logits: Tensor) -> Tensor:
        """logits [Q, K] -> [Q, K, 3]: how far an option stands above the best other and above all others together, and its share"""
        count = logits.shape[1]
        others = logits[:, None, :].masked_fill(torch.eye(count, dtype=torch.bool, device=logits.device), MASKED)
        best = (logits - others.amax(-1)).clamp(-FURTHEST, FURTHEST)
        total = (logits - others.logsumexp(-1)).clamp(-FURTHEST, FURTHEST)
        return torch.stack([best, total, torch.sigmoid(total)], -1)


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
        self.piece_projection = nn.Linear(hidden, shape.projected)
        self.lead_projection = nn.Linear(hidden, shape.projected, bias=False)
        if shape.pair:
            self.pair_projection = nn.Linear(2 * hidden, shape.projected, bias=False)
            nn.init.zeros_(self.pair_projection.weight)
        self.state_key, self.state_value = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.match_state, self.match_piece, self.match_lead = (nn.Linear(hidden, hidden) for _ in range(3))
        self.sharpness = nn.Parameter(torch.tensor([SHARPNESS, SHARPNESS]))  # of likeness: for pieces, for instructions
        self.head_module = Head(shape)
        nn.init.zeros_(self.window_indexes.weight)
        nn.init.eye_(self.piece_projection.weight)
        nn.init.zeros_(self.piece_projection.bias)
        nn.init.zeros_(self.lead_projection.weight)
        self.start_match()

    @torch.no_grad()
    def start_match(self, floor: float = 0.2) -> None:
        """State keys and values start as those of the last layer, the match as the plain cosine of mean vectors.

        `match_state` must undo `state_value`: singular values under `floor` are raised, so that the inverse is tame.
        """
        last = self.layers[-1]
        left, values, right = torch.linalg.svd(last.value.weight)
        values = values.clamp(min=floor)
        self.state_key.load_state_dict(last.key.state_dict())
        self.state_value.weight.copy_(left @ torch.diag(values) @ right)
        self.state_value.bias.copy_(last.value.bias)
        self.match_state.weight.copy_(right.T @ torch.diag(1 / values) @ left.T)
        self.match_state.bias.copy_(-self.match_state.weight @ last.value.bias)
        for match in (self.match_piece, self.match_lead):
            nn.init.eye_(match.weight)
            nn.init.zeros_(match.bias)

    # --- the three graphs -------------------------------------------------------------------------------------

    def encode(self, token_ids: Tensor, segment: Tensor, window_index: Tensor) -> list[KeyValue]:
        """token_ids [W, S], segment [W], window_index [W] -> per layer key, value [W, heads, S, head_size]"""
        x = self.words(token_ids) + self.positions.weight[: token_ids.shape[1]]
        x = x + (self.segments(segment) + self.window_indexes(window_index))[:, None, :]
        x = self.embedding_norm(x)
        cache: list[KeyValue] = []
        for layer in self.layers:
            key, value = self.split(layer.key(x)), self.split(layer.value(x))
            cache.append((key, value))
            x = layer.merge(x, self.join(attention(self.split(layer.query(x)), key, value, None)))
        return [*cache[:-1], (self.split(self.state_key(x)), self.split(self.state_value(x)))]

    def answer(self, token_ids: Tensor, positions: Tensor, branch: Tensor, pieces: Tensor,
               cache: list[KeyValue]) -> Tensor:
        """token_ids, positions, branch [1, B], pieces [P] = 1..P, cache per layer [1, heads, S, head_size]
        -> piece vectors [P, hidden]"""
        x = self.embedding_norm(self.words(token_ids) + self.positions(positions) + self.segments.weight[1])
        mask = self.branch_mask(branch, cache[0][0].shape[2])
        scale = long_scale(cache[0][0].shape[2]) if self.shape.long_scale else 1.0
        for layer, (key, value) in zip(self.layers, cache):
            keys = torch.cat([key, self.split(layer.key(x))], 2)
            values = torch.cat([value, self.split(layer.value(x))], 2)
            x = layer.merge(x, self.join(attention(self.split(layer.query(x)) * scale, keys, values, mask)))
        member = (branch == torch.cat([torch.zeros_like(pieces[:1]), pieces])[:, None]).to(x.dtype)  # [1 + P, B]
        mean = torch.matmul(member / member.sum(1, keepdim=True), x[0])
        state = self.join(cache[-1][1])  # [1, S, hidden]
        own, lead = self.match_piece(mean[1:]), self.match_lead(mean[:1])
        places = self.likest_places(torch.cat([self.sought(own, 0), self.sought(lead, 1)])[None], state)[0]
        return self.piece_vectors(mean[1:], mean[:1], state.mean(1), (places[:-1], places[-1:]))

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

    def piece_vectors(self, mean: Tensor, lead: Tensor, state: Tensor, places: tuple[Tensor, Tensor]) -> Tensor:
        """mean of pieces [P, hidden], of their instructions [P or 1, hidden]; of the state's last values, over all of it
        [P or 1, hidden] and over the places likest to either -> [P, hidden]"""
        own, of_lead = self.match_piece(mean), self.match_lead(lead)
        whole, at_own, at_lead = (self.match_state(part) for part in (state, *places))
        own = [self.partial_cosines(own, right) for right in (whole, at_own)]
        of_lead = [self.partial_cosines(of_lead, right).expand(len(mean), -1) for right in (whole, at_lead)]
        projected = self.piece_projection(mean) + self.lead_projection(lead)
        if self.shape.pair:
            projected = projected + self.pair_projection(self.compared(self.match_lead(lead), at_lead))
        return torch.cat([projected, *own, *of_lead], -1)

    def compared(self, left: Tensor, right: Tensor) -> Tensor:
        """[N, hidden] twice -> product and difference of both at one length, [N, 2 · hidden]"""
        left, right = (side / (side.square().sum(-1, keepdim=True) + 1e-12).sqrt() * self.shape.hidden**0.5 for side in (left, right))
        return torch.cat([left * right, left - right], -1)

    def sought(self, left: Tensor, kind: int) -> Tensor:
        """left [N, hidden] of `match_piece` (kind 0) or `match_lead` (1) -> what a state value must be like, [N, hidden]

        left · match_state(value) without running `match_state` over the state; its bias is the same everywhere.
        """
        norm = (left.square().sum(-1, keepdim=True) + 1e-12).sqrt()
        return torch.matmul(left / norm, self.match_state.weight) * self.sharpness[kind]

    def likest_places(self, sought: Tensor, state: Tensor, mask: Tensor | None = None) -> Tensor:
        """sought [R, N, hidden], state [R, S, hidden], additive mask [R, 1, S] -> means of the state by likeness [R, N, hidden]"""
        scores = torch.bmm(sought, state.transpose(1, 2))
        return torch.bmm(torch.softmax(scores if mask is None else scores + mask, -1), state)

    def partial_cosines(self, left: Tensor, right: Tensor) -> Tensor:
        """[N, hidden], [N or 1, hidden] -> [N, heads], which sum up to the cosine"""
        norms = (left.square().sum(-1, keepdim=True) * right.square().sum(-1, keepdim=True) + 1e-12).sqrt()
        return (left * right / norms).view(-1, self.shape.heads, self.shape.head_size).sum(-1)

    # --- many questions at once -------------------------------------------------------------------------------

    def forward_batch(self, batch: "Batch", match_dropout: float = 0.0, shares: list[Tensor] | None = None) -> Tensor:
        """-> logits [Q, Kmax] float32; places without an option hold MASKED

        match_dropout: share of the questions that are answered without the match features, so that likeness never suffices
        shares: takes up, layer by layer and of the readout, how much attention goes to the evidence (`evidence.py`)
        """
        b = batch
        x = self.words(b.token_ids) + self.positions(b.positions) + self.segments(b.segments)
        x = torch.cat([x[: b.state_tokens] + self.window_indexes(b.window_index), x[b.state_tokens:]])
        x = self.embedding_norm(x)
        for number, layer in enumerate(self.layers[:-1]):
            qkv = layer.query_key_value(x)
            if shares is not None and b.evidence and number in evidence.LAYERS:
                shares.append(evidence.looked_at(qkv, b.evidence, self.shape.heads))
            x = layer.merge(x, read_layer(qkv, b, self.shape.heads))
        return self.last_layer(b, x, match_dropout, shares)

    def last_layer(self, b: "Batch", x: Tensor, match_dropout: float = 0.0, shares: list[Tensor] | None = None) -> Tensor:
        """As the others, but branches read the finished state."""
        layer, heads = self.layers[-1], self.shape.heads
        state, x = x[: b.state_tokens], x[b.state_tokens:]
        state = layer.merge(state, read_windows(layer.query_key_value(state), b, heads))
        state_value = self.state_value(state)
        read = torch.cat([self.state_key(state), state_value], 1)
        x = layer.merge(x, read_state(layer.query_key_value(x), read, b, heads))
        return self.read_out(b, x, state_value, match_dropout, shares)

    def read_out(self, b: "Batch", x: Tensor, state_value: Tensor, match_dropout: float = 0.0, shares: list[Tensor] | None = None) -> Tensor:
        """x [branch tokens, hidden], state_value [state tokens, hidden] -> logits [Q, Kmax]"""
        x, state_value, pieces = x.float(), state_value.float(), b.piece_row.shape[0]
        with torch.autocast(x.device.type, enabled=False):
            # the last row collects the tokens of the instructions
            mean = torch.zeros(pieces + 1, self.shape.hidden, device=x.device).index_add(0, b.token_piece, x)[:pieces]
            mean = mean / b.piece_lengths[:, None]
            windows = torch.zeros(b.window_count, self.shape.hidden, device=x.device)
            windows = windows.index_add(0, b.token_window, state_value)
            state = (b.row_windows @ windows) / b.row_state_tokens[:, None]
            lead = torch.zeros(len(b.lead_lengths) + 1, self.shape.hidden, device=x.device).index_add(0, b.token_lead, x)[:-1]
            lead = lead / b.lead_lengths[:, None]
            places = self.batch_places(b, self.match_piece(mean), self.match_lead(lead), state_value)
            if shares is not None and b.evidence:
                shares.append(evidence.found_by(self.sought(self.match_lead(lead[b.evidence.rows]), 1), state_value, b.evidence))
            vectors = self.piece_vectors(mean, lead[b.piece_row], state[b.piece_row], places)
            options = torch.zeros(b.option_count, self.shape.hidden, device=x.device)
            options = options.index_add(0, b.piece_option, vectors * b.piece_weight[:, None])
            mask = torch.zeros(b.option_mask.shape, device=x.device).masked_fill(~b.option_mask, MASKED)
            vectors = options[b.option_slots]
            if match_dropout:
                kept = (torch.rand(len(vectors), 1, 1, device=x.device) >= match_dropout).float().expand(-1, 1, 4 * self.shape.heads)
                vectors = vectors * torch.cat([torch.ones(len(vectors), 1, self.shape.projected, device=x.device), kept], -1)
            logits = self.head_module(vectors, b.question_type, b.levels, mask[:, None, None, :])
            return logits.masked_fill(~b.option_mask, MASKED)


    def batch_places(self, b: "Batch", own: Tensor, lead: Tensor, state_value: Tensor) -> tuple[Tensor, Tensor]:
        """own [P, hidden], lead [R, hidden], state_value [state tokens, hidden] -> for every piece both means by likeness"""
        sought = torch.zeros(len(lead), int(b.piece_place.max()) + 2, self.shape.hidden, device=own.device)
        sought = sought.index_put((b.piece_row, b.piece_place), self.sought(own, 0))
        sought = torch.cat([sought[:, :-1], self.sought(lead, 1)[:, None]], 1)
        found, start = [], 0
        for group in b.rows:
            rows, keys = slice(start, start + len(group.slots)), group.keys.shape[1]
            mask = None if group.mask is None else group.mask[:, 0, :1, :keys]
            found.append(self.likest_places(sought[rows], F.embedding(group.keys, state_value), mask))
            start += len(group.slots)
        found = torch.cat(found)
        return found[b.piece_row, b.piece_place], found[b.piece_row, -1]


# --- weights ----------------------------------------------------------------------------------------------------


def from_minilm(folder: str | Path, shape: Shape = Shape(), kind: type[KevModel] = KevModel) -> KevModel:
    """A new model with the encoder of all-MiniLM-L6-v2 (a Hugging Face BERT folder); `kind` may be a variant to try."""
    from safetensors.torch import load_file

    model = kind(shape)
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
    ours = {"window_indexes", "piece_projection", "lead_projection", "pair_projection", "match_state", "match_piece", "match_lead", "sharpness", "state_key", "state_value", "head_module"}
    left = [name for name in missing if name.split(".")[0] not in ours]
    if left or unexpected:
        raise ValueError(f"base model does not fit: missing {left}, unexpected {unexpected}")
    model.start_match()
    return model


def save(model: KevModel, path: str | Path, **extra) -> None:
    """Weights and shape; `extra` must be plain data or tensors."""
    torch.save({"shape": asdict(model.shape), "model": model.state_dict(), **extra}, path)


def load(path: str | Path, averaged: bool = False) -> KevModel:
    """The model of a checkpoint or of final.pt, in fp32 and evaluation mode; averaged: over the last steps of the run, which
    only a checkpoint has."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    model = KevModel(Shape(**saved["shape"]))
    model.load_state_dict(saved["model"] | (saved["average"]["mean"] if averaged else {}))
    return model.eval()
