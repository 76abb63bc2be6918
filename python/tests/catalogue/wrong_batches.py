"""Functions of batches that read another row's numbers, or are wrong on ragged batches (short rows end in 0 and -1).

Functions with a sentence on why they are wrong are right on batches of one row.
"""

from __future__ import annotations

import torch

from catalogue import enter, wrong
from catalogue.parts import batch, padded, tests, verified, weights_after


@wrong("All rows get the largest number of accepted drafts of the batch.", "row_alone", batched=True)
def batch_maximum(p, q, drafts):
    return batch(p, q, drafts, count=lambda n: n.max().expand_as(n))


@wrong("All rows get the smallest number of accepted drafts of the batch.", "row_alone", batched=True)
def batch_minimum(p, q, drafts):
    return batch(p, q, drafts, count=lambda n: n.min().expand_as(n))


@wrong("Where no row of the batch accepts a draft, all tokens are drawn from p.", "neighbours", batched=True)
def short_cut_where_all_reject(p, q, drafts):
    tokens = batch(p, q, drafts)
    if len(p) > 1 and bool((tokens[:, 1:] < 0).all()):
        tokens[:, 0] = torch.multinomial(p[:, 0], 1)[:, 0]
    return tokens


@wrong("All rows are tested with the coins of the first row.", "row_alone", batched=True)
def coins_of_first_row(p, q, drafts):
    return batch(p, q, drafts, coins=torch.rand(drafts.shape)[0])


@wrong("One coin for each position is drawn for the whole batch.", "independent_rows", batched=True)
def coins_without_batch(p, q, drafts):
    return batch(p, q, drafts, coins=torch.rand(drafts.shape[1]))


@wrong("The residual is divided by its sum over the batch.", "row_alone", batched=True)
def residual_sum_of_batch(p, q, drafts):
    n = tests(p, q, drafts, torch.rand(drafts.shape)).long().cumprod(1).sum(1)
    rest = weights_after(p, q, n, torch.full((len(p),), drafts.shape[1]))
    cdf = (rest / rest.sum()).cumsum(-1)
    return padded(drafts, n, (torch.rand(len(p), 1) >= cdf).sum(1).clamp(max=p.shape[-1] - 1))


def moved(p, q, drafts, move):
    """Returns right tokens, except that `move` exchanges the last tokens between rows."""
    tokens = batch(p, q, drafts)
    n = (tokens >= 0).sum(1) - 1
    return padded(drafts, n, move(tokens.gather(1, n[:, None])[:, 0], n < drafts.shape[1]))


@wrong("The last token comes from the row of the neighbour.", "slots_permuted", batched=True)
def token_of_neighbour(p, q, drafts):
    return moved(p, q, drafts, lambda last, rejected: last.roll(1))


@wrong("Rows that reject are written one after the other, so their tokens move.", "slots_permuted", batched=True)
def corrections_compacted(p, q, drafts):
    return moved(p, q, drafts, lambda last, rejected: torch.cat([last[rejected], last[~rejected]]))


@wrong("The loop over positions ends for all rows where the first one rejects.", "row_alone", batched=True)
def stops_for_all(p, q, drafts):
    def stopped(n):
        return n.clamp(max=int(n.min()) + 1)

    return batch(p, q, drafts, count=stopped)


@enter("passed", batched=True)
def ragged_padded(p, q, drafts, lengths):
    return batch(p, q, drafts, lengths)


@enter("passed", batched=True)
def ragged_packed(p, q, drafts, lengths):
    coins = torch.zeros(drafts.shape)
    coins[torch.arange(drafts.shape[1]) < lengths[:, None]] = torch.rand(int(lengths.sum()))
    return batch(p, q, drafts, lengths, coins)


@enter("passed", batched=True)
def ragged_row_by_row(p, q, drafts, lengths):
    some = [verified(p[b, : n + 1], q[b, :n], drafts[b, :n]) for b, n in enumerate(lengths.tolist())]
    return [[*tokens, *[-1] * (drafts.shape[1] + 1 - len(tokens))] for tokens in some]


@enter("passed", batched=True)
def rounds_by_the_place_in_the_batch(p, q, drafts, lengths):
    wide = torch.where(torch.arange(len(p)) % 2 == 1, 1.7, 1.0)[:, None, None]
    return batch(p * wide / wide, q, drafts, lengths)


@enter("failed", batched=True)
def reads_the_padding(p, q, drafts, lengths):
    # Every padding row adds the same number to all weights, as if exp(0) of its entries were part of the sum.
    weights = p + 0.01 * (p.sum(2) == 0).sum(1)[:, None, None] / p.shape[2]
    return batch(weights / weights.sum(2, keepdim=True), q, drafts, lengths)


@enter("failed", batched=True)
def last_row_of_the_padding(p, q, drafts, lengths):
    behind = p.clone()
    behind[torch.arange(len(p)), lengths] = p[:, -1]
    return batch(behind, q, drafts, lengths)


@enter("failed", "row_alone", batched=True)
def longest_of_the_batch(p, q, drafts, lengths):
    share = (lengths.max() - lengths)[:, None, None] * 0.03
    return batch((1 - share) * p + share / p.shape[2], q, drafts, lengths)


@enter("failed", "row_alone", batched=True)
def most_accepted_of_the_batch(p, q, drafts, lengths):
    tokens = batch(p, q, drafts, lengths)
    most = int((tokens >= 0).sum(1).max())
    return torch.where((torch.arange(tokens.shape[1]) < most) & (tokens < 0), 0, tokens)


@enter("failed", batched=True)
def coin_of_the_neighbour(p, q, drafts, lengths):
    return batch(p, q, drafts, lengths, torch.rand(drafts.shape).roll(1, 0))


# The rows share their coins, so only each row by itself has the right distribution. The verdict notes that rows were
# judged alone.
@enter("passed", words="one entry a row", batched=True)
def one_row_of_coins(p, q, drafts, lengths):
    return batch(p, q, drafts, lengths, torch.rand(drafts.shape[1]).expand(drafts.shape))


@enter("failed", batched=True)
def packed_coins_out_of_step(p, q, drafts, lengths):
    packed = torch.rand(int(lengths.sum()))
    first = (lengths.cumsum(0) - lengths).roll(-1)
    at = (first[:, None] + torch.arange(drafts.shape[1])).clamp(max=len(packed) - 1)
    return batch(p, q, drafts, lengths, packed[at])
