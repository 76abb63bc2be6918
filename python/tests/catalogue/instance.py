"""Small models as text, as the gate prints them, and their drafts.

L=1 K=1 [] p=(1 1)/2 q=(0 1)/1 [0] p=(0 1)/1 q=(1 1)/2     rows after the prefixes [] and [0]
p=(1 1)/2 q=(0 1)/1 K=2                                   one position
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

Row = tuple[Fraction, ...]
Prefix = tuple[int, ...]


def _row(weights: str) -> Row:
    numbers = [int(word) for word in weights.split()]
    return tuple(Fraction(number, sum(numbers)) for number in numbers)


@dataclass(frozen=True)
class Input:
    """The input of a function, with its probability. Parents of -1 are the root; only trees have parents."""

    probability: Fraction
    p: list[Row]
    q: list[Row]
    drafts: list[int]
    parents: list[int]


@dataclass(frozen=True)
class Instance:
    length: int  # L, number of drafts of a path; 0 at the level of one position
    drafts: int  # K, number of paths, or number of drafts at the level of one position
    rows: dict[Prefix, tuple[Row, Row]]

    @property
    def vocabulary(self) -> int:
        return len(self.rows[()][0])

    @staticmethod
    def parse(text: str) -> Instance:
        sizes = {name: int(value) for name, value in re.findall(r"\b([LK])=(\d+)", text)}
        found = re.findall(r"(?:\[([\d ]*)\] )?p=\(([\d ]+)\)/\d+ q=\(([\d ]+)\)/\d+", text)
        rows = {tuple(int(word) for word in prefix.split()): (_row(p), _row(q)) for prefix, p, q in found}
        if () not in rows:
            raise ValueError(f"instance: got no rows after [] in {text!r}")
        return Instance(sizes.get("L", 0), sizes.get("K", 1), rows)

    def after(self, prefix: Prefix) -> tuple[Row, Row]:
        """Returns the rows after a prefix; a prefix that is not listed has the rows of its longest listed prefix."""
        while prefix not in self.rows:
            prefix = prefix[:-1]
        return self.rows[prefix]

    def inputs(self, level: str, distribution: str) -> Iterator[Input]:
        """Yields all inputs that can be drafted, with probabilities that sum to 1."""
        if level == "position":
            p, q = self.rows[()]
            for drafts, probability in self._tuples(q, distribution):
                yield Input(probability, [p], [q], drafts, [])
            return
        if distribution == "without_replacement_tree":
            yield from self._grown(Fraction(1), {(): []}, [()])
            return
        paths = [(path, self._probability(path)) for path in product(range(self.vocabulary), repeat=self.length)]
        for some in product([(path, share) for path, share in paths if share], repeat=self.drafts):
            drawn = [(path[:depth], path[depth]) for depth in range(self.length) for path, _ in some]
            yield self._tree(prod((share for _, share in some), start=Fraction(1)), drawn)

    def _grown(self, probability: Fraction, children: dict[Prefix, list[int]], open_: list[Prefix]) -> Iterator[Input]:
        """Yields trees with K children of each node, drawn without replacement. The nodes in `open_` have no children
        so far."""
        if not open_:
            yield self._tree(probability, [(node, x) for node, some in children.items() for x in some])
            return
        node, *others = open_
        for drafts, share in self._tuples(self.after(node)[1], "without_replacement"):
            deeper = [(*node, x) for x in drafts] if len(node) + 1 < self.length else []
            yield from self._grown(probability * share, {**children, node: drafts}, [*others, *deeper])

    def _tuples(self, q: Row, distribution: str) -> Iterator[tuple[list[int], Fraction]]:
        if distribution == "iid":
            for drafts in product(range(len(q)), repeat=self.drafts):
                if probability := prod((q[x] for x in drafts), start=Fraction(1)):
                    yield list(drafts), probability
            return
        assert distribution == "without_replacement", distribution
        open_: list[tuple[list[int], Fraction, Fraction]] = [([], Fraction(1), Fraction(1))]
        for drafts, probability, rest in open_:  # grows during the loop
            if len(drafts) == self.drafts or not rest:
                yield drafts, probability
                continue
            for x in range(len(q)):
                if q[x] and x not in drafts:
                    open_.append(([*drafts, x], probability * q[x] / rest, rest - q[x]))

    def _probability(self, path: Prefix) -> Fraction:
        return prod((self.after(path[:n])[1][x] for n, x in enumerate(path)), start=Fraction(1))

    def _tree(self, probability: Fraction, drawn: list[tuple[Prefix, int]]) -> Input:
        """Returns draws as a tree, parents first. Each draw is an entry, also a draw that repeats a sibling; only the
        first of equal siblings gets children."""
        entry = {(): -1}
        p, q, drafts, parents = [self.rows[()][0]], [], [], []
        for prefix, x in drawn:
            node = (*prefix, x)
            entry.setdefault(node, len(drafts))
            drafts.append(x)
            parents.append(entry[prefix])
            q.append(self.after(prefix)[1])
            p.append(self.after(node)[0])
        return Input(probability, p, q, drafts, parents)

    def target(self, level: str) -> dict[Prefix, Fraction]:
        """Returns the target's distribution of strings of L + 1 tokens, or of one token at the level of one
        position."""
        longest = 1 if level == "position" else self.length + 1
        return self.completed({(): Fraction(1)}, longest)

    def completed(self, distribution: dict[Prefix, Fraction], longest: int) -> dict[Prefix, Fraction]:
        """Returns a distribution of strings in which the target continues shorter strings up to `longest` tokens."""
        done: dict[Prefix, Fraction] = {}
        for tokens, share in distribution.items():
            if len(tokens) >= longest or any(not 0 <= x < self.vocabulary for x in tokens):
                done[tokens] = done.get(tokens, Fraction(0)) + share
                continue
            for x, weight in enumerate(self.after(tokens)[0]):
                if weight:
                    for string, mass in self.completed({(*tokens, x): share * weight}, longest).items():
                        done[string] = done.get(string, Fraction(0)) + mass
        return done
