"""Functions of one row with the faults that a verifier has when it is called for the first time.

Faults of one line of a decision are in the catalogue; these are of how a function is written, called and declared.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from functions.fault_table import TABLE, Entry, by_weights, chain, enter, left

# Seeds of their own: every call sees the same numbers.

SEED = "violated", "", "seed"


@enter(*SEED)
def torch_seed(p, q, drafts):
    torch.manual_seed(11)
    return chain(p, q, drafts)


@enter(*SEED)
def torch_generator(p, q, drafts):
    made = torch.Generator().manual_seed(11)
    return chain(p, q, drafts, lambda: float(torch.rand((), generator=made)))


@enter(*SEED, arrays="numpy")
def numpy_seed(p, q, drafts):
    np.random.seed(11)
    return chain(p, q, drafts, np.random.random)


@enter(*SEED, arrays="numpy")
def numpy_default_rng(p, q, drafts):
    return chain(p, q, drafts, np.random.default_rng(7).random)


@enter(*SEED, arrays="numpy")
def numpy_random_state(p, q, drafts):
    return chain(p, q, drafts, np.random.RandomState(7).random_sample)


@enter(*SEED, arrays="numpy")
def python_random(p, q, drafts):
    return chain(p, q, drafts, random.Random(7).random)


@enter(*SEED, arrays="numpy")
def python_seed(p, q, drafts):
    random.seed(7)
    return chain(p, q, drafts, random.random)


@enter(*SEED, arrays="numpy")
def seed_of_the_place(p, q, drafts):
    places = iter(range(100))
    return chain(p, q, drafts, lambda: np.random.default_rng([5, next(places)]).random())


@enter(*SEED)
def seed_of_the_number_of_drafts(p, q, drafts):
    torch.manual_seed(len(drafts))
    return chain(p, q, drafts)


@enter("violated", "exact_law")
def one_drawn_seed_for_every_coin(p, q, drafts):
    seed = int(torch.randint(2**31, ()))

    def coin():
        torch.manual_seed(seed)
        return float(torch.rand((), dtype=torch.float64))

    return chain(p, q, drafts, coin)


@enter("violated", "exact_law", arrays="numpy")
def one_drawn_seed_for_every_generator(p, q, drafts, rng):
    seed = int(rng.integers(2**31))
    return chain(p, q, drafts, lambda: np.random.default_rng(seed).random())


@enter("violated", scripted=False)
def torch_seed_sampled(p, q, drafts):
    torch.manual_seed(11)
    return chain(p, q, drafts)


@enter("violated", scripted=False, arrays="numpy")
def numpy_default_rng_sampled(p, q, drafts):
    return chain(p, q, drafts, np.random.default_rng(7).random)


# No fallback where the residual has no mass.


@enter("violated", "answers", "mass")
def divides_by_the_residual(p, q, drafts):
    return chain(
        p, q, drafts, lambda: float(torch.rand(())), by_weights, lambda a, b: (a - b).relu() / (a - b).relu().sum()
    )


@enter("violated", "answers", "mass")
def weights_of_zero(p, q, drafts):
    return chain(p, q, drafts, lambda: float(torch.rand(())), by_weights, lambda a, b: (a - b).clamp(min=0))


@enter("violated", "answers", "mass|NaN|probabilities", arrays="numpy")
def choice_of_nothing(p, q, drafts):
    def pick(w):
        w = w.astype(np.float64)
        return int(np.random.choice(len(w), p=w / w.sum()))

    return chain(p, q, drafts, lambda: np.random.random(), pick, lambda a, b: np.maximum(a - b, 0))


@enter("violated", "zero_support", models=20)
def greatest_of_zeros(p, q, drafts):
    def pick(w):
        return int((w / torch.empty_like(w).exponential_()).argmax())

    return chain(p, q, drafts, lambda: float(torch.rand(())), pick, lambda a, b: (a - b).clamp(min=0))


# What was given is overwritten; the tokens are right.

INPUT = "violated", "", "input|overw|chang"


@enter(*INPUT)
def writes_p(p, q, drafts):
    tokens = chain(p, q, drafts)
    p.zero_()
    return tokens


@enter(*INPUT)
def writes_q_through_a_view(p, q, drafts):
    tokens = chain(p, q, drafts)
    q[0].view(-1).mul_(0.5)
    return tokens


@enter(*INPUT)
def writes_drafts(p, q, drafts):
    tokens = chain(p, q, drafts)
    drafts[-1] = 0 if int(drafts[-1]) else 1
    return tokens


@enter(*INPUT, arrays="numpy")
def subtracts_in_numpy(p, q, drafts):
    tokens = chain(p, q, drafts, np.random.random)
    np.subtract(p[:-1], q, out=p[:-1])
    return tokens


@enter(*INPUT, arrays="numpy")
def scales_a_view_of_numpy(p, q, drafts):
    tokens = chain(p, q, drafts, np.random.random)
    backwards = q[0][::-1]
    backwards *= 2
    return tokens


@enter(*INPUT, arrays="list")
def writes_a_list(p, q, drafts):
    tokens = chain(np.array(p), np.array(q), drafts, random.random)
    p[0][0] = 2.0
    return tokens


@enter(*INPUT, arrays="list")
def pops_drafts(p, q, drafts):
    tokens = chain(np.array(p), np.array(q), drafts, random.random)
    drafts.pop()
    return tokens


# A draft distribution that does not exist.


def _right_at_a_position(p, q, drafts, parents=None):
    if parents is not None:  # the root of a tree
        p, q = p[0], q[0]
    for x in drafts.tolist():
        if torch.rand((), dtype=torch.float64) * q[x] < p[x]:
            return x
        p = left(p, q) / left(p, q).sum()
    return by_weights(p)


for _law, _level, _near in (
    ("idd", "position", "iid"),
    ("without-replacement", "position", "without_replacement"),
    ("iid_path", "tree", "iid_paths"),
):
    TABLE.append(
        Entry(
            f"drafts_{_law}",
            _right_at_a_position,
            "error",
            words=f"{_law}.*{_near}",
            declared={"drafts": _law, "level": _level, "arrays": "torch"},
        )
    )


# Exceptions: of the function, with type and text, and no word of a distribution.


class OutOfBlocks(Exception):
    pass


@enter("error", words="KeyError.*rows")
def always_key_error(p, q, drafts):
    raise KeyError("rows")


@enter("error", words="ZeroDivisionError", arrays="list")
def always_divides_by_zero(p, q, drafts):
    return [int(1 / (len(drafts) - len(q)))]


@enter("error", words="OutOfBlocks.*none left")
def always_of_its_own(p, q, drafts):
    raise OutOfBlocks("none left")


@enter("violated", "answers", "KeyError")
def sometimes_key_error(p, q, drafts):
    tokens = chain(p, q, drafts)
    return [{0: 0, 1: 1}[x] for x in tokens]


@enter("violated", "answers", "ZeroDivisionError", arrays="list")
def sometimes_divides_by_zero(p, q, drafts):
    ratios = [a / b for row_p, row_q in zip(p, q, strict=False) for a, b in zip(row_p, row_q, strict=True)]
    return chain(np.array(p), np.array(q), drafts, random.random) if ratios else []


@enter("violated", "answers", "OutOfBlocks")
def sometimes_of_its_own(p, q, drafts):
    tokens = chain(p, q, drafts)
    if len(tokens) > 1:
        raise OutOfBlocks("none left")
    return tokens


# What is no token, or no list of them.


def _returns(name: str, made: Callable[[list[int]], Any], words: str) -> None:
    def fn(p, q, drafts):
        return made(chain(p, q, drafts))

    fn.__name__ = name
    enter("error|violated", words=words)(fn)


_returns("returns_none", lambda tokens: None, "None")
_returns("returns_text", lambda tokens: " ".join(map(str, tokens)), "returned str")
_returns("returns_dict", lambda tokens: {"tokens": tokens}, "returned dict")
_returns("returns_floats", lambda tokens: [float(x) for x in tokens], "float")
_returns("returns_float_tensor", lambda tokens: torch.tensor(tokens, dtype=torch.float32), "float")
_returns("returns_ragged_lists", lambda tokens: [tokens, [0]] if len(tokens) > 1 else [[0], [0, 1]], "returned list")
_returns("returns_nested_lists", lambda tokens: [[tokens]], "nested|shape|dimension|returned list")
_returns("returns_beyond_int64", lambda tokens: [2**70], "2\\*\\*70|1180591620717411303424|int64|range")
_returns("returns_beyond_int32", lambda tokens: [2**40], "1099511627776|range|vocabulary")
_returns("returns_beyond_the_vocabulary", lambda tokens: [10**6], "1000000|range|vocabulary")
_returns("returns_negative", lambda tokens: [-7], r"-7\b")
_returns("returns_nan", lambda tokens: np.full(2, np.nan), "nan|float")
_returns("returns_too_many", lambda tokens: [*tokens, *tokens, *tokens, 0], "tokens, wanted 1 to")
_returns("returns_nothing", lambda tokens: [], "0 tokens|empty")


# Called otherwise than it is written.


@enter("error", words="async|coroutine")
async def asynchronous(p, q, drafts):
    return chain(p, q, drafts)


@enter("error", words="keyword|\\*|argument")
def keywords_alone(*, p, q, drafts):
    return chain(p, q, drafts)


@enter("error", words="argument|parameter")
def needs_more(p, q, drafts, temperature):
    return chain(p, q, drafts)


@enter("error", words="argument|parameter")
def takes_less(p, q):
    return [by_weights(p[0])]


@enter("error", words="batched")
def forgotten_batched(p, q, drafts):
    count, longest = drafts.shape
    keep = (
        torch.rand(count, longest) * q.gather(2, drafts[..., None])[..., 0]
        < p[:, :-1].gather(2, drafts[..., None])[..., 0]
    )
    n = keep.long().cumprod(1).sum(1)
    return torch.where(torch.arange(longest) < n[:, None], drafts, -1)


# With one draft it returns one row, which may be what was meant.
@enter("error|violated", words="batched|exact_law", arrays="numpy")
def forgotten_batched_numpy(p, q, drafts):
    return np.stack([np.append(drafts[b], p[b, -1].argmax()) for b in range(drafts.shape[0])])


@enter("error", words="batched", batched=True)
def batched_but_written_for_one(p, q, drafts):
    return chain(p, q, drafts)


@enter("error", words="arrays", arrays="numpy")
def forgotten_torch(p, q, drafts):
    return chain(p.clamp(min=0), q, drafts)


@enter("error", words="arrays", arrays="torch")
def forgotten_numpy(p, q, drafts):
    return chain(p.astype(np.float64), q, drafts, np.random.random)


@enter("error", words="arrays", arrays="numpy")
def forgotten_list(p, q, drafts):
    assert drafts.count(-1) == 0
    return chain(np.array(p), np.array(q), drafts, random.random)


# No end.


@enter("undecided", words="return|time|limit", time_limit=3.0)
def sleeps(p, q, drafts):
    time.sleep(10_000)


@enter("undecided", words="return|time|limit", time_limit=3.0)
def waits_for_itself(p, q, drafts):
    while True:
        pass


@enter("undecided", words="return|time|limit", time_limit=3.0)
def sleeps_where_it_rejects(p, q, drafts):
    tokens = chain(p, q, drafts)
    if len(tokens) <= len(drafts):
        time.sleep(10_000)
    return tokens


@enter("undecided", words="draws|end|enumerated|explored|limit")
def draws_without_bound(p, q, drafts):
    while torch.rand(()) < 2:
        pass


@enter("undecided|held", words="draws|end|enumerated|explored|limit", arrays="numpy")
def draws_until_nothing_is_rejected(p, q, drafts):
    def pick(w):
        while True:
            x = int(np.random.randint(len(w)))
            if np.random.random() * float(w.max()) < float(w[x]):
                return x

    return chain(p, q, drafts, np.random.random, pick)


@enter("undecided", words="draws|end|enumerated|explored|limit", arrays="list")
def draws_until_it_is_zero(p, q, drafts):
    while random.random() != 0:
        pass
    return chain(np.array(p), np.array(q), drafts, random.random)


# A wrapper that names no library of what it calls.


@enter("held", arrays=None)
def wrapped(*given):
    return chain(*given)


# Noise from hashed integers: the greatest hash must not give a uniform of 1.


def by_hash(p, drafts, hashed, uniform):
    """Draws from p are followed as long as they were drafted."""

    def pick(w):
        with np.errstate(divide="ignore", invalid="ignore"):
            noise = -np.log(-np.log(uniform(np.asarray(hashed(len(w)), np.float64))))
            return int((np.log(np.asarray(w, np.float64)) + noise).argmax())

    for i, x in enumerate([int(x) for x in drafts]):
        if (y := pick(p[i])) != x:
            return [*[int(x) for x in drafts[:i]], y]
    return [*[int(x) for x in drafts], pick(p[len(drafts)])]


def _closed(h):
    return h / (2**32 - 1)


def _open(h):
    return (h + 0.5) / 2**32


def _of_numpy(n):
    return np.random.randint(0, 2**32, n)


def _of_torch(n):
    return torch.randint(2**32, (n,)).numpy()


def _of_python(n):
    return [random.getrandbits(32) for _ in range(n)]


for _name, _hashed in (("numpy", _of_numpy), ("torch", _of_torch), ("python", _of_python)):
    for _kind, _uniform, _status in (("closed", _closed, "violated"), ("open", _open, "held")):

        def _fn(p, q, drafts, _hashed=_hashed, _uniform=_uniform):
            return by_hash(p, drafts, _hashed, _uniform)

        if (_name, _kind) == (
            "python",
            "open",
        ):  # integers one by one are no race: their draws are not enumerated whole
            _status = "held|undecided"
        TABLE.append(Entry(f"hash_of_{_name}_{_kind}", _fn, _status, declared={"arrays": "numpy", "name": _kind}))
