"""Tests of check, distribution, replay and acceptance on functions, through the program."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catalogue.without_torch import numpy_coin_narrowed, numpy_residual_is_target
from numpy_chain import pick, right

import draftproof
from draftproof import store

FEW: dict[str, Any] = {"models": 5, "predictions": 32}  # enough for the proof tier to judge these functions


def accept_equal(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    """Wrong, because a draft with p = 0 is accepted if its coin of 24 bits is 0: the test is <= in place of <."""
    for i, x in enumerate(drafts):
        if not rng.random(dtype=np.float32) * q[i, x] <= p[i, x]:
            return [*drafts[:i], pick(np.maximum(p[i].astype(float) - q[i], 0), rng)]
    return [*drafts, pick(p[len(drafts)].astype(float), rng)]


def test_a_right_function_holds_at_every_tier(in_a_folder: Path) -> None:
    verdict = draftproof.check(right, **FEW)
    assert [tier.tier for tier in verdict.tiers] == ["proof", "edge", "sampled"]
    assert verdict.status == "passed"
    assert verdict.calls > 1000
    kinds = {entry.kind for entry, _ in verdict.draws}
    assert kinds == {"coin", "pick"}
    assert not (in_a_folder / ".draftproof").exists()


def test_distribution_searches_for_races_of_uniforms_as_check_does() -> None:
    def gumbel(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        noise = -np.log(-np.log(np.maximum(rng.random(p.shape[1]), 2.0**-54)))
        return [int((np.log(p[0].astype(float)) + noise).argmax())]

    distribution = draftproof.distribution(
        gumbel, p=[[0.5, 0.375, 0.125]] * 2, q=[[0.25, 0.5, 0.25]], drafts=[0], arrays="numpy"
    )
    assert distribution.state == "settled"
    assert distribution.calls < 1000
    assert distribution.first(3) == pytest.approx([0.5, 0.375, 0.125], abs=1e-6)


def test_a_batch_that_draws_as_long_as_a_row_is_alive_holds_on_rows_that_a_batch_alone_would_refute() -> None:
    """The function draws coins until all rows of the batch have rejected. Then the loop ends, and the race takes
    earlier positions of the tape, so that pairs of its clocks show a wrong ratio of the weights."""
    torch = pytest.importorskip("torch")

    def verify(p: Any, q: Any, drafts: Any, lengths: Any, generator: Any) -> Any:
        count, longest = drafts.shape
        rows, places = torch.arange(count), torch.arange(longest + 1)
        inside = places[:longest] < lengths[:, None]
        index = drafts.clamp(min=0)[:, :, None]
        own, other = p[:, :longest].gather(2, index)[:, :, 0], q.gather(2, index)[:, :, 0]
        n, alive = torch.zeros(count, dtype=torch.long), torch.ones(count, dtype=torch.bool)
        for i in range(longest):
            alive = alive & inside[:, i] & (torch.rand(count, generator=generator) * other[:, i] < own[:, i])
            n += alive
            if not alive.any():
                break
        row = p[rows, n]
        rest = (row - q[rows, n.clamp(max=longest - 1)]).clamp(min=0)
        weights = torch.where(((n < lengths) & (rest.sum(1) > 0))[:, None], rest, row)
        tokens = torch.cat([drafts, torch.full((count, 1), -1)], 1)
        tokens[rows, n] = (weights / torch.empty_like(weights).exponential_(generator=generator)).argmax(1)
        return torch.where(places <= n[:, None], tokens, -1)

    instance = "L=2 K=1 [] p=(4 7 4)/15 q=(5 7 4)/16 [0] p=(0 0 1)/1 q=(0 0 1)/1"
    asked: dict[str, Any] = {"tier": "proof", "models": 0, "instance": instance, "predictions": 16, "keep": False}
    verdict = draftproof.check(verify, arrays="torch", batched=True, **asked)
    assert verdict.status == "passed"
    assert verdict.calls < 10_000


def test_trials_are_skipped_after_a_proof_has_refuted_the_function_unless_they_are_named() -> None:
    usual = draftproof.check(numpy_residual_is_target, keep=False, raises=False, **FEW)
    named = draftproof.check(
        numpy_residual_is_target, keep=False, raises=False, tier=("proof", "edge", "sampled"), **FEW
    )
    alone = draftproof.check(numpy_residual_is_target, keep=False, raises=False, tier="sampled", **FEW)
    assert [tier.status for tier in usual.tiers] == ["failed", "passed", "skipped"]
    assert [tier.status for tier in named.tiers] == ["failed", "passed", "failed"]
    assert [tier.status for tier in alone.tiers] == ["failed"]
    assert usual.status == "failed"


def test_a_bug_of_large_vocabularies_is_found_on_a_source_that_has_them(in_a_folder: Path) -> None:
    def of_the_first_tokens(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        p = np.where(np.arange(p.shape[1]) < 1100, p, 0)  # a table of fixed length
        return right(p, q, drafts, rng)

    sampled: dict[str, Any] = {"tier": "sampled", "raises": False}
    assert draftproof.check(of_the_first_tokens, **sampled).status == "passed"
    verdict = draftproof.check(of_the_first_tokens, source="zipf:vocabulary=4000", **sampled)
    assert verdict.status == "failed"
    assert "at V = 4000" in str(verdict)
    capture = Path(__file__).parents[2] / "data" / "stories512_positions.npz"
    assert "V = 512" in str(draftproof.check(right, source=capture, **sampled))
    with pytest.raises(draftproof.ProgramError, match="got no parameter"):
        draftproof.check(right, source="zipf:size=4", **sampled)
    for wrong in 4000, "", b"run.npz":
        with pytest.raises(ValueError, match=r"^source: got"):
            draftproof.check(right, source=wrong, **sampled)


def test_the_end_of_the_time_says_what_was_judged_and_what_was_not_asked() -> None:
    def slow(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        time.sleep(0.004)
        return right(p, q, drafts, rng)

    # All models take more than 800 calls, of at least 4 ms each, so the time ends before the last model.
    verdict = draftproof.check(slow, time_limit=1, keep=False, raises=False)
    assert [(tier.tier, tier.status) for tier in verdict.tiers] == [
        ("proof", "undecided"), ("edge", "undecided"), ("sampled", "undecided")]  # fmt: skip
    # The word is there if the program had its signal before the function's last answer said that the time was over.
    assert re.match(r"(stopped; )?\d+ models, \d+ predictions confirmed", verdict.tiers[0].note)
    assert "the time limit of 1 s was over after" in verdict.tiers[1].note
    said = [line for line in str(verdict).splitlines() if line.startswith("    ")]
    assert len(said) == 1 and "the check was not finished" in said[0]  # one line for all checks with this reason


def test_a_wrong_function_is_refuted_on_a_small_instance_and_asked_first(in_a_folder: Path) -> None:
    with pytest.raises(draftproof.Refuted) as caught:
        draftproof.check(numpy_residual_is_target, tier="proof", **FEW)
    (found,) = [f for f in caught.value.verdict.failures if f.check == "exact_distribution"]
    assert found.counterexample.startswith("L=1 K=1 [] p=")
    assert found.counterexample in str(caught.value)
    kept = json.loads((in_a_folder / ".draftproof" / "failures.json").read_text())
    assert kept == {"numpy_residual_is_target": [found.counterexample]}
    again = draftproof.check(numpy_residual_is_target, tier="proof", raises=False, **FEW)
    assert again.calls < caught.value.verdict.calls  # the stored counterexample is tried first
    mended = draftproof.check(right, tier="proof", name="numpy_residual_is_target", models=0)
    assert mended.status == "passed"
    assert store.failures("numpy_residual_is_target") == []


def test_an_edge_of_the_grid_has_its_probability(in_a_folder: Path) -> None:
    verdict = draftproof.check(accept_equal, tier="proof", raises=False, **FEW)
    (found,) = verdict.failures
    assert found.check == "zero_support"
    assert "2^-24" in found.evidence


@pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2, reason="numpy 1 computes in float64 there")
def test_a_coin_that_is_rounded_to_one_has_its_probability(in_a_folder: Path) -> None:
    verdict = draftproof.check(numpy_coin_narrowed, tier="proof", raises=False, **FEW)
    (found,) = verdict.failures
    assert found.check == "answers"
    assert found.counterexample == "L=1 K=1 [] p=(1)/1 q=(1)/1"
    assert "2^-25" in found.evidence


def test_replay_tells_the_distribution_of_each_draft(in_a_folder: Path) -> None:
    text = draftproof.replay(numpy_residual_is_target, "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1")
    assert "exact_distribution" in text
    assert "drafts (1)" in text


def test_distribution_of_given_drafts_and_over_a_draft_sampling(in_a_folder: Path) -> None:
    p, q = [[0.25, 0.75], [0.5, 0.5]], [[0.5, 0.5]]
    given = draftproof.distribution(right, p, q, drafts=[0])
    assert given.state == "settled"
    assert given.of([1]) == pytest.approx(0.5, abs=given.limit + 1e-12)
    assert given.of([0, 0]) == given.of([0, 1]) == pytest.approx(0.25, abs=given.limit + 1e-12)
    drawn = draftproof.distribution(right, p, q)
    assert drawn.first(2) == pytest.approx([0.25, 0.75], abs=drawn.limit + 1e-12)
    wrong = draftproof.distribution(numpy_residual_is_target, p, q)
    assert wrong.first(2) == pytest.approx([0.25 + 0.25 * 0.25, 0.5 + 0.25 * 0.75], abs=1e-6)


def test_rows_that_are_no_probabilities_are_named(in_a_folder: Path) -> None:
    with pytest.raises(draftproof.ProgramError) as caught:
        draftproof.distribution(right, [[0.25, -0.75], [0.5, 0.5]], [[0.5, 0.5]], drafts=[0])
    assert caught.value.exit_code == 2
    assert "-0.75" in str(caught.value)


def test_a_function_of_lists_and_random_holds(in_a_folder: Path) -> None:
    def plain(p: list[list[float]], q: list[list[float]], drafts: list[int]) -> list[int]:
        for i, x in enumerate(drafts):
            if not random.random() * q[i][x] < p[i][x]:
                rest = [max(a - b, 0.0) for a, b in zip(p[i], q[i], strict=True)]
                return [*drafts[:i], random.choices(range(len(rest)), rest if any(rest) else p[i])[0]]
        return [*drafts, random.choices(range(len(p[-1])), p[-1])[0]]

    verdict = draftproof.check(plain, arrays="list", tier=("proof", "edge"), **FEW)
    assert verdict.status == "passed"
    assert {entry.operator for entry, _ in verdict.draws} == {"random.random", "random.choices"}


def test_a_compiled_function_is_run_as_its_original_and_said_so(in_a_folder: Path) -> None:
    torch = pytest.importorskip("torch")

    def plain(p: Any, q: Any, drafts: Any) -> Any:
        u = torch.rand(())
        n = (u * q[0, drafts[0]] < p[0, drafts[0]]).long()
        rest = (p[0] - q[0]).clamp(min=0)
        weights = torch.where(n == 1, p[1], torch.where(rest.sum() > 0, rest, p[0]))
        last = torch.multinomial(weights, 1)
        return torch.cat([drafts[:1], last]) if n else last

    jitted = torch.compile(plain, backend="eager")
    verdict = draftproof.check(jitted, tier="proof", name="jitted", most_drafts=1, models=4, predictions=32)
    assert verdict.status == "passed"
    assert any("torch.compile" in note for note in verdict.notes)


def drawn(q: Any, k: int) -> Any:
    sums = q.astype(float).cumsum(1)[:, None]
    return (np.random.random((len(q), k, 1)) * sums[..., -1:] < sums).argmax(2)


def likeliest(q: Any, k: int) -> Any:
    return q.argmax(1)[:, None].repeat(k, 1)


def test_a_drafter_is_held_to_its_distribution(in_a_folder: Path) -> None:
    asked: dict[str, Any] = {"batched": True, "most_vocabulary": 256}
    np.random.seed(1)
    assert draftproof.check(None, draft=drawn, **asked).status == "passed"
    verdict = draftproof.check(None, draft=likeliest, raises=False, **asked)
    assert "draft_sampling" in {finding.check for finding in verdict.failures}


def engine(residual: bool) -> Any:
    def text(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        target, proposal, tokens = np.array(target).tolist(), np.array(proposal).tolist(), [0]
        every = range(len(target))
        while len(tokens) <= length:
            p, q = target[tokens[-1]], proposal[tokens[-1]]
            x = random.choices(every, q)[0]
            if not random.random() * q[x] < p[x]:
                rest = [max(a - b, 0.0) for a, b in zip(p, q, strict=True)] if residual else p
                x = random.choices(every, rest if any(rest) else p)[0]
            tokens.append(x)
        return tokens[1 : length + 1]

    return text


def test_a_text_of_a_whole_engine_is_held_to_the_target(in_a_folder: Path) -> None:
    assert draftproof.check(None, generate=engine(residual=True)).status == "passed"
    with pytest.raises(ValueError, match="got None"):
        draftproof.check(None)
    verdict = draftproof.check(None, generate=engine(residual=False), raises=False)
    assert [finding.check for finding in verdict.failures] == ["generated_text"]


def whole_text(memory: int = 1, end: int = -1, rolls_back: bool = True, cuts: bool = True) -> Any:
    """Returns an engine with token verification of chains of drafts, on tables of the last `memory` tokens. Its state
    keeps rejected drafts unless it `rolls_back`. It searches the end token in the whole step if it `cuts`, else only in
    the step's last token."""

    def text(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        every = range(len(target))
        tables = {name: np.array(table) for name, table in (("p", target), ("q", proposal))}

        def row(name: str, context: list[int]) -> Any:
            return tables[name][tuple(context[-memory:])].tolist()

        tokens: list[int] = []
        state = [0] * memory
        while len(tokens) < length:
            context, found = list(state), []
            for _ in range(drafts):
                found += random.choices(every, row("q", state + found))
            step: list[int] = []
            for x in found:
                p, q = row("p", context), row("q", context)
                if random.random() * q[x] < p[x]:
                    step.append(x)
                    context.append(x)
                    continue
                rest = [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]
                step += random.choices(every, rest if any(rest) else p)
                break
            else:
                step += random.choices(every, row("p", context))
            over = end in step if cuts else step[-1] == end
            if over and cuts:
                step = step[: step.index(end) + 1]
            state = (state + (step if rolls_back else [*found, step[-1]]))[-memory:]
            tokens += step
            if over:
                break
        return tokens[:length]

    return text


def test_tables_of_two_tokens_see_a_state_that_keeps_rejected_drafts(in_a_folder: Path) -> None:
    asked: dict[str, Any] = {"raises": False, "keep": False}
    assert draftproof.check(None, generate=whole_text(2), memory=2, **asked).status == "passed"
    assert draftproof.check(None, generate=whole_text(2, rolls_back=False), memory=2, **asked).status == "failed"
    assert draftproof.check(None, generate=whole_text(1, rolls_back=False), **asked).status == "passed"


def test_a_text_ends_with_its_first_end_token(in_a_folder: Path) -> None:
    asked: dict[str, Any] = {"raises": False, "keep": False, "end_tokens": [1]}
    assert draftproof.check(None, generate=whole_text(end=1), **asked).status == "passed"
    verdict = draftproof.check(None, generate=whole_text(end=1, cuts=False), **asked)
    assert verdict.status == "failed" and "follows the end token 1" in str(verdict)


def test_an_engine_draws_from_a_given_generator(in_a_folder: Path) -> None:
    seeds = set()

    def generate(target: Any, proposal: Any, length: int, drafts: int, rng: Any) -> list[int]:
        seeds.add(repr(rng.bit_generator.state))
        text = [0]
        for _ in range(length):
            text.append(int(rng.choice(len(target), p=target[text[-1]])))
        return text[1:]

    assert draftproof.check(None, generate=generate, keep=False).status == "passed"
    assert len(seeds) > 1


def test_lost_tokens_are_impossible_transitions(in_a_folder: Path) -> None:
    def loses(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        tokens = whole_text()(target, proposal, length + length // 16 + 8, drafts)
        return [token for i, token in enumerate(tokens) if i % 64 not in (62, 63)][:length]

    verdict = draftproof.check(None, generate=loses, raises=False, keep=False)
    assert verdict.status == "failed" and "which has p = 0" in str(verdict)


def test_a_step_ends_with_an_end_token(in_a_folder: Path) -> None:
    def cut(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        step = [int(token) for token in right(p, q, drafts, rng)]
        return step[: step.index(1) + 1] if 1 in step else step

    asked: dict[str, Any] = {"end_tokens": [1], "tier": "proof", "raises": False, "keep": False}
    assert draftproof.check(cut, **asked).status == "passed"
    verdict = draftproof.check(right, **asked)
    assert verdict.status == "failed" and "after the end token 1" in str(verdict)


def test_lists_of_doubles_are_not_asked_on_long_rows(in_a_folder: Path) -> None:
    sizes: set[int] = set()

    def verify(p: Any, q: Any, drafts: Any) -> int:
        sizes.add(len(p))
        return random.choices(range(len(p)), p)[0]

    asked: dict[str, Any] = {"level": "position", "dtype": "float16", "tier": "sampled", "keep": False}
    assert draftproof.check(verify, arrays="list", **asked).status == "passed"
    assert 2 < max(sizes) < 100_000


@pytest.mark.parametrize("noise", ["float16", pytest.param("float64", marks=pytest.mark.nightly)])
def test_a_last_draw_in_half_precision_is_asked_on_long_rows(in_a_folder: Path, noise: str) -> None:
    def last_draw(p: Any, q: Any, drafts: Any) -> int:
        """Draws by a race whose noise may round to 0, so that 0 / 0 = NaN wins."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return int(np.argmax(p.astype(np.float64) / np.random.exponential(size=len(p)).astype(noise)))

    asked: dict[str, Any] = {"level": "position", "dtype": "float16", "scripted": False, "raises": False, "keep": False}
    verdict = draftproof.check(last_draw, **asked)
    if noise == "float64":
        assert verdict.status == "passed", str(verdict)
        return
    assert verdict.status == "failed"
    assert "64 of 128256 tokens are possible" in str(verdict)


def greedy_chain(pick: Any) -> Any:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        step: list[int] = []
        for i, row in enumerate(p):
            step.append(pick(row))
            if i < len(drafts) and step[-1] != drafts[i]:
                break
        return step

    return verify


def test_greedy_tokens_are_the_likeliest_with_ties_as_declared(in_a_folder: Path) -> None:
    def first(row: Any) -> int:
        return int(row.argmax())

    def last(row: Any) -> int:
        return int(len(row) - 1 - row[::-1].argmax())

    def drawn(row: Any) -> int:
        """Draws as at a temperature near 0: uniformly from the likeliest tokens."""
        best = np.flatnonzero(row == row.max())
        return int(best[int(np.random.random() * len(best))])

    asked: dict[str, Any] = {"raises": False, "keep": False}
    for declared in ("first", "last", "any"):
        for chosen in (first, last, drawn):
            verdict = draftproof.check(greedy_chain(chosen), greedy=declared, **asked)
            assert (verdict.status == "passed") == (declared in (chosen.__name__, "any")), (
                f"{chosen.__name__}, {declared}: {verdict}"
            )
    second = draftproof.check(greedy_chain(lambda row: int(np.argsort(row)[-2])), greedy="any", **asked)
    assert "which is not the likeliest" in str(second)
    verdict = draftproof.check(greedy_chain(lambda row: int(row.argmin())), greedy="first", **asked)
    assert "which is not the likeliest" in str(verdict)
    with pytest.raises(ValueError, match="greedy: got 'all'"):
        draftproof.check(greedy_chain(first), greedy="all")


def test_unknown_randomness_reaches_the_caller(in_a_folder: Path) -> None:
    def gauss(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        return [int(rng.standard_normal() > 0)]

    with pytest.raises(draftproof.UnknownRandomness, match="standard_normal"):
        draftproof.check(gauss, races=False)


def test_verdicts_are_tables_and_plots(in_a_folder: Path) -> None:
    instance = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1"
    verdict = draftproof.check(numpy_residual_is_target, tier="proof", instance=instance, models=0, raises=False)
    assert {"check", "status", "counterexample"} <= set(verdict.records()[0])
    assert "<table>" in verdict._repr_html_()
    pandas = pytest.importorskip("pandas")
    assert isinstance(verdict.to_frame(), pandas.DataFrame)


def test_acceptance_beside_the_optimum(in_a_folder: Path) -> None:
    found = draftproof.acceptance(right, "zipf:vocabulary=50,positions=4", tuples=4000)
    rows = {row.verifier: row for row in found.rows}
    mine = rows["right"]
    assert mine.low - 0.02 <= mine.optimum <= mine.high + 0.02  # with one draft `right` attains the optimum
    assert "ladder" in rows
    assert "\n  right  " in str(found) and "@python" not in str(found) and found.left_out == {}
    again = draftproof.acceptance(right, "zipf:vocabulary=50,positions=4", tuples=100, name="ladder")
    assert [row.verifier for row in again.rows] == ["ladder", "ladder@python"]


def test_acceptance_states_verifiers_that_did_not_run(in_a_folder: Path) -> None:
    def drawn(p: Any, q: Any, drafts: Any, rng: Any) -> int:
        return int(rng.choice(len(p), p=np.asarray(p, float) / np.sum(p, dtype=float)))

    beside = ["optimal_transport", "ladder_wor", "sample_and_match"]  # the last one takes drafts of two samplings
    asked: dict[str, Any] = {"level": "position", "k": 2, "tuples": 50, "beside": beside}
    found = draftproof.acceptance(drawn, "zipf:vocabulary=512,positions=2", **asked)
    assert [(row.verifier, row.drafts) for row in found.rows] == [("drawn", 2), ("sample_and_match", 2)]
    assert found.left_out == {
        "optimal_transport, K = 2": "the plan enumerates V^K draft tuples",
        "ladder_wor": "got drafts of without_replacement, expected iid",
    }
    assert "\n  left out: optimal_transport, K = 2: the plan enumerates V^K draft tuples" in str(found)


def test_passed_tiers_state_the_fault_that_they_would_have_shown() -> None:
    text = str(draftproof.check(None, generate=engine(residual=True), profile="quick"))
    (line,) = [line for line in text.splitlines() if "would have shown" in line]
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    assert line.strip() in page
    verdict = draftproof.check(right, profile="quick", models=4)
    shown = {finding.tier: finding.sensitivity for finding in verdict.findings if finding.sensitivity}
    models = verdict.tiers[0].note.split()[0]
    assert shown["proof"].startswith("a total variation above ")
    assert f"on one of {models} models of at most 2 drafts, unless" in shown["proof"]
    assert "in about 99 of 100 runs" in shown["sampled"]
    assert f"would have shown {shown['proof']}" in str(verdict)
    assert all(finding.status == "passed" for finding in verdict.findings if finding.sensitivity)


def test_thresholds_as_many_as_tokens_are_not_drawn_as_a_race() -> None:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        at = np.arange(len(drafts))
        kept = np.random.random(len(drafts)) * q[at, drafts] < p[at, drafts]  # V = 2 drafts: V numbers
        n = int(np.cumprod(kept).sum())
        rest = p[n] if n == len(drafts) else np.maximum(p[n] - q[n], 0)
        rest = rest if rest.sum() > 0 else p[n]
        with np.errstate(divide="ignore"):
            clocks = -np.log(np.maximum(np.random.random(len(rest)), 2.0**-54)) / rest
        return [*drafts[:n].tolist(), int(clocks.argmin())]

    rows = "[] p=(4 40)/44 q=(19 3)/22 [0] p=(10 14)/24 q=(28 30)/58 [1] p=(31 33)/64 q=(9 24)/33"
    told = draftproof.replay(verify, f"L=2 K=1 {rows}", dtype="float64")
    assert re.search(r"exact_distribution +passed", told), told


@pytest.mark.parametrize("tier", ["edge", "sampled"])
def test_a_batch_that_goes_on_after_the_drafts_of_a_row_is_found(tier: str) -> None:
    """The function takes the drafts of a row to end where q has no mass, not at its length."""

    def verify(p: Any, q: Any, drafts: Any, lengths: Any) -> Any:
        out = np.full((len(p), drafts.shape[1] + 1), -1)
        coins, last = np.random.random(drafts.shape), np.random.random(len(p))
        for b, row in enumerate(drafts.clip(0)):
            n = int(q[b].any(axis=1).cumprod().sum())
            i = 0
            while i < n and coins[b, i] * q[b, i, row[i]] < p[b, i, row[i]]:
                out[b, i] = row[i]
                i += 1
            rest = np.maximum(p[b, i].astype(float) - q[b, i], 0) if i < n else p[b, i].astype(float)
            sums = np.cumsum(rest if rest.any() else p[b, i].astype(float))
            out[b, i] = np.searchsorted(sums, last[b] * sums[-1], side="right")
        return out

    verdict = draftproof.check(verify, batched=True, tier=tier, raises=False, keep=False)
    assert verdict.status == "failed"
    said = {
        "edge": r"drafts \(\d\): .* a result of [3-9] tokens, expected 1 to 2",
        "sampled": r"of a path of 4 or 8 drafts .*: a result of 9 tokens, expected 1 to 5",
    }
    assert re.search(said[tier], str(verdict))


def test_the_sampled_tier_shows_the_error_of_a_residual_without_mass() -> None:
    def without_fallback(p: Any, q: Any, drafts: Any) -> list[int]:
        found = []
        for i, x in enumerate(drafts.tolist()):
            if np.random.random() * q[i, x] >= p[i, x]:
                residual = np.maximum(p[i] - q[i], 0).astype(np.float64)
                return [*found, int(np.random.choice(len(residual), p=residual / residual.sum()))]
            found.append(x)
        last = p[len(found)].astype(np.float64)
        return [*found, int(np.random.choice(len(last), p=last / last.sum()))]

    with pytest.raises(draftproof.Refuted) as refuted:
        draftproof.check(without_fallback, level="chain", dtype="float32", scripted=False)
    said = str(refuted.value)
    assert re.search(r"on drafts \(0\): fails with .*ValueError.*, expected a token with p > 0", said), said
