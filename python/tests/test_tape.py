"""Tests of the tape: kinds of draws, forced outcomes, ends of the tape, and the log in the form of the protocol."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from draftproof.seeds import SeededSource
from draftproof.tape import CLOCK, COIN, INTEGER, PICK, NoMass, Tape, TapeShort

BELOW_1 = math.nextafter(1.0, 0.0)


def tape(*rows: list[float], vocabulary: int = 3) -> Tape:
    return Tape(rows, vocabulary)


def test_a_coin_is_rounded_down_to_its_grid_and_a_forced_one_is_0() -> None:
    values = [0.0, 2.0**-24, 2.0**-24 - 2.0**-53, 1 - 2.0**-24, BELOW_1, -3.0]
    coins = tape(values).coins(0, len(values), 24)
    assert coins.tolist() == [[0.0, 2.0**-24, 0.0, 1 - 2.0**-24, 1 - 2.0**-24, 0.0]]
    assert tape([BELOW_1]).coins(0, 1, 53)[0, 0] == 1 - 2.0**-53


@pytest.mark.parametrize(
    ("v", "cell"),
    [(0.0, 1), (0.25, 1), (math.nextafter(0.5, 0), 1), (0.5, 3), (BELOW_1, 3), (-1.0, 0), (-3.0, 2), (-5.0, 4)],
)
def test_a_pick_is_the_first_cell_whose_prefix_sum_is_above(v: float, cell: int) -> None:
    weights = [[0.0, 2.0, 0.0, 2.0, 0.0]]
    assert tape([v]).picks(0, weights).tolist() == [cell]
    assert tape([v], [0.0]).picks([0, 1], weights * 2).tolist() == [cell, 1]


def test_a_pick_at_the_end_takes_the_last_cell_with_weight() -> None:
    weights = [0.1] * 7 + [0.0]  # BELOW_1 times their rounded sum may round to this sum
    assert tape([BELOW_1]).picks(0, [weights]).tolist() == [6]
    tiny = [[5e-324, 0.0]]  # 0.75 times the sum rounds to the sum, the least double
    assert tape([0.75]).picks(0, tiny).tolist() == [0]
    assert tape([0.75], [0.75]).picks([0, 1], tiny * 2).tolist() == [0, 0]


def test_a_clock_is_an_exponential_and_a_forced_one_is_itself() -> None:
    clocks = tape([0.0, 0.5, BELOW_1, -7.5]).clocks(0, 4)[0]
    assert clocks.tolist() == [0.0, math.log(2), -math.log1p(-BELOW_1), 7.5]


@pytest.mark.parametrize("rows", [1, 2])
def test_a_forced_clock_of_a_seeded_generator_is_read_again(rows: int) -> None:
    t, places = tape(*[[-50.0, -0.5]] * rows), list(range(rows))

    def again() -> None:
        t.source = SeededSource("one seed")

    again()
    first = t.clocks(places, 2)
    assert first.tolist() == [[50.0, 0.5]] * rows
    again()
    assert (t.clocks(places, 2) == first).all()
    again()
    coins = t.coins(places, 2, 53)
    assert coins.tolist() == [[1 - 2.0**-53, pytest.approx(1 - np.exp(-0.5))]] * rows


def test_an_integer_is_the_floor_and_a_forced_one_is_itself() -> None:
    t = tape([0.0, 1 / 3, math.nextafter(2 / 3, 0), BELOW_1, -1.0, -3.0])
    assert [t.integers(0, 3)[0] for _ in range(6)] == [0, 1, 1, 2, 0, 2]


def test_the_log_is_that_of_the_protocol() -> None:
    t = tape([0.5, -2.0, 0.1, 0.2, 0.3, 0.9])
    t.coins(0, 1, 24, "accept")
    t.picks(0, [[0.25, 0.5]], "residual")
    t.clocks(0, 2, "noise", bits=24)
    t.integers(0, 5)
    t.coins(0, 1, 53, "accept")
    counts, draws, weights, streams = t.log()
    assert (counts.dtype, draws.dtype, weights.dtype) == (np.int32, np.int32, np.float64)
    assert counts.tolist() == [6]
    assert draws.tolist() == [[COIN, 0, 24, 0], [PICK, 2, 0, 1], [CLOCK, 2, 24, 2], [CLOCK, 2, 24, 2],
                              [INTEGER, 5, 0, -1], [COIN, 0, 53, 0]]  # fmt: skip
    assert weights.tolist() == [0.25, 0.5]
    assert streams == ["accept", "residual", "noise"]


def test_a_log_without_draws_has_its_shapes() -> None:
    for t in (tape([0.5]), tape([0.5], [0.5])):
        counts, draws, weights, streams = t.log()
        assert counts.tolist() == [0] * t.rows
        assert (draws.shape, weights.shape, streams) == ((0, 4), (0,), [])


def test_a_single_row_ends_at_once_and_keeps_what_it_took() -> None:
    t = tape([0.5, 0.25])
    t.coins(0, 1, 24)
    with pytest.raises(TapeShort, match="2 places"):
        t.clocks(0, 3)
    assert t.used.tolist() == [2] and t.short.tolist() == [True]
    assert t.log()[1].tolist() == [[COIN, 0, 24, -1], [CLOCK, 3, 53, -1]]


def test_short_rows_of_a_batch_get_zeros_until_all_are_short() -> None:
    t = tape([0.5, 0.75], [0.5, 0.75])
    t.coins([0], 1, 24)
    assert t.coins([0, 1], 2, 24).tolist() == [[0.75, 0.0], [0.5, 0.75]]
    assert t.short.tolist() == [True, False] and t.used.tolist() == [2, 2]
    with pytest.raises(TapeShort):
        t.picks([0, 1], [[0.0, 1.0]] * 2)
    assert t.short.all() and t.log()[0].tolist() == [2, 2]


def test_what_short_rows_get_lets_a_function_go_on() -> None:
    t = Tape(np.array([[0.5] * 3, [0.5] * 3]), 3)
    t.coins([0], 3, 24)
    assert t.picks([0, 1], [[0.0, 1.0], [1.0, 1.0]]).tolist() == [1, 1]
    assert t.clocks([0, 1], 1).tolist() == [[1.0], [math.log(2)]]
    assert t.integers([0, 1], 4).tolist() == [0, 2]
    assert t.short.tolist() == [True, False]


def test_a_loop_that_a_short_row_keeps_alive_ends() -> None:
    t = Tape(np.zeros((2, 1)), 3)
    with pytest.raises(TapeShort):
        for _ in range(10**6):
            t.coins([0], 1, 24)
    assert not t.short[1]


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -0.5], [math.nan, 1.0], [math.inf, 1.0], [1e308, 1e308], []])
def test_weights_without_mass_end_a_single_row(weights: list[float]) -> None:
    t = tape([0.5, 0.5])
    with pytest.raises(NoMass):
        t.picks(0, [weights])
    assert t.massless.tolist() == [True] and "weights" in t.faults[0]
    counts, draws, logged, _ = t.log()
    assert counts.tolist() == [1] and draws[0, 1] == len(weights)
    assert logged.tolist() == [0.0] * len(weights)  # zeros, because the protocol requires finite numbers


def test_no_mass_is_what_libraries_raise() -> None:
    for kind in (ValueError, RuntimeError):
        with pytest.raises(kind):
            tape([0.5]).picks(0, [[0.0]])


def test_weights_without_mass_cost_a_batch_that_row_alone() -> None:
    t = tape([0.5, 0.5], [0.5, 0.5], [0.5, 0.5])
    cells = t.picks([0, 1, 2], [[1.0, 1.0], [0.0, 0.0], [math.nan, 1.0]])
    assert cells.tolist() == [1, 0, 0]
    assert t.massless.tolist() == [False, True, True] and set(t.faults) == {1, 2}
    assert t.log()[2].tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    with pytest.raises(NoMass, match="row 0"):
        t.picks([0], [[0.0, 0.0]])


def test_a_batch_is_its_rows_one_by_one() -> None:
    """Makes random calls on random subsets of rows, with forced values, short rows and weights that are 0."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        b, m = int(rng.integers(2, 5)), int(rng.integers(1, 12))
        values = np.where(rng.random((b, m)) < 0.3, -1.0, rng.random((b, m)))
        many, ones = Tape(values, 3), [Tape(values[i : i + 1], 3) for i in range(b)]
        alive = np.ones(b, bool)
        for _ in range(int(rng.integers(1, 8))):
            rows = np.flatnonzero(rng.random(b) < 0.7)
            rows = rows[alive[rows]]
            if len(rows) == 0:
                continue
            kind, n = int(rng.integers(4)), int(rng.integers(1, 4))
            weights = rng.integers(0, 3, (b, n)).astype(float)
            weights[:, 0] += 1

            def draw(t: Tape, at: list[int], kind: int = kind, n: int = n, weights: Any = weights) -> list[object]:
                index = [0] * len(at) if t.rows == 1 else at
                if kind == 0:
                    return list(t.coins(index, n, 24, "a").tolist())
                if kind == 1:
                    return list(t.picks(index, weights[at], "b").tolist())
                return list((t.clocks(index, n, "c") if kind == 2 else t.integers(index, n)).tolist())

            try:
                found = draw(many, rows.tolist())
            except TapeShort:
                found = []
            for i, row in enumerate(rows):
                try:
                    alone = draw(ones[row], [row])
                    assert found == [] or alone == [found[i]]
                except TapeShort:
                    alive[row] = False
        assert many.used.tolist() == [int(t.used[0]) for t in ones]
        assert many.short.tolist() == [bool(t.short[0]) for t in ones]
        counts, draws, weights_of, streams = many.log()
        names = [*streams, ""]
        logs = [t.log() for t in ones]
        assert counts.tolist() == [int(log[0][0]) for log in logs]
        assert [(*d[:3], names[d[3]]) for d in draws.tolist()] == [
            (*d[:3], [*log[3], ""][d[3]]) for log in logs for d in log[1].tolist()
        ]
        assert weights_of.tolist() == [w for log in logs for w in log[2].tolist()]


def test_bad_values_are_refused() -> None:
    for values in ([[1.0]], [[math.nan]], [[0.5, math.inf]]):
        with pytest.raises(ValueError, match="below 1"):
            Tape(values, 3)
    with pytest.raises(ValueError, match="shape"):
        Tape([0.5], 3)
    with pytest.raises(ValueError, match=r"forced cell 2, expected 0 \.\. 1"):
        tape([-3.0]).picks(0, [[1.0, 1.0]])
    with pytest.raises(ValueError, match="forced integer 4"):
        tape([-5.0], [0.5]).integers([0, 1], 4)
    with pytest.raises(ValueError, match="54 bits"):
        tape([0.5]).coins(0, 1, 54)
