"""Reproduces the findings of docs/census.md without the gate: calls the packages' functions on the instances.

    python python/engines/second_route/census.py NAME     a package of FUNCTIONS; without a name, all of them

Drafts are drawn from q and the function draws by torch, numpy or random themselves; the tokens are counted beside the
target and, where the rule on one draft is short, beside its distribution by hand in fractions. For an edge, one
random number is replaced.
"""

from __future__ import annotations

import math
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction as F
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import numpy as np
import torch

from draftproof.engines import discover

Row = list[F]
Rule = Callable[[Row, Row, Row, int], tuple[F, Sequence[F]]]


def rows_of(instance: str) -> dict[tuple[int, ...], tuple[Row, Row]]:
    """The rows p and q after every prefix of an instance in the form of counterexamples."""
    found = {}
    for prefix, p, q in re.findall(r"\[([\d ]*)\] p=(\S*\([^)]*\)/\d+) q=(\([^)]*\)/\d+)", instance):
        row = [[F(int(n), int(text.split("/")[1])) for n in text[1:].split(")")[0].split()] for text in (p, q)]
        found[tuple(map(int, prefix.split()))] = (row[0], row[1])
    size = len(found[()][0])
    certain = [F(x == 0) for x in range(size)]
    return {prefix: found.get(prefix, (certain, certain)) for prefix in [*found, *((x,) for x in range(size))]}


def function(name: str, adapter: str) -> Any:
    """The function of a package, as its adapter calls it."""
    engine = discover()[name]
    engine.enter()
    subject = next(one for one in engine.adapters if one.name == adapter).make()
    logits, lists = subject.declaration.rows == "logits", subject.arrays != "torch"

    def call(p: list[Row], q: list[Row], drafts: list[int]) -> list[int]:
        given = [torch.tensor([[float(x) for x in row] for row in rows], dtype=torch.float64) for rows in (p, q)]
        wide = subject.declaration.dtype == "float64"
        given = [(rows.log() if logits else rows).to(torch.float64 if wide else torch.float32) for rows in given]
        given.append(torch.tensor(drafts))
        own = [one.numpy() for one in given] if lists else given
        return [int(x) for x in (subject.fn(*own, **({"rng": GENERATOR} if lists else {})))]

    return call


GENERATOR = np.random.default_rng(1)


def draw(row: Row) -> int:
    return random.choices(range(len(row)), [float(x) for x in row])[0]


def count(name: str, adapter: str, instance: str, rule: Rule | None = None, length: int = 1, calls: int = 20000) -> None:
    """Prints the string of tokens that is most off, with its frequency, beside the target and the rule by hand."""
    rows, call, seen = rows_of(instance), function(name, adapter), Counter[tuple[int, ...]]()
    for _ in range(calls):
        drafts: list[int] = []
        for _ in range(length):
            drafts.append(draw(rows[tuple(drafts)][1]))
        p = [rows[tuple(drafts[:i])][0] for i in range(length + 1)]
        q = [rows[tuple(drafts[:i])][1] for i in range(length)]
        try:
            out = call(p, q, drafts)
        except (RuntimeError, ValueError) as error:
            out = [-1, -1]
            said = str(error).partition("\n")[0]
            seen[()] += 1
            if seen[()] == 1:
                print(f"  fails: {said}")
        while 0 <= out[-1] and len(out) < 2:
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
