"""Generators that a function seeds itself while its random numbers are replaced.

A generator with a seed gives the same numbers each time. Two cases:

    the seed comes from replaced numbers    the generator reads the tape; a second generator with this seed reads the
                                            same places
    the seed is the same in every call      the generator is not replaced

`SeedBook` separates the two by calls on independent tapes. If a seed is uniform over n values, some value comes three
times in m calls with probability at most m^3 / 6 / n^2: 3e-10 for the 2^31 values of usual seeds and 2,000 calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

ENOUGH = 3  # A seed that this number of calls on independent tapes used is taken as fixed.
MOST_REHEARSALS = 12  # limit of calls on independent tapes for one input


class SeededSource:
    """Position in the numbers of a generator: `at` numbers were drawn after the generator was seeded by `root`."""

    __slots__ = ("at", "root")

    def __init__(self, root: Hashable, at: int = 0) -> None:
        self.root, self.at = root, at


class SeedBook:
    """Seeds that the calls of one function use."""

    def __init__(self) -> None:
        self.counts: Counter[Hashable] = Counter()
        self.met: set[Hashable] = set()  # seeds of the running call

    def is_fixed(self, seed: Hashable) -> bool:
        """Whether the seed is known to be the same in every call. Records that the running call uses the seed."""
        self.met.add(seed)
        return self.counts[seed] >= ENOUGH

    def is_known(self, seed: Hashable) -> bool:
        return self.counts[seed] >= ENOUGH

    def undecided(self) -> bool:
        """Whether the last call used a seed that is not known to be fixed."""
        return any(self.counts[seed] < ENOUGH for seed in self.met)

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Counts the seeds of the call that runs inside the context. This call must have an independent tape."""
        self.met.clear()
        try:
            yield
        finally:
            self.counts.update(self.met)
            self.met.clear()

    def fixed(self) -> list[str]:
        """Returns the seeds that are the same in every call, in words."""
        return [" ".join(map(str, seed)) if isinstance(seed, tuple) else str(seed)
                for seed, count in self.counts.items() if count >= ENOUGH]  # fmt: skip
