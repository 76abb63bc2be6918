"""Reproduces the findings of docs/census.md without the gate: calls the packages' functions on the instances.

    python python/engines/second_route/census.py NAME     a package of FUNCTIONS; without a name, all of them

Drafts are drawn from q, and the function draws its numbers by torch, numpy or random. The frequencies of tokens are
printed with the target's probabilities and, where the rule on one draft is short, with the rule's distribution,
computed by hand in fractions. For an edge, random numbers are replaced by one value.
"""

from __future__ import annotations

import functools
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction as F
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import numpy as np
import torch

from draftproof.engines import discover, module_of

Row = list[F]
Rule = Callable[[Row, Row, Row, int], tuple[F, Sequence[F]]]


def rows_of(instance: str) -> dict[tuple[int, ...], tuple[Row, Row]]:
    """Returns the rows p and q after every prefix of an instance, a text as in counterexamples. After a token for which
    the instance has no rows, p and q have all mass on token 0."""
    found = {}
    for prefix, p, q in re.findall(r"\[([\d ]*)\] p=(\S*\([^)]*\)/\d+) q=(\([^)]*\)/\d+)", instance):
        row = [[F(int(n), int(text.split("/")[1])) for n in text[1:].split(")")[0].split()] for text in (p, q)]
        found[tuple(map(int, prefix.split()))] = (row[0], row[1])
    size = len(found[()][0])
    certain = [F(x == 0) for x in range(size)]
    return {prefix: found.get(prefix, (certain, certain)) for prefix in [*found, *((x,) for x in range(size))]}


@functools.cache
def function(name: str, adapter: str) -> Any:
    """Returns call(p, q, drafts) -> tokens, which calls the package's function through the adapter's subject."""
    engine = discover()[name]
    engine.enter()
    subject = next(one for one in engine.adapters if one.name == adapter).make()
    logits, named = subject.declaration.rows == "logits", "rng" in subject.names_of(subject.fn)
    own = {"torch": lambda one: one, "numpy": lambda one: one.numpy(), "list": lambda one: one.tolist()}[subject.arrays]

    def call(p: list[Row], q: list[Row], drafts: list[int]) -> list[int]:
        given = [torch.tensor([[float(x) for x in row] for row in rows], dtype=torch.float64) for rows in (p, q)]
        wide = subject.declaration.dtype == "float64"
        given = [(rows.log() if logits else rows).to(torch.float64 if wide else torch.float32) for rows in given]
        given.append(torch.tensor(drafts))
        if subject.declaration.level == "tree":  # of one path
            given.append(torch.arange(-1, len(drafts) - 1))
        out = [int(x) for x in subject.fn(*map(own, given), **({"rng": GENERATOR} if named else {}))]
        return [x for x in out if x >= 0] or out  # -1 fills the row of a batch

    return call


GENERATOR = np.random.default_rng(1)
OF_TWO = "L=1 K=1 [] p=(2 6)/8 q=(5 3)/8 [0] p=(1 2)/3 q=(1 0)/1 [1] p=(3 1)/4 q=(1 0)/1"
OF_THREE = "L=1 K=1 [] p=(3 2 1)/6 q=(1 1 4)/6 [0] p=(1 0 0)/1 q=(1 0 0)/1"
NEARLY_EQUAL = "L=1 K=1 [] p=(2915 1)/2916 q=(5829 2)/5831"


def draw(row: Row) -> int:
    return random.choices(range(len(row)), [float(x) for x in row])[0]


def count(name: str, adapter: str, instance: str, rule: Rule | None = None, length: int = 1, calls: int = 4000) -> None:
    """Counts the first two tokens of texts and prints the pair whose frequency differs most from the target's
    probability, with both numbers. With `rule`, also prints the first token's distribution, computed from the rule in
    fractions and counted."""
    rows, call, seen = rows_of(instance), function(name, adapter), Counter[tuple[int, ...]]()
    for _ in range(calls):
        drafts: list[int] = []
        for _ in range(length):
            drafts.append(draw(rows[tuple(drafts)][1]))
        p = [rows.get(tuple(drafts[:i]), rows[()])[0] for i in range(length + 1)]
        q = [rows[tuple(drafts[:i])][1] for i in range(length)]
        try:
            out = call(p, q, drafts)
        except (RuntimeError, ValueError) as error:
            out = [-1, -1]
            said = str(error).partition("\n")[0]
            seen[()] += 1
            if seen[()] == 1:
                print(f"  fails: {said}")
        while out[-1] >= 0 and len(out) < 2:
            out.append(draw(rows[tuple(out)][0]))
        seen[tuple(out[:2])] += 1
    size = len(rows[()][0])
    wanted = {(x, y): rows[()][0][x] * rows[(x,)][0][y] for x in range(size) for y in range(size)}
    worst = max(wanted, key=lambda text: abs(float(wanted[text]) - seen[text] / calls))
    found, error = seen[worst] / calls, math.sqrt(float(wanted[worst] * (1 - wanted[worst])) / calls) or 1 / calls
    print(f"{name} {adapter} on {instance}")
    print(f"  tokens {worst}: target {wanted[worst]}, counted {found:.4f} in {calls} calls,", end=" ")
    print(f"{abs(found - float(wanted[worst])) / error:.0f} standard errors off")
    if rule:
        p, q = rows[()]
        first = [F(0)] * size
        for x in range(size):
            accept, left = rule(p, q, rows[(x,)][0], x)
            total = sum(left)
            first[x] += q[x] * accept
            for y in range(size):
                first[y] += q[x] * (1 - accept) * (left[y] / total if total else 0)
        once = [sum(n for text, n in seen.items() if text[:1] == (x,)) / calls for x in range(size)]
        print("  first token: by hand", [str(x) for x in first], "counted", [round(x, 4) for x in once])


