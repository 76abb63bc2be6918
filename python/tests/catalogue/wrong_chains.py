"""Chains that are wrong in one line: the test and its coin, the residual, the row, the count, numbers, and state."""

from __future__ import annotations

import os
from collections import deque
from typing import Any

import torch

from catalogue import enter, wrong
from catalogue.parts import EQUAL, HALF, NEXT, SURE, by_weights, chain, inverted, kept_rest, left_of, ratio, rest_of

THIRD = "L=1 K=1 [] p=(1 2)/3 q=(0 1)/1"
TWO_HALVES = "L=2 K=1 [] p=(1 1)/2 q=(0 1)/1"
SAME_THIRDS = "L=1 K=1 [] p=(1 2)/3 q=(1 2)/3"
NEXT_OF_REJECTED = "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1 [0] p=(1 0)/1 q=(1 0)/1"


def part(name: str, on: str, check: str = "exact_distribution", **parts: Any) -> None:
    """Adds `chain` with wrong functions `parts` in place of its right parts."""

    def fn(p, q, drafts):
        return chain(p, q, drafts, **parts)

    enter("failed", check, name=name, on=on, one_line=True)(fn)


# The acceptance test.

# A coin of 0 accepts a draft with p = 0, because the test is <= in place of <.
part("accept_equal", SURE, "zero_support", keep=lambda p, q, i, x: torch.rand(()) <= p[i, x] / q[i, x])
# The ratio is upside down: min(1, q / p).
part(
    "ratio_inverted",
    "L=1 K=1 [] p=(1 2)/3 q=(2 1)/3",
    keep=lambda p, q, i, x: torch.rand(()) < torch.clamp(q[i, x] / p[i, x], max=1),
)
# A draft is accepted where p >= q, without a coin.
part("greedy_test", HALF, keep=lambda p, q, i, x: p[i, x] >= q[i, x])
# Every draft is accepted.
part("accept_always", SURE, keep=lambda p, q, i, x: True)
# A draft is accepted with probability p, as if q were 1.
part(
    "proposal_forgotten", "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2", "answers", keep=lambda p, q, i, x: torch.rand(()) < p[i, x]
)
# The test is turned round: a draft is accepted where the coin is above the ratio.
part("test_turned_round", SURE, keep=lambda p, q, i, x: not ratio(p, q, i, x))
# The coin is a multiple of 1/100.
part("coin_of_percents", THIRD, keep=lambda p, q, i, x: torch.randint(0, 100, (1,)).item() / 100 < p[i, x] / q[i, x])
# The coin has half precision, a grid of 2^-11.
part("coin_in_half", THIRD, keep=lambda p, q, i, x: torch.rand((), dtype=torch.float16).float() * q[i, x] < p[i, x])
# A draft is accepted with probability min(1, p / (0.8 q)), which is larger than min(1, p / q) if p < q.
part("lenient", HALF, keep=lambda p, q, i, x: torch.rand(()) * 0.8 * q[i, x] < p[i, x])
# A draft is kept if it equals a draw from p or passes the ratio test.
part("match_or_ratio", HALF, keep=lambda p, q, i, x: by_weights(p[i]) == x or ratio(p, q, i, x))
# A draft is kept untested where p and q differ by less than 0.1.
part(
    "close_enough",
    "L=1 K=1 [] p=(1 2)/3 q=(1 3)/4",
    keep=lambda p, q, i, x: (p[i, x] - q[i, x]).abs() < 0.1 or ratio(p, q, i, x),
)
# A draft is accepted where its target probability is above 0.3, an arbitrary threshold.
part("typical", HALF, keep=lambda p, q, i, x: p[i, x] > 0.3)
# An epsilon in the denominator rejects drafts with p = q, whose residual is empty.
part("epsilon_in_ratio", EQUAL, "answers", keep=lambda p, q, i, x: torch.rand(()) < p[i, x] / (q[i, x] + 1e-5))
# The first draft is kept without a test.
part("first_draft_unchecked", SURE, keep=lambda p, q, i, x: i == 0 or ratio(p, q, i, x))


