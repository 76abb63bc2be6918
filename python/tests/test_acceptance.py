"""Tests that accepted lengths equal sums by hand and that bounds hold in simulated runs; also conversions and
settings."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import draftproof
from draftproof.acceptance import Lengths, accepted_lengths, bound, pooled, steps_for
from draftproof.acceptance.command import run_command
from draftproof.acceptance.engines import synthetic
from draftproof.acceptance.measure import mean_bounds
from draftproof.acceptance.planning import distribution_of_sum

DATA = Path(__file__).parents[2] / "data"
QUARTERS = (
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.5, 0.25, 0.25]],
    [[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]],
)


def pick(weights: Any, rng: Any) -> int:
    weights = np.asarray(weights, np.float64)
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def right(p: Any, q: Any, drafts: Any, rng: Any, keep: float = 1.0) -> list[int]:
    """Verifies by single-draft rejection in double precision. A `keep` below 1 makes the rule accept less often."""
    out: list[int] = []
    for i, x in enumerate(drafts):
        target, proposal = (np.asarray(row, np.float64) for row in (p[i], q[i]))
        if rng.random() * float(proposal[x]) < keep * float(target[x]):
            out.append(int(x))
            continue
        rest = np.maximum(target - np.minimum(keep * target, proposal), 0.0)
        return [*out, pick(rest if rest.sum() > 0 else target, rng)]
    return [*out, pick(p[len(drafts)], rng)]


def accepts_nothing(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    return [pick(p[0], rng)]


def loses(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    return right(p, q, drafts, rng, keep=0.98)


def by_hand(p: Any, q: Any) -> Lengths:
    """Returns the lengths of single-draft rejection by enumeration of all draft tuples, in fractions."""
    found = [Fraction(0)] * (len(q) + 1)
    rows_p, rows_q = ([[Fraction(x) for x in row] for row in rows] for rows in (p, q))
    for drafts in itertools.product(range(len(q[0])), repeat=len(q)):
        weight = math.prod(rows_q[i][x] for i, x in enumerate(drafts))
        for i, x in enumerate(drafts):
            accept = min(Fraction(1), rows_p[i][x] / rows_q[i][x])
            found[i] += weight * (1 - accept)
            weight *= accept
        found[-1] += weight
    return Lengths(tuple(found))


def test_lengths_are_exact_in_fractions() -> None:
    found = draftproof.acceptance(right, QUARTERS, dtype="float64")
    expected = by_hand(*QUARTERS)
    assert found.exact == "fractions"
    assert found.lengths == expected == Lengths.of_rows(*([[Fraction(x) for x in row] for row in r] for r in QUARTERS))
    assert (found.mean, found.variance) == (Fraction(21, 16), Fraction(183, 256))
    marginal = found.lengths.marginal
    assert marginal == (Fraction(3, 4), Fraction(9, 16))
    assert found.variance == sum((2 * i + 1) * rate for i, rate in enumerate(marginal)) - found.mean**2
    assert "1.3125 = 21/16" in str(found)


def test_the_mean_is_required_exactly() -> None:
    assert accepted_lengths(right, QUARTERS, at_least=Fraction(21, 16), dtype="float64").mean == Fraction(21, 16)
    with pytest.raises(draftproof.TooFewAccepted, match=r"got 1.3125 accepted drafts a step, expected at least 1.3126"):
        accepted_lengths(right, QUARTERS, at_least=1.3126, dtype="float64")
    with pytest.raises(draftproof.TooFewAccepted) as caught:
        accepted_lengths(loses, QUARTERS, at_least=1.3125, dtype="float64")
    assert caught.value.expected == 1.3125
    assert caught.value.got == pytest.approx(0.74 * 1.74, abs=1e-9)  # sum min(0.98 p, q) = 0.74 for both drafts
    float32 = accepted_lengths(right, QUARTERS)
    assert float32.exact == "fractions" and float32.mean == Fraction(21, 16)


def test_several_rows_are_mixed() -> None:
    other = (QUARTERS[0], QUARTERS[0][:2])  # p = q: all drafts are accepted
    found = accepted_lengths(right, [QUARTERS, other], dtype="float64")
    assert [one.mean for one in found.by_rows] == [Fraction(21, 16), 2]
    assert found.mean == Fraction(53, 32)
    both = draftproof.acceptance(right, (QUARTERS, QUARTERS), dtype="float64")  # a tuple of two pairs
    assert both.lengths == draftproof.acceptance(right, QUARTERS, dtype="float64").lengths and len(both.by_rows) == 2


@pytest.mark.parametrize("exact", [True, False])
def test_a_rule_that_accepts_nothing_accepts_zero(exact: bool) -> None:
    """The rule never accepts. With probability 5/16 its token equals the draft by coincidence, which must not count."""
    found = accepted_lengths(accepts_nothing, QUARTERS, exact=exact, steps=500)
    assert found.mean == 0 and found.low == 0
    assert found.lengths.probabilities == (1, 0, 0)


def test_a_rule_that_accepts_nothing_on_captures() -> None:
    rates = draftproof.acceptance(accepts_nothing, "zipf:vocabulary=50,positions=4", tuples=2000)
    assert rates.rows[0].rate == 0.0
    trees = draftproof.acceptance(accepts_nothing, DATA / "stories512_trees.npz", tuples=500)
    assert trees.mean == 0


def test_a_position_states_its_count() -> None:
    def of_position(p: Any, q: Any, drafts: Any, rng: Any) -> tuple[int, int]:
        for x in drafts[:1]:
            if rng.random() * float(q[x]) < float(p[x]):
                return int(x), 1
        return pick(p, rng), 0  # the token should be drawn from the residual, but only the count is tested

    p, q = QUARTERS[0][0], QUARTERS[1][0]
    with pytest.raises(ValueError, match="count: got None for a function of level position"):
        accepted_lengths(of_position, (p, q), level="position")
    with pytest.raises(ValueError, match="at_least: got a function of level position"):
        draftproof.acceptance(of_position, "zipf:vocabulary=50", level="position", at_least=0.5)
    asked: dict[str, Any] = {"level": "position", "count": lambda answer: answer[1], "dtype": "float64"}
    assert accepted_lengths(of_position, (p, q), **asked).mean == Fraction(3, 4)
    two = accepted_lengths(of_position, (p, q), k=2, **asked)
    assert (two.mean, two.lengths.draft_rate) == (Fraction(3, 4), Fraction(3, 8))  # one of two drafts at most
    found = accepted_lengths(of_position, (p, q), exact=False, steps=4000, **asked)
    assert found.low < 0.75 < found.high


def test_a_tree_is_enumerated_and_simulated() -> None:
    def of_tree(p: Any, q: Any, drafts: Any, parents: Any, rng: Any) -> list[int]:
        """Accepts the first child only."""
        kept: list[int] = []
        at = -1
        while True:
            children = [i for i, parent in enumerate(parents) if parent == at]
            if not children:
                break
            x = int(drafts[children[0]])
            if rng.random() * float(q[children[0]][x]) >= float(p[at + 1][x]):
                break
            kept.append(x)
            at = children[0]
        return [*kept, pick(p[at + 1], rng)]

    p = [[0.5, 0.25, 0.25, 0.0]] * 4
    q = [[0.25, 0.25, 0.5, 0.0]] * 3
    asked: dict[str, Any] = {"level": "tree", "parents": [-1, -1, 0], "dtype": "float64"}
    exact = accepted_lengths(of_tree, (p, q), **asked)
    assert exact.lengths.probabilities == (Fraction(1, 4), Fraction(3, 16), Fraction(9, 16))
    found = accepted_lengths(of_tree, (p, q), exact=False, steps=4000, **asked)
    assert found.low < float(exact.mean) < found.high < found.low + 0.3
    for one in (exact, found):
        assert one.lengths.drafts == 3 and one.lengths.draft_rate == one.mean / 3  # three nodes, at two depths
    with pytest.raises(ValueError, match="parents: got None"):
        accepted_lengths(of_tree, (p, q), level="tree")


def test_large_rows_are_simulated_with_intervals() -> None:
    random = np.random.default_rng(5)
    p, q = random.dirichlet(np.full(1000, 0.05), 4), random.dirichlet(np.full(1000, 0.05), 3)
    q = 0.7 * p[:3] + 0.3 * q
    expected = float(Lengths.of_rows(p, q).mean)
    found = accepted_lengths(right, (p, q), steps=3000, at_least=expected)
    assert found.exact == "no" and found.steps == 3000
    assert found.low < expected < found.high
    with pytest.raises(draftproof.TooFewAccepted, match=r"at most .*expected at least"):
        accepted_lengths(right, (p, q), steps=3000, at_least=expected * 1.15)
    assert 0.02 < found.sensitivity < 0.15


def test_a_run_that_shows_no_loss_does_not_claim_one() -> None:
    found = accepted_lengths(accepts_nothing, QUARTERS, exact=False, steps=16)
    assert found.mean == 0 and found.sensitivity == math.inf
    assert "; a loss could not have been found in 99 of 100 runs" in str(found) and " 0 %" not in str(found)
    # The upper end of the interval of two steps is twice the mean or more, so that even a mean of 0 would pass.
    assert "a loss could not have been found" in str(accepted_lengths(right, QUARTERS, exact=False, steps=2))


def test_steps_without_drafts_have_lengths(capsys: Any) -> None:
    one = Lengths.of_counts([5])
    assert (one.longest, one.mean, one.marginal, one.conditional, one.draft_rate) == (0, 0, (), (), 0)
    assert run_command(["convert", "--counts", "5"]) == 0
    assert "accepted drafts of a step     0\n" in capsys.readouterr().out


def test_captured_trees_have_the_programs_lengths() -> None:
    found = draftproof.acceptance(right, DATA / "stories512_trees.npz", length=4, tuples=4000, at_least=2.4)
    assert found.low < 2.628 < found.high  # token_path has the mean 2.628 at 65,536 steps
    with pytest.raises(draftproof.TooFewAccepted, match=r"^right: got 2\.\d+ \(at most 2\.\d+\) accepted drafts"):
        draftproof.acceptance(right, DATA / "stories512_trees.npz", length=4, tuples=4000, at_least=2.9)


def test_the_drafts_of_all_captured_paths_are_counted() -> None:
    def of_paths(p: Any, q: Any, drafts: Any, parents: Any, rng: Any) -> list[int]:
        """Accepts the first path up to its second token, without a test."""
        return [int(drafts[0]), int(drafts[1]), pick(p[2], rng)]

    asked: dict[str, Any] = {"drafts": "iid_paths", "level": "tree", "k": 2, "length": 3, "tuples": 50}
    lengths = draftproof.acceptance(of_paths, DATA / "stories512_trees.npz", **asked).lengths
    assert (lengths.mean, lengths.drafts, lengths.draft_rate) == (2, 6, Fraction(1, 3))
    assert lengths.document()["drafts"] == 6 and "accepted drafts per draft     0.333333 = 1/3" in str(lengths)


@pytest.mark.parametrize(
    "rows, named, said",
    [
        ("trees", {"level": "tree", "k": [1, 2]}, r"k: got \[1, 2\] for captured trees, expected one number of paths"),
        ("trees", {"k": 2}, "k: got 2 for a function of level chain, expected 1"),
        ("trees", {"beside": ["nothing"]}, r"beside: got \['nothing'\] for captured trees, expected none"),
        ("positions", {"k": [1, 2]}, r"k: got \[1, 2\] for a function of level chain, expected 1"),
        ("positions", {"length": 4}, "length: got 4 for a capture without trees, expected None"),
        (QUARTERS, {"k": 2}, "k: got 2 for a function of level chain, expected 1"),
    ],
)
def test_an_argument_without_effect_is_refused(rows: Any, named: dict[str, Any], said: str) -> None:
    captured = DATA / f"stories512_{rows}.npz" if isinstance(rows, str) else rows
    with pytest.raises(ValueError, match=said):
        draftproof.acceptance(accepts_nothing, captured, **named)


def test_rates_of_steps_with_different_numbers_of_drafts_are_pooled() -> None:
    one, three = Lengths.of_counts([1, 1]), Lengths((Fraction(0), Fraction(1)), drafts=3)
    both = Lengths.mixed([one, three])
    assert (both.drafts, both.draft_rate) == (2, Fraction(3, 8))  # 1/2 and 1 of 1 and 3 drafts
    assert both.shortened(0.5).drafts == 2 and Lengths.mixed([one, one]) == one
    assert Lengths.mixed([one, Lengths.of_counts([1, 1], drafts=4)]).document()["drafts"] == 2.5
    with pytest.raises(ValueError, match=r"drafts: got 0.5, expected a number that is at least the mean of 1 accepted"):
        Lengths((0.0, 1.0), drafts=0.5)


def test_mean_bounds_hold() -> None:
    """Computes by exact binomial tails the probability that a bound is wrong. This probability must be at most the
    stated probability, and at least 1/50 of it, so that the bounds are not much too wide."""
    steps, error = 400, 1e-3
    for rate in (0.05, 0.5, 0.9):
        wrong = 0.0
        for n in range(steps + 1):
            chance = math.comb(steps, n) * rate**n * (1 - rate) ** (steps - n)
            wrong += chance * (mean_bounds(n / steps, steps, error)[1] < rate)
        assert error / 50 < wrong <= error
    assert mean_bounds(0.0, 10, 1e-3)[0] == 0.0 and mean_bounds(1.0, 10, 1e-3)[1] == 1.0


def test_the_distribution_of_a_sum() -> None:
    lengths = Lengths.of_marginal([0.8, 0.6, 0.4])
    by_convolution = np.ones(1)
    for _ in range(7):
        by_convolution = np.convolve(by_convolution, [float(x) for x in lengths.probabilities])
    assert np.allclose(distribution_of_sum(lengths, 7), by_convolution, atol=1e-14)


def test_a_loss_is_flagged_and_right_runs_are_not() -> None:
    """Makes 300 runs of each rule with the planned number of steps; python/tests/acceptance_runs.py makes more."""
    lengths = Lengths.of_marginal([0.84, 0.7, 0.62, 0.57])
    plan = steps_for(lengths, loss=0.05, false_alarm=1e-5, miss=0.01)
    assert plan.exact and plan.false_alarm <= 1e-5 and plan.miss <= 0.01
    assert bound(lengths, int(plan.steps * 0.99), loss=0.05).miss > 0.01
    random = np.random.default_rng(7)

    def means(one: Lengths) -> Any:
        counts = random.multinomial(plan.steps, [float(x) for x in one.probabilities], 300)
        return counts @ np.arange(one.longest + 1) / plan.steps

    assert (means(lengths) >= plan.least).all()
    assert (means(lengths.shortened(0.05)) < plan.least).mean() >= 0.97


@pytest.mark.parametrize("marginal", [[1.0, 1.0], [0.999], [0.5]])
def test_no_fewer_steps_are_enough(marginal: list[float]) -> None:
    """For two drafts that are always accepted, a loss keeps both with probability r^2, r + r^2 = 1.98, and passes if
    that happens in every step. The normal approximation, with which the search begins, is far too large there."""
    lengths = Lengths.of_marginal(marginal)
    plan = steps_for(lengths)
    assert plan.miss <= 0.01 < bound(lengths, plan.steps - 1 - plan.steps // 1000).miss
    if marginal == [1.0, 1.0]:
        kept = (math.sqrt(1 + 4 * 1.98) - 1) / 2
        assert plan.steps == math.ceil(math.log(0.01) / math.log(kept**2)) == 344


def test_recommended_prompts_suffice_and_more_do_too(capsys: Any) -> None:
    """The probability of a miss is a sawtooth of the number of steps: 750 steps sufficed in the first case, the 752
    steps of 47 prompts did not."""
    random = np.random.default_rng(3)
    cases: list[tuple[list[float], float, float, float, int]] = [
        ([0.875, 0.872], 0.1, 1e-5, 0.01, 16),
        ([0.5], 0.3, 0.01, 0.05, 1),
        ([0.5] * 4, 0.05, 0.2, 1e-4, 7),  # sums are multiples of 4
        ([0.5] + [0.4999] * 3, 0.05, 0.2, 1e-4, 7),  # nearly so
        ([1.0] * 3, 0.05, 1e-5, 0.01, 1),
    ]
    for _ in range(40):
        rates = np.sort(random.choice([0.25, 0.5, 0.8, random.random(), 1.0], random.integers(1, 5)))[::-1].tolist()
        loss, alarm, miss = random.choice([0.1, 0.2, 0.5]), random.choice([1e-5, 0.01, 0.2]), random.choice([1e-3, 0.1])
        cases.append((rates, float(loss), float(alarm), float(miss), int(random.choice([1, 2, 16, 64]))))
    for rates, loss, alarm, miss, each in cases:
        lengths = Lengths.of_marginal(rates)
        common = ["--marginal", ",".join(map(str, rates)), f"--loss={loss}", f"--false-alarm={alarm}", f"--miss={miss}"]
        assert run_command(["prompts", *common, f"--steps-per-prompt={each}", "--json"]) == 0
        plan = json.loads(capsys.readouterr().out)
        assert plan["steps"] == plan["prompts"] * each
        assert run_command(["judge", *common, f"--steps={plan['steps']}", f"--got={float(lengths.mean)}"]) == 0
        capsys.readouterr()
        first = plan["prompts"]
        misses = [
            bound(lengths, n * each, loss=loss, false_alarm=alarm).miss for n in range(max(1, first - 1), first + 20)
        ]
        assert max(misses[-20:]) <= miss
        assert first == 1 or misses[0] > miss


def test_shortened_lengths_have_the_loss() -> None:
    lengths = Lengths.of_marginal([0.8, 0.6, 0.4])
    assert lengths.shortened(0.1).mean == pytest.approx(0.9 * 1.8)
    with pytest.raises(ValueError, match="loss: got 1"):
        lengths.shortened(1)


def test_prompts_that_differ_need_more(capsys: Any) -> None:
    asked = ["prompts", "--marginal", "0.84,0.7,0.62,0.57", "--loss", "0.05", "--steps-per-prompt", "64", "--json"]
    assert run_command(asked) == 0
    same = json.loads(capsys.readouterr().out)
    assert run_command([*asked, "--between", "0.3"]) == 0
    fresh = json.loads(capsys.readouterr().out)
    assert same["exact"] and not fresh["exact"]
    # If the means of prompts have a standard deviation of 0.3, the number of steps grows by the factor
    # (variance of a step + 64 * 0.3^2) / variance of a step.
    variance = float(Lengths.of_marginal([0.84, 0.7, 0.62, 0.57]).variance)
    assert fresh["steps"] / same["steps"] == pytest.approx((variance + 64 * 0.09) / variance, rel=0.03)
    assert same["prompts"] == -(-same["steps"] // 64)


def test_conversions() -> None:
    lengths = Lengths.of_marginal([0.8, 0.6, 0.4])
    assert lengths.mean_with_bonus == pytest.approx(2.8)
    assert lengths.conditional == pytest.approx((0.8, 0.75, 2 / 3))
    assert lengths.draft_rate == pytest.approx(0.6)
    again = Lengths.of_conditional([0.8, 0.75, 2 / 3])
    assert again.probabilities == pytest.approx(lengths.probabilities)
    assert Lengths.of_counts([1, 1, 2]).marginal == (Fraction(3, 4), Fraction(1, 2))
    assert Lengths.of_marginal([0.5, 0.0, 0.0]).conditional == (0.5, 0.0, None)
    both = pooled([(2, 1), (1, 1), (0, 2), (9, 2)])
    assert (both.pooled, both.mean_of_means) == (2.0, 1.875)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["convert", "--marginal", "0.5,0.6"], "marginal rate of draft 2: got 0.6, expected at most"),
        (["convert", "--marginal", "0.5,nan"], "marginal rate of draft 2: got nan, expected 0 to 1"),
        (["convert", "--conditional", "1.5"], "conditional rate of draft 1: got 1.5"),
        (["convert", "--counts", "3,-1"], "steps that accepted 1 drafts: got -1"),
        (["convert", "--counts", "0,0"], "steps: got 0"),
        (["convert", "--requests", "3:0"], "request 0: got 3 drafts in 0 calls"),
        (["convert", "--requests", "3"], "got '3' in '3', expected ACCEPTED:CALLS"),
        (["convert", "--with-bonus", "9", "--drafts", "4"], "mean: got 8 accepted drafts, expected 0 to 4"),
        (["convert", "--with-bonus", "nan", "--drafts", "4"], "mean: got nan"),
        (["convert", "--with-bonus", "2"], "--drafts: got None"),
        (["prompts", "--marginal", "0"], "lengths: got a mean of 0"),
        (["prompts", "--marginal", "0.5", "--false-alarm", "0"], "false_alarm: got 0.0"),
        (["prompts", "--marginal", "0.5", "--loss", "2"], "loss: got 2.0"),
        (["prompts", "--marginal", "0.5", "--between", "-1"], "prompts: got a deviation of -1"),
        (["judge", "--marginal", "0.5", "--steps", "0", "--got", "1"], "steps: got 0"),
        (["judge", "--marginal", "0.5", "--steps", "10", "--got", "nan"], "--got: got nan"),
        (
            ["judge", "--marginal", "0.5", "--steps", "10", "--got", "1.5"],
            "accepted drafts, without the bonus, of 0 to 1",
        ),
        (
            ["convert", "--marginal", "0.5", "--drafts", "3"],
            "--drafts: got 3, expected only together with --with-bonus or",
        ),
        (["nothing"], "invalid choice: 'nothing'"),
    ],
)
def test_bad_input_has_exit_code_2(arguments: list[str], said: str, capsys: Any) -> None:
    assert run_command(arguments) == 2
    errors = capsys.readouterr().err
    assert said in errors and "Traceback" not in errors


def test_judged_means(capsys: Any) -> None:
    asked = ["judge", "--marginal", "0.8,0.6", "--steps", "20000", "--loss", "0.05", "--got"]
    assert run_command([*asked, "1.39"]) == 0
    assert run_command([*asked, "1.35"]) == 1
    assert "failed: got 1.35 accepted drafts a step, expected at least 1.3" in capsys.readouterr().out
    few = ["judge", "--marginal", "0.8,0.6", "--steps", "20", "--loss", "0.05", "--got"]
    assert run_command([*few, "1.4"]) == 3  # a loss of 5 % would pass nearly always
    assert "undecided: got 1.4 accepted drafts a step" in capsys.readouterr().out
    assert run_command([*few, "0"]) == 1
    assert run_command([*few, "1.4", "--miss", "2"]) == 2


def test_settings_of_engines() -> None:
    lengths = Lengths.of_counts([603, 514, 365, 275, 2339])
    lines = {one.engine: one.line for one in synthetic(lengths)}
    options = json.loads(lines["vLLM"].partition("'")[2].rstrip("'"))
    assert sum(options["synthetic_acceptance_rates"]) == pytest.approx(float(lengths.mean), abs=1e-5)
    assert options["num_speculative_tokens"] == 4
    assert lines["SGLang"].startswith("SGLANG_SIMULATE_ACC_LEN=3.78931 ")  # with the bonus
    assert lines["TensorRT-LLM"].endswith("=2.78931")  # without the bonus
    nothing = {one.engine: one.line for one in synthetic(Lengths.of_marginal([0.0]))}
    assert nothing["TensorRT-LLM"] == ""


def test_rows_are_checked() -> None:
    p, q = QUARTERS
    for rows, said in (
        ([], "rows: got none"),
        ((p, [*q, q[0]]), r"rows 0: got p \[3, 3\] and q \[3, 3\]"),
        ((p, [[0.5, 0.5, 0.5], q[1]]), r"rows 0: q: row 0: got a sum of 1.5"),
        ((p, [[0.5, 0.5, math.nan], q[1]]), r"rows 0: q: row 0: got an entry below 0 or not finite"),
        ([(p, q), (p[1:], q[1:])], "rows: got 1, 2 drafts"),
        ([p], "rows 0: got list, expected a pair"),
    ):
        with pytest.raises(ValueError, match=said):
            accepted_lengths(right, rows)
    for named, said in (
        ({"at_least": math.nan}, "at_least: got nan"),
        ({"at_least": -1.0}, "at_least: got -1"),
        ({"false_alarm": 0.0}, "false_alarm: got 0"),
        ({"drafts": "greedy"}, "drafts: got 'greedy'"),
    ):
        with pytest.raises(ValueError, match=said):
            accepted_lengths(right, (p, q), **named)
    with pytest.raises(ValueError, match=r"exact: got 40\^1 draft tuples"):
        accepted_lengths(right, (np.full((2, 40), 1 / 40), np.full((1, 40), 1 / 40)), exact=True)


def test_the_fixture_fails_with_both_numbers(pytester: Any) -> None:
    pytester.makepyfile(
        test_mine="""
        import numpy as np

        P = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]
        Q = [[0.25, 0.25, 0.5]]

        def mine(p, q, drafts, rng):
            x = int(drafts[0])
            if rng.random() * float(q[0][x]) < float(p[0][x]):
                return [x, 0]
            return [0]

        def test_enough(draftproof_acceptance):
            draftproof_acceptance(mine, (P, Q), at_least=0.75)

        def test_too_few(draftproof_acceptance):
            draftproof_acceptance(mine, (P, Q), at_least=0.76)
        """
    )
    result = pytester.runpytest("-p", "draftproof.pytest_plugin")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*mine: got 0.75 accepted drafts a step, expected at least 0.76: 1.32 % too few*"])


def test_the_page(capsys: Any) -> None:
    page = (DATA.parent / "docs" / "acceptance.md").read_text()
    blocks = [block.partition("```")[0] for block in page.split("```python\n")[1:]]
    names: dict[str, Any] = {}
    exec(blocks[0], names)
    printed = capsys.readouterr().out
    for line in printed.splitlines():
        assert f"    {line}\n" in page
    with pytest.raises(draftproof.TooFewAccepted) as caught:
        draftproof.acceptance(names["verify"], (names["p"], names["q"]), dtype="float64", at_least=1.35)
    assert str(caught.value).splitlines()[0] in " ".join(page.split())
    start = "    python -m draftproof acceptance "
    asked = [line[len(start) :].split() for line in page.splitlines() if line.startswith(start)]
    assert len(asked) == 8
    for arguments in asked:
        assert run_command(arguments) == 0
        text = capsys.readouterr().out
        if arguments[0] == "prompts":
            for line in text.splitlines():
                assert f"    {line}\n" in page