def ratio(p: Row, q: Row, x: int) -> F:
    return min(F(1), p[x] / q[x]) if q[x] else F(1)


def clipped(row: Sequence[F]) -> list[F]:
    return [max(F(0), x) for x in row]


def csaq_quant() -> None:
    """The package's source tests draft k against row k + 1 of the target's logits, which is the row after the draft."""
    rule: Rule = lambda p, q, after, x: (ratio(after, q, x), clipped([a - b for a, b in zip(after, q, strict=True)]))  # noqa: E731
    count("csaq-quant", "block", OF_TWO, rule)


def dejavuu() -> None:
    """The package's source searches the running sums of a float32 row for a float64 number, which may exceed the last
    sum."""
    sampling = module_of(discover()["dejavuu"].root() / "dejavuu" / "core" / "sampling.py", "dejavuu_sampling")
    with np.errstate(divide="ignore"):
        row = np.log(np.array([1, 3, 1, 0], np.float32) / 5)
    number = SimpleNamespace(random=lambda: 1 - 2.0**-53)
    with patch("numpy.random.default_rng", lambda seed: number):
        got = sampling.pick(row, 17, sampling.Sampler())
    last = np.cumsum(sampling._softmax(row))[-1]
    where = f"on p=(1 3 1 0)/5, number 1 - 2^-53: got {got}; the last sum is 1 - {1 - float(last):.3g}"
    print("dejavuu", "pick", where)


def mlx_dspark() -> None:
    """If p and q are nearly equal, the residual after a rejection may be empty. The package's source then draws
    every token with equal probability, also tokens with p = 0."""
    impossible = "L=1 K=1 [] p=(2915 1 0)/2916 q=(5829 2 0)/5831"
    seen = Counter(
        edge("mlx-dspark", "spec_sample_accept", impossible, 1, 1 - 2.0**-24, show=False) for _ in range(300)
    )
    print(f"mlx-dspark on {impossible}, draft 1, coin 1 - 2^-24: tokens of 300 calls {dict(seen)}, token 2 has p = 0")


def mtplx() -> None:
    """The package's source accepts a draft if the random number is at most the acceptance probability, so the number 0
    accepts a draft with p = 0."""

    class Zero:
        def random(self) -> float:
            return 0.0

        def choice(self, tokens: Any, p: Any) -> int:  # draws the token after an accepted draft
            return 0

    with patch.object(sys.modules[__name__], "GENERATOR", Zero()):
        edge("mtplx", "verify_one_token", "L=1 K=1 [] p=(1 0)/1 q=(0 1)/1", 1, 0.0)


def rotalabs_accel() -> None:
    """For the residual, two of the package's verifiers subtract q(x) from p only at the draft x, and a third subtracts
    q(x) from every entry of p. The token after an accepted draft is the likeliest token, not a draw."""

    def entry(p: Row, q: Row, after: Row, x: int) -> tuple[F, Sequence[F]]:
        return ratio(p, q, x), clipped([value - (q[x] if y == x else 0) for y, value in enumerate(p)])

    count("rotalabs-accel", "verify_tokens", OF_THREE, entry)
    count("rotalabs-accel", "verify_tree", OF_THREE, entry)

    def number(p: Row, q: Row, after: Row, x: int) -> tuple[F, Sequence[F]]:
        left = clipped([value - q[x] for value in p])
        return ratio(p, q, x), left if any(left) else [F(y == p.index(max(p))) for y in range(len(p))]

    count("rotalabs-accel", "eagle_verify", "L=1 K=1 [] p=(1 1)/2 q=(1 0)/1", number)


def sequential_speculative_decoding() -> None:
    """Counts pairs of tokens of capped HSD on rows that do not depend on the first token, and runs the standard step on
    an empty residual, where it fails.

    The package's source computes the ratio of both drafts with the index 1 where the number of drafts, 2, is meant, so
    that the ratio of the first draft is tested twice and the second draft's ratio never.
    """
    possible = "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(1 2)/3 [1] p=(1 1)/2 q=(1 2)/3"
    count("sequential-speculative-decoding", "capped_hsd", possible, length=2)
    edge("sequential-speculative-decoding", "standard", NEARLY_EQUAL, 1, 1 - 2.0**-24)