@wrong(
    "The coin that rejected a draft also inverts the residual, which then sees only its upper part.",
    on="L=1 K=1 [] p=(1 1 1)/3 q=(0 0 1)/1",
)
def coin_reused_in_residual(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        u = torch.rand(())
        if not u * q[i, x] < p[i, x]:
            return [*drafts[:i].tolist(), inverted(rest_of(p, q, i, x), u)]
    return [*drafts.tolist(), by_weights(p[-1])]


@wrong("The coin that accepted the last draft also draws the token after it.", on=HALF)
def coin_reused_in_bonus(p, q, drafts):
    u = torch.rand(())
    for i, x in enumerate(drafts.tolist()):
        if not u * q[i, x] < p[i, x]:
            return [*drafts[:i].tolist(), by_weights(rest_of(p, q, i, x))]
        if i + 1 < len(drafts):
            u = torch.rand(())
    return [*drafts.tolist(), inverted(p[-1], u)]


@wrong("One coin serves all positions.", on=TWO_HALVES)
def one_coin_for_all_positions(p, q, drafts):
    u = torch.rand(())
    return chain(p, q, drafts, keep=lambda p, q, i, x: u * q[i, x] < p[i, x])


@wrong(
    "The generator is seeded anew before each position, so all positions have one coin.",
    on=TWO_HALVES,
    sampled=4000,
)
def seeded_at_each_position(p, q, drafts):
    seed = int(torch.randint(0, 2**31 - 1, (1,)))

    def keep(p, q, i, x):
        return torch.rand((), generator=torch.Generator().manual_seed(seed)) * q[i, x] < p[i, x]

    return chain(p, q, drafts, keep=keep)


# Functions that are wrong in the draw that replaces a rejected draft.


def reversed_rest(p, q, i, x):
    return torch.relu(q[i] - p[i])


def without_rejected(p, q, i, x):
    return p[i] * (torch.arange(p.shape[1]) != x)


def of_top_two(weights):
    top = weights.topk(min(2, len(weights)))
    return int(top.indices[by_weights(top.values)])


# A rejected draft is replaced by a draw from p, so tokens with p < q come too often.
part("residual_is_target", HALF, rest=lambda p, q, i, x: p[i])
# The difference p - q keeps its negative entries, and multinomial takes no negative weights.
part("residual_not_clipped", SURE, "answers", rest=lambda p, q, i, x: (p[i] - q[i]) / (p[i] - q[i]).abs().sum())
# The absolute difference gives weight to tokens with p < q.
part("residual_absolute", HALF, rest=lambda p, q, i, x: (p[i] - q[i]).abs())
# The residual is (q - p)+: tokens that were proposed too often.
part("residual_reversed", SURE, rest=reversed_rest)
# The most probable residual token is emitted in place of a draw.
part(
    "residual_argmax",
    "L=1 K=1 [] p=(0 1 1)/2 q=(1 0 0)/1",
    rest=lambda p, q, i, x: torch.arange(p.shape[1]) == rest_of(p, q, i, x).argmax(),
    pick=lambda weights: int(weights.int().argmax()) if weights.dtype == torch.bool else by_weights(weights),
)
# Only the rejected token is taken out of p; other tokens with p < q keep their weight.
part("residual_without_rejected", "L=1 K=1 [] p=(0 1 1)/2 q=(1 0 1)/2", rest=without_rejected)
# The least weight of 1e-5, which should prevent an empty residual, gives weight to tokens with p = 0.
part("residual_floor", SURE, rest=lambda p, q, i, x: torch.clamp(p[i] - q[i], min=1e-5))
# An epsilon in the sum leaves the last values of the coin without a cell; argmax then returns 0.
part(
    "epsilon_in_sum",
    SURE,
    pick=lambda w: int((torch.rand(()) < torch.cumsum(w / (w.sum() + 1e-5), dim=-1)).int().argmax()),
)
# The residual is inverted without being divided by its sum, so the last token takes the rest.
part(
    "residual_cdf_not_normalised",
    HALF,
    pick=lambda w: int((torch.rand(()) >= w.cumsum(-1)).sum().clamp(max=len(w) - 1)),
)
# The residual is rounded to half precision, an error of 2^-12.
part(
    "residual_half",
    "L=1 K=1 [] p=(2 3 0)/5 q=(0 0 1)/1",
    rest=lambda p, q, i, x: (p[i].half() - q[i].half()).clamp(min=0).float(),
)
# The draw is cut to the two most probable tokens.
part("draw_of_top_two", "L=1 K=1 [] p=(1 1 1)/3 q=(1 0 0)/1", pick=of_top_two)
# The last entry of the vocabulary is cut off, as if it were padding.
part("last_entry_dropped", EQUAL, "answers", pick=lambda w: by_weights(w[:-1]))
# The correction is drawn from the row after the rejected draft.
part("correction_one_row_late", NEXT_OF_REJECTED, rest=lambda p, q, i, x: p[i + 1])
# The residual takes the last proposal row, whichever draft was rejected.
part(
    "residual_of_last_proposal",
    "L=2 K=1 [] p=(1 1)/2 q=(0 1)/1 [1] p=(1 1)/2 q=(1 0)/1",
    rest=lambda p, q, i, x: left_of(p[i], q[-1]),
)


@wrong("The correction is a draw from p, drawn once more if it is the rejected draft.", on=HALF)
def residual_by_resampling(p, q, drafts):
    tokens = chain(p, q, drafts, rest=lambda p, q, i, x: p[i])
    n = len(tokens) - 1
    return [*tokens[:-1], by_weights(p[n])] if n < len(drafts) and tokens[n] == int(drafts[n]) else tokens


# Rows of another position.


@wrong("Draft i is tested against p[i + 1], the target after it.", on=NEXT)
def target_one_row_late(p, q, drafts):
    return chain(torch.cat([p[1:], p[-1:]]), q, drafts)


@wrong("All drafts are tested against the first target row.", on=NEXT.replace("L=1", "L=2"))
def target_row_zero(p, q, drafts):
    return chain(torch.cat([p[:1].expand(len(q), -1), p[-1:]]), q, drafts)


@wrong(
    "All drafts are tested against the first proposal row.",
    on="L=2 K=1 [] p=(1 1)/2 q=(1 1)/2 [0] p=(1 1)/2 q=(1 0)/1 [1] p=(1 1)/2 q=(1 0)/1",
)
def proposal_row_zero(p, q, drafts):
    return chain(p, q, drafts, keep=lambda p, q, i, x: torch.rand(()) * q[0, x] < p[i, x])


@wrong(
    "Draft i is tested against q[i + 1], the next draft's proposal.",
    on="L=2 K=1 [] p=(1 1)/2 q=(0 1)/1 [1] p=(1 1)/2 q=(1 1)/2",
)
def proposal_one_row_late(p, q, drafts):
    late = torch.cat([q[1:], q[-1:]])
    return chain(p, q, drafts, keep=lambda p, q, i, x: torch.rand(()) * late[i, x] < p[i, x])


# Functions that are wrong in the number of accepted drafts, or in the token after them.


def kept(p, q, drafts):
    """Returns which drafts pass their test, [L] of bool."""
    at = torch.arange(len(drafts))
    return torch.rand(len(drafts)) * q[at, drafts] < p[at, drafts]


def count(p, q, drafts):
    return int(kept(p, q, drafts).long().cumprod(0).sum())


def last(p, q, n):
    return by_weights(p[n] if n == len(q) else rest_of(p, q, n, None))


@wrong("The token after the last draft is drawn from the row before it.", on=NEXT)
def bonus_of_last_draft(p, q, drafts):
    return chain(torch.cat([p[:-1], p[-2:-1]]), q, drafts)


@wrong("The token after the last draft is drawn from a residual although nothing was rejected.", on=HALF)
def bonus_from_residual(p, q, drafts):
    n = count(p, q, drafts)
    return [*drafts[:n].tolist(), by_weights(left_of(p[n], q[min(n, len(q) - 1)]))]


@wrong("Nothing is emitted for a rejected draft.", "answers", SURE)
def correction_forgotten(p, q, drafts):
    tokens = chain(p, q, drafts)
    return tokens if len(tokens) > len(drafts) else tokens[:-1]


@wrong(
    "argmax over no rejection is 0, so a chain accepted as a whole is corrected at its first draft.", "answers", EQUAL
)
def first_rejection_by_argmax(p, q, drafts):
    n = int((~kept(p, q, drafts)).int().argmax())
    return [*drafts[:n].tolist(), last(p, q, n)]


@wrong("The count stops one late: the rejected draft is emitted.", on=SURE)
def stops_one_late(p, q, drafts):
    n = min(count(p, q, drafts) + 1, len(drafts))
    return [*drafts[:n].tolist(), by_weights(p[n])]


@wrong("The count stops one early: the last accepted draft is replaced by a draw from its residual.", on=HALF)
def stops_one_early(p, q, drafts):
    n = max(count(p, q, drafts) - 1, 0)
    return [*drafts[:n].tolist(), by_weights(left_of(p[n], q[n]))]


@wrong(
    "Accepted drafts behind the first rejection are counted too.",
    on="L=2 K=1 [] p=(0 1)/1 q=(1 0)/1 [0] p=(1 0)/1 q=(1 0)/1",
)
def counts_all_accepted(p, q, drafts):
    n = int(kept(p, q, drafts).sum())
    return [*drafts[:n].tolist(), last(p, q, n)]


@wrong(
    "A rejected draft is left out, and the loop goes on behind it.",
    on="L=2 K=1 [] p=(0 1)/1 q=(1 0)/1 [0] p=(1 0)/1 q=(1 0)/1 [1] p=(0 1)/1 q=(1 0)/1",
)
def rejected_drafts_left_out(p, q, drafts):
    ok = kept(p, q, drafts)
    return drafts[ok].tolist() if ok.any() else [last(p, q, 0)]


@wrong("The bonus token follows a correction too, from a row after the rejected draft.", on=NEXT_OF_REJECTED)
def bonus_after_correction(p, q, drafts):
    tokens = chain(p, q, drafts)
    return tokens if len(tokens) > len(drafts) else [*tokens, by_weights(p[len(tokens)])]


# Functions that are wrong in logits, temperatures, running sums, noise or the ends of a coin's grid.


@wrong("The temperature is applied to p alone after q was drawn with it, so p is sharpened twice.", on=SAME_THIRDS)
def temperature_twice(p, q, drafts):
    return chain(p ** (1 / 0.7) / (p ** (1 / 0.7)).sum(-1, keepdim=True), q, drafts)


@wrong("Rows that are probabilities go through softmax once more.", on=EQUAL)
def softmax_of_probabilities(p, q, drafts):
    return chain(p.softmax(-1), q.softmax(-1), drafts)


@wrong("The ratio of logits stands for the ratio of probabilities.", logits=True, on="L=1 K=1 [] p=(1 1)/2 q=(1 3)/4")
def ratio_of_logits(p, q, drafts):
    kept = lambda *at: torch.rand(()) < p[at[2:]] / q[at[2:]]  # noqa: E731
    return chain(p.exp(), q.exp(), drafts, keep=kept, rest=kept_rest)


@wrong("The coin is compared with the difference of the logits; its logarithm was forgotten.", logits=True, on=HALF)
def logarithm_forgotten(p, q, drafts):
    kept = lambda *at: torch.rand(()) <= (p[at[2:]] - q[at[2:]]).clamp(max=0).add(1)  # noqa: E731
    return chain(p.exp(), q.exp(), drafts, keep=kept)


@wrong("The residual is a difference of logits, clipped, through softmax.", on=SURE, logits=True)
def residual_of_logits(p, q, drafts):
    def rest(_, __, i, x):
        return ((p[i].clamp(min=-50) - q[i].clamp(min=-50)).clamp(min=0) / 50).softmax(-1)

    return chain(p.exp(), q.exp(), drafts, rest=rest)


@wrong("Logits are scaled by a temperature of 0.7 in p, and q is taken as it is.", logits=True, on=SAME_THIRDS)
def temperature_on_target_only(p, q, drafts):
    return chain(torch.softmax(p / 0.7, -1), torch.softmax(q, -1), drafts)


@wrong(
    "A coin of 53 bits becomes 1 in single precision: a draft with p = q is rejected, and argmax of nothing is 0.",
    "zero_support",
    EQUAL,
)
def coin_rounded_to_one(p, q, drafts):
    def keep(p, q, i, x):
        return torch.rand((), dtype=torch.float64).float() * q[i, x] < p[i, x]

    return chain(p, q, drafts, keep=keep, pick=lambda weights: inverted(weights, torch.rand(())))


@wrong("searchsorted from the left gives token 0 for a coin of 0, whatever its weight.", "zero_support", EQUAL)
def searchsorted_left(p, q, drafts):
    def draw(weights):
        cdf = weights.cumsum(-1)
        return int(torch.searchsorted(cdf, torch.rand(1) * cdf[-1]))

    return chain(p, q, drafts, pick=draw)


@wrong("Gumbel noise is added to probabilities; it belongs to logarithms.", on=EQUAL, sampled=4000)
def gumbel_on_probabilities(p, q, drafts):
    def draw(weights):
        noise = -torch.log(-torch.log(torch.rand(len(weights)).clamp(1e-20, 1 - 2**-24)))
        return int((weights / weights.sum() + noise).argmax())

    return chain(p, q, drafts, pick=draw)


@wrong(
    "The weights are multiplied with exponential noise in place of divided by it.",
    on="L=1 K=1 [] p=(1 1 3)/5 q=(1 1 3)/5",
    status="undecided",  # the gate cannot compute the distribution of this draw
    sampled=24000,
)
def race_multiplied(p, q, drafts):
    return chain(p, q, drafts, pick=lambda weights: int((weights * torch.empty_like(weights).exponential_()).argmax()))


@wrong(
    "The noise of the first race is kept for all later ones, so draws are equal.",
    on="L=1 K=1 [] p=(1 1)/2 q=(1 0)/1",
    sampled=4000,
)
def gumbel_noise_reused(p, q, drafts):
    clocks = torch.empty(p.shape[-1]).exponential_().clamp(min=1e-30)
    drawn = (p / clocks).argmax(1).tolist()
    n = next((i for i, x in enumerate(drafts.tolist()) if drawn[i] != x), len(drafts))
    return drawn[: n + 1]


# Functions that keep state from call to call, or whose numbers come from a source that no seed determines.

_calls = [0]
_coins: deque[float] = deque()
_residuals: dict[tuple[int, int], torch.Tensor] = {}


@wrong("Every third call leaves out the token after the drafts.", "function", state=True)
def every_third_call(p, q, drafts):
    _calls[0] += 1
    tokens = chain(p, q, drafts)
    return tokens[:-1] if _calls[0] % 3 == 0 and len(tokens) > 1 else tokens


@wrong("Residuals are cached by position and draft, and calls with other rows find them.", state=True)
def residual_cached(p, q, drafts):
    def rest(p, q, i, x):
        found = _residuals.get((i, x))
        if found is None or len(found) != p.shape[-1]:
            _residuals[i, x] = found = rest_of(p, q, i, x)
        return found

    return chain(p, q, drafts, rest=rest)


@wrong("Coins are drawn eight at a time and kept for later calls.", "function", state=True)
def coins_kept(p, q, drafts):
    def keep(p, q, i, x):
        if not _coins:
            _coins.extend(torch.rand(8).tolist())
        return _coins.popleft() * q[i, x] < p[i, x]

    return chain(p, q, drafts, keep=keep)


@wrong(
    "Coins come from the operating system, which no seed reaches.",
    "",
    status="error",
    words=r"os\.urandom draws random numbers",
    state=True,
)
def coins_of_the_system(p, q, drafts):
    def keep(p, q, i, x):
        return int.from_bytes(os.urandom(3), "little") / 2**24 * q[i, x] < p[i, x]

    return chain(p, q, drafts, keep=keep)


@wrong("The coins are halved when the call before it rejected a draft.", "function", state=True)
def streak(p, q, drafts, last=[False]):  # noqa: B006 - the state is the bug
    coin = 0.5 if last[0] else 1.0
    tokens = chain(p, q, drafts, keep=lambda p, q, i, x: torch.rand(()) * coin * q[i, x] < p[i, x])
    last[0] = len(tokens) <= len(drafts)
    return tokens
