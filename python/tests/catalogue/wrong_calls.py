"""Functions of one row with faults that usually show when a verifier is called for the first time.

Bugs in one line of a decision are in other modules; these faults are in how a function is written, called and declared.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from catalogue import enter
from catalogue.parts import by_weights, left, verified

# Functions with constant seeds, so that every call has the same numbers. `made` gets the drafts and returns the coin,
# or None for torch's default generator.


def _torch_seeded(seed: int) -> None:
    torch.manual_seed(seed)  # returns None: the coin comes from torch's default generator


def _torch_generator(drafts: Any) -> Any:
    made = torch.Generator().manual_seed(11)
    return lambda: float(torch.rand((), generator=made))


def _numpy_seed(drafts: Any) -> Any:
    np.random.seed(11)
    return np.random.random


def _python_seed(drafts: Any) -> Any:
    random.seed(7)
    return random.random


def _seed_of_the_place(drafts: Any) -> Any:
    places = iter(range(100))
    return lambda: np.random.default_rng([5, next(places)]).random()


def _seeded(name: str, made: Callable[[Any], Any], arrays: str = "numpy", words: str = "seed", **declared: Any) -> None:
    def fn(p, q, drafts):
        return verified(p, q, drafts, made(drafts))

    enter("failed", words=words, name=name, arrays=arrays, **declared)(fn)


_seeded("torch_seed", lambda drafts: _torch_seeded(11), "torch")
_seeded("torch_generator", _torch_generator, "torch")
_seeded("numpy_seed", _numpy_seed)
_seeded("numpy_default_rng", lambda drafts: np.random.default_rng(7).random)
_seeded("numpy_random_state", lambda drafts: np.random.RandomState(7).random_sample)
_seeded("python_random", lambda drafts: random.Random(7).random)
_seeded("python_seed", _python_seed)
_seeded("seed_of_the_place", _seed_of_the_place)
_seeded("seed_of_the_number_of_drafts", lambda drafts: _torch_seeded(len(drafts)), "torch")
_seeded("torch_seed_sampled", lambda drafts: _torch_seeded(11), "torch", "", scripted=False)
_seeded("numpy_default_rng_sampled", lambda drafts: np.random.default_rng(7).random, words="", scripted=False)


@enter("failed", "exact_distribution")
def one_drawn_seed_for_every_coin(p, q, drafts):
    seed = int(torch.randint(2**31, ()))

    def coin():
        torch.manual_seed(seed)
        return float(torch.rand((), dtype=torch.float64))

    return verified(p, q, drafts, coin)


@enter("failed", "exact_distribution", arrays="numpy")
def one_drawn_seed_for_every_generator(p, q, drafts, rng):
    seed = int(rng.integers(2**31))
    return verified(p, q, drafts, lambda: np.random.default_rng(seed).random())


# Functions without a fallback for a residual without mass.


def _clipped(p: Any, q: Any) -> Any:
    return (p - q).clip(0)


def _without_fallback(p: Any, q: Any, drafts: Any, pick: Any = by_weights, rest: Any = _clipped) -> list[int]:
    return verified(p, q, drafts, lambda: float(torch.rand(())), pick, rest)


@enter("failed", "answers", "weights that are all zero")
def divides_by_the_residual(p, q, drafts):
    return _without_fallback(p, q, drafts, rest=lambda a, b: _clipped(a, b) / _clipped(a, b).sum())


@enter("failed", "answers", "weights that are all zero")
def weights_of_zero(p, q, drafts):
    return _without_fallback(p, q, drafts)


@enter("failed", "answers", "weights that are all zero|NaN|probabilities", arrays="numpy")
def choice_of_nothing(p, q, drafts):
    def pick(w):
        w = w.astype(np.float64)
        return int(np.random.choice(len(w), p=w / w.sum()))

    return verified(p, q, drafts, lambda: np.random.random(), pick, _clipped)


@enter("failed", "zero_support", models=20)
def greatest_of_zeros(p, q, drafts):
    return _without_fallback(p, q, drafts, lambda w: int((w / torch.empty_like(w).exponential_()).argmax()))


# The inputs are overwritten; the tokens are right.


def _coin(arrays: str) -> Any:
    """Returns the function that draws coins in a library. The name is looked up in every call, because the function is
    replaced only during a call."""
    return {"torch": None, "numpy": np.random.random, "list": random.random}[arrays]


def _overwrites(name: str, arrays: str, write: Callable[[Any, Any, Any], Any]) -> None:
    def fn(p, q, drafts):
        rows = (np.array(p), np.array(q)) if arrays == "list" else (p, q)
        tokens = verified(*rows, drafts, _coin(arrays))
        write(p, q, drafts)
        return tokens

    enter("failed", words="input|overw|chang", name=name, arrays=arrays)(fn)


def _scales_a_view(p: Any, q: Any, drafts: Any) -> None:
    backwards = q[0][::-1]
    backwards *= 2


_overwrites("writes_p", "torch", lambda p, q, drafts: p.zero_())
_overwrites("writes_q_through_a_view", "torch", lambda p, q, drafts: q[0].view(-1).mul_(0.5))
_overwrites("writes_drafts", "torch", lambda p, q, drafts: drafts[-1:].copy_(drafts[-1:] == 0))
_overwrites("subtracts_in_numpy", "numpy", lambda p, q, drafts: np.subtract(p[:-1], q, out=p[:-1]))
_overwrites("scales_a_view_of_numpy", "numpy", _scales_a_view)
_overwrites("writes_a_list", "list", lambda p, q, drafts: p[0].__setitem__(0, 2.0))
_overwrites("pops_drafts", "list", lambda p, q, drafts: drafts.pop())


# Draft samplings that do not exist.


def _right_at_a_position(p, q, drafts, parents=None):
    if parents is not None:  # the root of a tree
        p, q = p[0], q[0]
    for x in drafts.tolist():
        if torch.rand((), dtype=torch.float64) * q[x] < p[x]:
            return x
        p = left(p, q) / left(p, q).sum()
    return by_weights(p)


for _distribution, _level, _near in (
    ("idd", "position", "iid"),
    ("without-replacement", "position", "without_replacement"),
    ("iid_path", "tree", "iid_paths"),
):
    enter(
        "error", words=f"{_distribution}.*{_near}", name=f"drafts_{_distribution}", drafts=_distribution, level=_level
    )(_right_at_a_position)


# Functions that raise exceptions. The message has the type and text of the exception, and nothing about a distribution.


class OutOfBlocks(Exception):
    pass


@enter("error", words="ZeroDivisionError", arrays="list")
def always_divides_by_zero(p, q, drafts):
    return [int(1 / (len(drafts) - len(q)))]


@enter("error", words="OutOfBlocks.*none left")
def always_of_its_own(p, q, drafts):
    raise OutOfBlocks("none left")


@enter("failed", "answers", "KeyError")
def sometimes_key_error(p, q, drafts):
    tokens = verified(p, q, drafts)
    return [{0: 0, 1: 1}[x] for x in tokens]


@enter("failed", "answers", "ZeroDivisionError", arrays="list")
def sometimes_divides_by_zero(p, q, drafts):
    ratios = [a / b for row_p, row_q in zip(p, q, strict=False) for a, b in zip(row_p, row_q, strict=True)]
    return verified(np.array(p), np.array(q), drafts, random.random) if ratios else []


@enter("failed", "answers", "OutOfBlocks")
def sometimes_of_its_own(p, q, drafts):
    tokens = verified(p, q, drafts)
    if len(tokens) > 1:
        raise OutOfBlocks("none left")
    return tokens


# Functions whose results are not tokens or lists of tokens.


def _returns(name: str, made: Callable[[list[int]], Any], words: str) -> None:
    def fn(p, q, drafts):
        return made(verified(p, q, drafts))

    enter("error|failed", words=words, name=name)(fn)


_returns("returns_float_tensor", lambda tokens: torch.tensor(tokens, dtype=torch.float32), "float")
_returns("returns_ragged_lists", lambda tokens: [tokens, [0]] if len(tokens) > 1 else [[0], [0, 1]], "returned list")
_returns("returns_nested_lists", lambda tokens: [[tokens]], "nested|shape|dimension|returned list")
_returns("returns_beyond_the_vocabulary", lambda tokens: [10**6], "1000000|range|vocabulary")
_returns("returns_negative", lambda tokens: [-7], r"-7\b")
_returns("returns_too_many", lambda tokens: [*tokens, *tokens, *tokens, 0], "tokens, expected 1 to")
# Functions whose declaration does not fit the arguments for which they are written.


@enter("error", words="argument|parameter")
def needs_more(p, q, drafts, temperature):
    return verified(p, q, drafts)


@enter("error", words="batched")
def forgotten_batched(p, q, drafts):
    count, longest = drafts.shape
    keep = (
        torch.rand(count, longest) * q.gather(2, drafts[..., None])[..., 0]
        < p[:, :-1].gather(2, drafts[..., None])[..., 0]
    )
    n = keep.long().cumprod(1).sum(1)
    return torch.where(torch.arange(longest) < n[:, None], drafts, -1)


# With one draft this function returns a single row, which the gate may read as the tokens of a chain.
@enter("error|failed", words="batched|exact_distribution", arrays="numpy")
def forgotten_batched_numpy(p, q, drafts):
    return np.stack([np.append(drafts[b], p[b, -1].argmax()) for b in range(drafts.shape[0])])


@enter("error", words="batched", batched=True)
def batched_but_written_for_one(p, q, drafts):
    return verified(p, q, drafts)


@enter("error", words="arrays", arrays="numpy")
def forgotten_list(p, q, drafts):
    assert drafts.count(-1) == 0
    return verified(np.array(p), np.array(q), drafts, random.random)


# Functions that do not end.


@enter("undecided", words="return|time|limit", time_limit=3.0)
def sleeps(p, q, drafts):
    time.sleep(10_000)


@enter("undecided", words="return|time|limit", time_limit=3.0)
def waits_for_itself(p, q, drafts):
    while True:
        pass


@enter("undecided", words="return|time|limit", time_limit=3.0)
def sleeps_where_it_rejects(p, q, drafts):
    tokens = verified(p, q, drafts)
    if len(tokens) <= len(drafts):
        time.sleep(10_000)
    return tokens


@enter("undecided", words="draws|end|enumerated|explored|limit")
def draws_without_bound(p, q, drafts):
    while torch.rand(()) < 2:
        pass


@enter("undecided|passed", words="draws|end|enumerated|explored|limit", arrays="numpy")
def draws_until_nothing_is_rejected(p, q, drafts):
    def pick(w):
        while True:
            x = int(np.random.randint(len(w)))
            if np.random.random() * float(w.max()) < float(w[x]):
                return x

    return verified(p, q, drafts, np.random.random, pick)


@enter("undecided", words="draws|end|enumerated|explored|limit", arrays="list")
def draws_until_it_is_zero(p, q, drafts):
    while random.random() != 0:
        pass
    return verified(np.array(p), np.array(q), drafts, random.random)


# A wrapper whose code names no library.


@enter("passed", arrays=None)
def wrapped(*given):
    return verified(*given)


# Noise from hashed integers: the greatest hash must not give a uniform of 1.


def by_hash(p, drafts, hashed, uniform):
    """Emits draws from p up to the first draw that differs from the draft (sample-and-match)."""

    def pick(w):
        with np.errstate(divide="ignore", invalid="ignore"):
            noise = -np.log(-np.log(uniform(np.asarray(hashed(len(w)), np.float64))))
            return int((np.log(np.asarray(w, np.float64)) + noise).argmax())

    for i, x in enumerate([int(x) for x in drafts]):
        if (y := pick(p[i])) != x:
            return [*[int(x) for x in drafts[:i]], y]
    return [*[int(x) for x in drafts], pick(p[len(drafts)])]


HASHES = {
    "numpy": lambda n: np.random.randint(0, 2**32, n),
    "torch": lambda n: torch.randint(2**32, (n,)).numpy(),
    "python": lambda n: [random.getrandbits(32) for _ in range(n)],
}
UNIFORMS = {"closed": (lambda h: h / (2**32 - 1), "failed"), "open": (lambda h: (h + 0.5) / 2**32, "passed")}

for _name, _hashed in HASHES.items():
    for _kind, (_uniform, _status) in UNIFORMS.items():
        if (_name, _kind) == ("python", "open"):  # integers drawn one by one are not a race, and too many to enumerate
            _status = "passed|undecided"

        def _fn(p, q, drafts, _hashed=_hashed, _uniform=_uniform):
            return by_hash(p, drafts, _hashed, _uniform)

        _fn.__name__ = _kind
        enter(_status, name=f"hash_of_{_name}_{_kind}", arrays="numpy")(_fn)
