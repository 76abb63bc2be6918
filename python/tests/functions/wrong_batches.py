"""Functions of a ragged batch, whose shorter rows end in zeros and -1: right ones, and faults that other rows show."""

from __future__ import annotations

import torch

from functions.fault_table import chain, enter


def ragged(p, q, drafts, lengths, coins=None):
    """A right verifier of a batch: coins [B, L], those behind a row's length unused."""
    count, longest = drafts.shape
    rows, places = torch.arange(count), torch.arange(longest + 1)
    index = drafts.clamp(min=0)[:, :, None]
    own, other = p[:, :longest].gather(2, index)[:, :, 0], q.gather(2, index)[:, :, 0]
    coins = torch.rand(count, longest) if coins is None else coins
    n = ((places[:longest] < lengths[:, None]) & (coins * other < own)).long().cumprod(1).sum(1)
    row = p[rows, n]
    rest = (row - q[rows, n.clamp(max=longest - 1)]).clamp(min=0)
    rest = torch.where(((n < lengths) & (rest.sum(1) > 0))[:, None], rest, row)
    tokens = torch.cat([drafts, torch.full((count, 1), -1)], 1)
    tokens[rows, n] = torch.multinomial(rest, 1)[:, 0]
    return torch.where(places <= n[:, None], tokens, -1)


@enter("held", batched=True)
def ragged_padded(p, q, drafts, lengths):
    return ragged(p, q, drafts, lengths)


@enter("held", batched=True)
def ragged_packed(p, q, drafts, lengths):
    coins = torch.zeros(drafts.shape)
    coins[torch.arange(drafts.shape[1]) < lengths[:, None]] = torch.rand(int(lengths.sum()))
    return ragged(p, q, drafts, lengths, coins)


@enter("held", batched=True)
def ragged_row_by_row(p, q, drafts, lengths):
    some = [chain(p[b, : n + 1], q[b, :n], drafts[b, :n]) for b, n in enumerate(lengths.tolist())]
    return [[*tokens, *[-1] * (drafts.shape[1] + 1 - len(tokens))] for tokens in some]


@enter("held", batched=True)
def rounds_by_the_place_in_the_batch(p, q, drafts, lengths):
    wide = torch.where(torch.arange(len(p)) % 2 == 1, 1.7, 1.0)[:, None, None]
    return ragged(p * wide / wide, q, drafts, lengths)


@enter("violated", batched=True)
def reads_the_padding(p, q, drafts, lengths):
    weights = p + 0.01 * (p.sum(2) == 0).sum(1)[:, None, None] / p.shape[2]  # a row of zeros still has its e^0
    return ragged(weights / weights.sum(2, keepdim=True), q, drafts, lengths)


@enter("violated", batched=True)
def last_row_of_the_padding(p, q, drafts, lengths):
    behind = p.clone()
    behind[torch.arange(len(p)), lengths] = p[:, -1]  # zeros where the row is shorter
    return ragged(behind, q, drafts, lengths)


@enter("violated", "row_alone", batched=True)
def longest_of_the_batch(p, q, drafts, lengths):
    share = (lengths.max() - lengths)[:, None, None] * 0.03
    return ragged((1 - share) * p + share / p.shape[2], q, drafts, lengths)


@enter("violated", "row_alone", batched=True)
def most_accepted_of_the_batch(p, q, drafts, lengths):
    tokens = ragged(p, q, drafts, lengths)
    most = int((tokens >= 0).sum(1).max())
    return torch.where((torch.arange(tokens.shape[1]) < most) & (tokens < 0), 0, tokens)


@enter("violated", batched=True)
def coin_of_the_neighbour(p, q, drafts, lengths):
    return ragged(p, q, drafts, lengths, torch.rand(drafts.shape).roll(1, 0))


# Rows that share a coin are each exact: the note says that rows were judged alone.
@enter("held", words="one entry a row", batched=True)
def one_row_of_coins(p, q, drafts, lengths):
    return ragged(p, q, drafts, lengths, torch.rand(drafts.shape[1]).expand(drafts.shape))


@enter("violated", batched=True)
def packed_coins_out_of_step(p, q, drafts, lengths):
    packed = torch.rand(int(lengths.sum()))
    first = (lengths.cumsum(0) - lengths).roll(-1)
    at = (first[:, None] + torch.arange(drafts.shape[1])).clamp(max=len(packed) - 1)
    return ragged(p, q, drafts, lengths, packed[at])
