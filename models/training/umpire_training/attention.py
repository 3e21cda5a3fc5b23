"""Attention over packed tokens: only its rectangles are padded, and its backward is written out.

On CPUs `packed_attention.cpp` does it, where it can be built; this is for all else. PyTorch's own backward of attention
takes four to eleven times as long on CPUs. Here the products are plain, what is gathered is gathered once for query, key
and value together, and only the state's keys and values, which several rows read, are summed up by place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from .native_attention import LayerAttention, RunsAttention, fits

if TYPE_CHECKING:
    from .batch import Batch, Group

MASKED = -1e4  # exp(-1e4) is exactly 0 in fp32: what is masked has no influence at all


def by_head(x: Tensor, parts: int, heads: int) -> tuple[Tensor, ...]:
    """[N, S, parts · hidden] -> parts times [N · heads, S, head_size]"""
    batch, size, width = x.shape
    x = x.view(batch, size, parts, heads, width // (parts * heads)).permute(2, 0, 3, 1, 4)
    return x.reshape(parts, batch * heads, size, -1).unbind(0)


def by_token(parts: list[Tensor], heads: int) -> Tensor:
    """Of each part [N · heads, S, head_size] -> [N · S, parts · hidden]"""
    count, size, width = parts[0].shape
    out = parts[0].new_empty(count // heads, size, len(parts), heads, width)
    for i, part in enumerate(parts):
        out[:, :, i] = part.view(-1, heads, size, width).transpose(1, 2)
    return out.view(-1, len(parts) * heads * width)


def shares_of(query: Tensor, key: Tensor, mask: Tensor | None, heads: int) -> Tensor:
    """query, key [N · heads, S or T, head_size], mask [N, 1, 1 or S, T] -> softmax of the scores [N · heads, S, T]"""
    scores = torch.bmm(query, key.transpose(1, 2))
    if mask is not None:
        scores.view(-1, heads, *scores.shape[1:]).add_(mask.to(scores.dtype))
    return torch.softmax(scores, -1)


def real(rows: Tensor, flat: Tensor | None) -> Tensor:
    """[N · S, width] -> the rows that are no padding"""
    return rows if flat is None else rows.index_select(0, flat)


def rectangle(rows: Tensor, slots: Tensor, flat: Tensor | None, heads: int) -> Tensor:
    """Rows of a group without its padding -> [N · heads, S, head_size], zero where nothing is"""
    if flat is not None:
        whole = rows.new_zeros(slots.numel(), rows.shape[1])
        whole.index_copy_(0, flat, rows)
        rows = whole
    return by_head(rows.view(*slots.shape, -1), 1, heads)[0]


def backward_of(grad: Tensor, query: Tensor, key: Tensor, value: Tensor, shares: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """All [N · heads, S or T, head_size] -> gradients of query, key, value; the query is already scaled."""
    by_share = torch.bmm(grad, value.transpose(1, 2))
    by_score = torch._softmax_backward_data(by_share, shares, -1, shares.dtype)
    return torch.bmm(by_score, key), torch.bmm(by_score.transpose(1, 2), query), torch.bmm(shares.transpose(1, 2), grad)


def read_layer(qkv: Tensor, batch: "Batch", heads: int) -> Tensor:
    """Windows read themselves, rows the windows and themselves: qkv [tokens, 3 · hidden] -> [tokens, hidden]"""
    first, hidden = batch.state_tokens, qkv.shape[1] // 3
    if fits(qkv, heads):
        return LayerAttention.apply(qkv.float(), batch.window_runs, batch.row_runs, first, heads)
    state = WindowAttention.apply(qkv[:first], batch.windows, heads)
    return torch.cat([state, BranchAttention.apply(qkv[first:], qkv[:first, hidden:], first, batch.rows, heads)])


def read_windows(qkv: Tensor, batch: "Batch", heads: int) -> Tensor:
    """Windows read themselves: qkv [state tokens, 3 · hidden] -> [state tokens, hidden]"""
    if fits(qkv, heads):
        qkv = qkv.float()
        return RunsAttention.apply(qkv, qkv[:0, : 2 * qkv.shape[1] // 3], batch.window_runs, heads)
    return WindowAttention.apply(qkv, batch.windows, heads)


def read_state(qkv: Tensor, state: Tensor, batch: "Batch", heads: int) -> Tensor:
    """Rows read their state and themselves: qkv [branch tokens, 3 · hidden], state [state tokens, 2 · hidden] keys and values
    -> [branch tokens, hidden]"""
    if fits(qkv, heads):
        return RunsAttention.apply(qkv.float(), state.float().contiguous(), batch.row_runs, heads)
    return BranchAttention.apply(qkv, state, batch.state_tokens, batch.rows, heads)


class WindowAttention(torch.autograd.Function):
    """Windows read themselves: packed query, key, value [state tokens, 3 · hidden] -> [state tokens, hidden]"""

    @staticmethod
    def forward(ctx, qkv: Tensor, groups: list["Group"], heads: int) -> Tensor:
        width = qkv.shape[1] // (3 * heads)
        found, kept = [], []
        for group in groups:
            query, key, value = by_head(F.embedding(group.slots, qkv), 3, heads)
            query = query * width**-0.5
            shares = shares_of(query, key, group.mask, heads)
            found.append(real(by_token([torch.bmm(shares, value)], heads), group.flat))
            kept += [query, key, value, shares]
        ctx.save_for_backward(*kept)
        ctx.groups, ctx.heads = groups, heads
        return torch.cat(found)

    @staticmethod
    def backward(ctx, grad: Tensor):
        found, start, kept, heads = [], 0, ctx.saved_tensors, ctx.heads
        for i, group in enumerate(ctx.groups):
            query, key, value, shares = kept[4 * i: 4 * i + 4]
            count = group.slots.numel() if group.flat is None else len(group.flat)
            rows = rectangle(grad[start: start + count], group.slots, group.flat, heads)
            by_query, by_key, by_value = backward_of(rows, query, key, value, shares)
            by_query.mul_(query.shape[-1] ** -0.5)
            found.append(real(by_token([by_query, by_key, by_value], heads), group.flat))
            start += count
        return torch.cat(found), None, None


class BranchAttention(torch.autograd.Function):
    """Rows read their state and themselves.

    qkv [branch tokens, 3 · hidden] of the rows, state [state tokens, 2 · hidden] keys and values -> [branch tokens, hidden]
    """

    @staticmethod
    def forward(ctx, qkv: Tensor, state: Tensor, first: int, groups: list["Group"], heads: int) -> Tensor:
        """first: the packed place of the first branch token, which the groups' slots count from"""
        hidden = qkv.shape[1] // 3
        found, kept = [], []
        for group in groups:
            own = F.embedding((group.slots - first).clamp(min=0), qkv)
            read = F.embedding(group.keys, state)
            [query] = by_head(own[..., :hidden], 1, heads)
            key, value = by_head(torch.cat([read, own[..., hidden:]], 1), 2, heads)
            query = query.view(len(group.slots), heads, -1, hidden // heads) * (group.scale * (hidden // heads) ** -0.5).to(query.dtype)
            query = query.view(-1, *query.shape[2:])
            shares = shares_of(query, key, group.mask, heads)
            found.append(real(by_token([torch.bmm(shares, value)], heads), group.flat))
            kept += [query, key, value, shares]
        ctx.save_for_backward(*kept)
        ctx.groups, ctx.heads, ctx.state_tokens = groups, heads, len(state)
        return torch.cat(found)

    @staticmethod
    def backward(ctx, grad: Tensor):
        found, start, kept, heads = [], 0, ctx.saved_tensors, ctx.heads
        state, by_state = torch.zeros(ctx.state_tokens, 2 * grad.shape[1], dtype=grad.dtype, device=grad.device), []
        for i, group in enumerate(ctx.groups):
            query, key, value, shares = kept[4 * i: 4 * i + 4]
            count, keys = group.slots.numel() if group.flat is None else len(group.flat), group.keys.shape[1]
            rows = rectangle(grad[start: start + count], group.slots, group.flat, heads)
            by_query, by_key, by_value = backward_of(rows, query, key, value, shares)
            by_query = by_query.view(len(group.slots), heads, *by_query.shape[1:]) * (group.scale * query.shape[-1] ** -0.5).to(grad.dtype)
            by_query = by_query.view(-1, *by_query.shape[2:])
            own = by_token([by_query, by_key[:, keys:], by_value[:, keys:]], heads)
            found.append(real(own, group.flat))
            read = by_token([by_key[:, :keys], by_value[:, :keys]], heads)
            by_state.append(torch.ops.aten.embedding_dense_backward(read, group.keys.flatten(), ctx.state_tokens, -1, False))
            start += count
        for part in by_state:
            state += part
        return torch.cat(found), state, None, None, None


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """[N, heads, S, head_size] -> same. mask additive, broadcastable to [N, heads, S, T]"""
    return F.scaled_dot_product_attention(query, key, value, attn_mask=None if mask is None else mask.to(query.dtype))