def speculative_decoding() -> None:
    """The package's source rejects a draft if the random number is above p / q, so the number 0 rejects no draft. On an
    empty residual, it fails."""
    edge("speculative-decoding", "speculative_decoding", "L=1 K=1 [] p=(1 0)/1 q=(0 1)/1", 1, 0.0)
    edge("speculative-decoding", "speculative_decoding", NEARLY_EQUAL, 1, 1 - 2.0**-24)


def srep_moe() -> None:
    """The package's source accepts a draft x with probability p(x), whatever q is, and replaces a rejected draft by a
    draw from p."""
    rule: Rule = lambda p, q, after, x: (p[x], p)  # noqa: E731
    count("srep-moe", "speculative_sampling", OF_TWO, rule)
    count("srep-moe", "speculative_sampling", "L=1 K=1 [] p=(1 1)/2 q=(1 0)/1", rule)


def tightwad() -> None:
    """The package's source replaces a rejected draft by the token that the target's server drew from p there."""
    rule: Rule = lambda p, q, after, x: (ratio(p, q, x), p)  # noqa: E731
    count("tightwad", "verify_stochastic", OF_TWO, rule)


def transformers_mblt() -> None:
    """The package's source accepts a draft x if the random number is at most p(x), and replaces a rejected draft by a
    draw from the ten likeliest tokens without the draft."""
    rule: Rule = lambda p, q, after, x: (p[x], [v if y != x and v >= sorted(p)[-10] else F(0) for y, v in enumerate(p)])  # noqa: E731
    of_twelve = "L=1 K=1 [] p=(12 11 10 9 8 7 6 5 4 3 2 1)/78 q=(1 0 0 0 0 0 0 0 0 0 0 0)/1"
    count("transformers-mblt", "evaluate_posterior", of_twelve, rule)
    edge("transformers-mblt", "evaluate_posterior", "L=1 K=1 [] p=(1 0)/1 q=(0 1)/1", 1, 0.0)


def vllm_ascend() -> None:
    """Counts pairs of tokens of verification by block on rows that do not depend on the first token. The package's
    source multiplies the numbers of the positions up to a draft, and draws a rejected draft's replacement from
    (p - q)+, not from (prefix * p - q)+. By token, the number 0 accepts a draft with p = 0."""
    possible = "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(1 2)/3 [1] p=(1 1)/2 q=(1 2)/3"
    count("vllm-ascend", "block", possible, length=2, calls=20000)
    edge("vllm-ascend", "token", "L=1 K=1 [] p=(1 0)/1 q=(0 1)/1", 1, 0.0)


def vllm_mlx() -> None:
    """In a batch, the package's source keeps a request's accepted draft only if all requests accept theirs, and the
    next step draws from p otherwise. Here the other request accepts half of its drafts."""
    rule: Rule = lambda p, q, after, x: (ratio(p, q, x) / 2, p)  # noqa: E731
    count("vllm-mlx", "batch", OF_TWO, rule)
    count("vllm-mlx", "batch", "L=1 K=1 [] p=(1 1)/2 q=(1 0)/1", rule)


def vllm_rbln() -> None:
    """The package's source accepts a draft if the random number is at most p / q, so the number 0 accepts a draft with
    p = 0. If the residual is empty, it emits the first of equal scores, which is token 0."""
    for name in ("dense", "certain"):
        edge("vllm-rbln", name, "L=1 K=1 [] p=(1 0)/1 q=(0 1)/1", 1, 0.0)
    edge("vllm-rbln", "dense", "L=1 K=1 [] p=(0 2915 1)/2916 q=(0 5829 2)/5831", 2, 1 - 2.0**-24)


def edge(name: str, adapter: str, instance: str, draft: int, coin: float, show: bool = True) -> str:
    """Returns the tokens of a decision on one draft, or the error, if every uniform number of torch is `coin`. `show`:
    prints them too."""
    (p, q), call = rows_of(instance)[()], function(name, adapter)

    def uniform_(self: Any, *given: Any, **named: Any) -> Any:
        return self.fill_(coin)

    full = lambda *size, **given: torch.full(size[0] if size and isinstance(size[0], tuple) else size, coin)  # noqa: E731
    with patch("torch.rand", full), patch("torch.Tensor.uniform_", uniform_):
        try:
            got = str(call([p, [F(x == 0) for x in range(len(p))]], [q], [draft]))
        except (RuntimeError, ValueError, AttributeError) as error:
            got = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    if show:
        print(f"{name} {adapter} on {instance}, draft {draft}, coin {coin:.10g}: got {got}")
    return got


FUNCTIONS = (csaq_quant, dejavuu, mlx_dspark, mtplx, rotalabs_accel, sequential_speculative_decoding, srep_moe)
FUNCTIONS += (speculative_decoding, tightwad, transformers_mblt, vllm_ascend, vllm_mlx, vllm_rbln)

if __name__ == "__main__":
    known = {fn.__name__: fn for fn in FUNCTIONS}
    torch.manual_seed(1)
    torch.set_num_threads(1)
    random.seed(1)
    for asked in sys.argv[1:] or known:
        known[asked]()
