"""Tests of tune with selection policies."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cost_tables import TREES, passes, setting, table, timed

from draftproof import program
from draftproof.tune import OutOfTable, Setting
from draftproof.tune.command import run_command
from draftproof.tune.costs import PASSES, costs_of
from draftproof.tune.ranking import seconds_of
from draftproof.tune.settings import StepSize


def chosen(**changed: Any) -> Setting:
    """Returns a chain of 3 drafts of which a policy keeps none, one or two, with probabilities 1/4, 1/4 and 1/2."""
    sizes = (StepSize(1, 0, 0, 0.25), StepSize(2, 1, 1, 0.25), StepSize(3, 2, 2, 0.5))
    given: dict[str, Any] = {"policy": "row_maximum", "sizes": sizes, "steps": 100, **changed}
    return replace(setting("block", 1, 3, 2.0), **given)


def test_a_policy_costs_the_passes_and_tokens_of_its_steps() -> None:
    costs = costs_of(table(verifiers={"block": timed([(2, 1, 0.001), (8, 1, 0.004)])}))
    found = seconds_of(chosen(), costs, 512, 1, 128)
    # 2.25 draft passes and 1, 2 or 3 tokens of the target on average; 1.25 drafts take at most the time of 2.
    assert found.value == pytest.approx(2.25 * 0.004 + (0.040 + 0.042 + 2 * 0.044) / 4 + 0.001)
    assert chosen().verified == 1.25 and chosen(sizes=()).verified == 3
    times = np.array([0.044, 0.050, 0.056])
    spread = np.sqrt(np.average((times - np.average(times, weights=[1, 1, 2])) ** 2, weights=[1, 1, 2]) / 100)
    # A target pass over 2 or 3 tokens has 3/4 or 1/2 of the entry of 1 token, and the rest of that of 5.
    target = [(0.25 + 0.25 * 3 / 4 + 0.5 / 2) * 0.0004, (0.25 / 4 + 0.5 / 2) * 0.00048]
    parts = [2.25 * 0.00004, *target, spread]
    assert found.error == pytest.approx(math.hypot(*parts))
    later = chosen(sizes=(StepSize(2, 10, 10, 1.0),))
    with pytest.raises(OutOfTable, match="got 11 tokens, expected 1 to 9"):
        seconds_of(later, costs, 512, 1, 128)


def test_texts_of_a_batch_with_different_numbers_of_drafts() -> None:
    """One text has two drafts and one has one: the pass is as long as with two each, or with one and a half."""
    sizes = (StepSize(3, 2, 3, 1.0),)
    for name, tokens in (("padded", 3.0), ("packed", 2.5)):
        both = {key: passes((1, 0.1), (11, 0.2), batch=2) for key in PASSES}
        costs = costs_of(table(different_lengths=name, **both))
        found = seconds_of(chosen(sizes=sizes, requests=2), costs, 512, 2, 128)
        assert found.value == pytest.approx(3 * 0.1 + 0.1 + 0.01 * (tokens - 1)), name
    assert chosen(sizes=sizes, requests=2).verified == 1.5


def policies_of(costs: Path, capsys: Any, *more: str, samples: int = 256) -> dict[str, Any]:
    asked = [TREES, "--costs", str(costs), "-K", "1", "-L", "4", "--samples", str(samples), "--json", *more]
    assert run_command(asked) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_policies_have_the_tokens_and_steps_of_the_program(costs_file: Path, capsys: Any) -> None:
    document = policies_of(costs_file, capsys, "--seed", "3")
    (batch,) = document["batches"]
    found = {(one["policy"], one["verifier"]): one for one in batch["settings"] if one["policy"]}
    # Of the policies that need one step alone, these do not always keep all drafts.
    right = {"row_maximum", "row_entropy", "confidence_before_draft", "stop_after_low_probability",
             "throughput_early_stop"}  # fmt: skip
    verifiers = {"token_path", "block", "sample_and_match_tree"}
    wanted = {(policy, verifier) for policy in right for verifier in verifiers}
    assert found.keys() == wanted | {("low_tail_before_matching", "sample_and_match_tree")}
    drafting = [4 * 0.004 + 0.040 + 0.002 * n for n in range(5)]
    costs = ",".join(f"{seconds:.6g}" for seconds in drafting)
    asked = ["survey-policies", TREES, "-B", "1", "-L", "4", "--budget", "4", "--cost", costs, "--head", "largest"]
    asked += ["--batches", "256", "--seed", "3", "--instances", "0", "--sizes", "--verifier", "block"]
    for row in program.run(asked)["sources"][0]["rows"]:
        if row["policy"] not in right:
            continue
        one = found[row["policy"], "block"]
        assert one["tokens_per_step"] == row["tokens_per_call"] and one["verified_drafts"] == row["verified"] < 4
        assert one["tokens_per_step_standard_error"] == row["standard_error"]
        times = [(0.004 * size["draft_passes"] + 0.040 + 0.002 * size["longest"]) for size in row["sizes"]]
        mean = np.average(times, weights=[size["batches"] for size in row["sizes"]])
        assert one["seconds_per_step"] == pytest.approx(mean)
    left_out = document["left_out"]
    for name in ("past_acceptance", "lagged_budget"):
        assert left_out[name] == "it reads the step before, and captured trees have the first step only"
    for name in ("survival_ranking", "illegal_drafts_kept", "confident_cap"):
        assert left_out[name].startswith("it verifies every draft here")
    assert batch["default"]["policy"] is None


def test_policies_that_are_asked_for(tmp_path: Path, costs_file: Path, capsys: Any) -> None:
    few = policies_of(costs_file, capsys, "--policy", "row_entropy", "--verifier", "token_path,ladder_block")
    found = {(one["policy"], one["verifier"]) for one in few["batches"][0]["settings"]}
    assert found == {(None, "token_path"), (None, "ladder_block"), ("row_entropy", "token_path")}
    assert "policies" in few["notes"][1]
    without = policies_of(costs_file, capsys, "--policy", "none")
    assert all(one["policy"] is None for one in without["batches"][0]["settings"]) and len(without["notes"]) == 2
    other = policies_of(costs_file, capsys, "--verifier", "ladder_block")
    assert other["left_out"]["selection policies"].startswith("they are proved with token_path, block, sample")
    single = ["--samples", "400", "--verifier", "single_draft", "-K", "1"]
    assert run_command(["zipf:vocabulary=50,positions=4", "--costs", str(costs_file), *single]) == 0
    assert "left out: selection policies: they need captured trees" in capsys.readouterr().out
    short = tmp_path / "short.json"
    short.write_text(json.dumps(table(target_pass=passes((1, 0.040), (4, 0.048)))))
    asked = [TREES, "--costs", str(short), "-K", "1", "-L", "2,4", "--samples", "64", "--verifier", "block"]
    assert run_command(asked) == 0
    shown = capsys.readouterr().out
    assert "left out: selection policies, L = 4: target_pass of batch 1 and context 128: got 4.25" not in shown
    assert "left out: selection policies, L = 4: target_pass of batch 1 and context 128: got 5" in shown


def test_a_batch_shares_a_budget(tmp_path: Path, capsys: Any) -> None:
    both = {name: passes((1, 0.1), (11, 0.2), batch=4) for name in PASSES}
    path = tmp_path / "costs.json"
    path.write_text(json.dumps(table(different_lengths="packed", **both)))
    more = ["--policy", "survival_ranking,row_maximum", "--verifier", "block"]
    document = policies_of(path, capsys, *more)
    found = [one for one in document["batches"][0]["settings"] if one["policy"]]
    ranking = {one["budget"]: one for one in found if one["policy"] == "survival_ranking"}
    # All of the 16 drafts of a batch would be as without a policy.
    assert ranking.keys() == {8, 4} and "survival_ranking" not in document["left_out"]
    for budget, one in ranking.items():
        assert one["verified_drafts"] == budget / 4
    (row_maximum,) = (one for one in found if one["policy"] == "row_maximum")
    assert row_maximum["budget"] is None
    asked = [TREES, "--costs", str(path), "-K", "1", "-L", "4", "--samples", "256", *more, "--best", "9"]
    assert run_command(asked) == 0
    assert "survival_ranking (of 8)" in capsys.readouterr().out


def test_batches_that_the_program_does_not_take_have_no_policies(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "costs.json"
    for batch, length, settings in ((2048, 1, 2048), (1024, 8, 8192)):
        large = {name: passes((1, 0.1), (11, 0.2), batch=batch) for name in PASSES}
        path.write_text(json.dumps(table(**large)))
        asked = [TREES, "--costs", str(path), "-K", "1", "-L", str(length), "--samples", "64", "--verifier", "block"]
        assert run_command(asked) == 0
        said = f"L = {length}: a batch has {batch} texts with {settings} drafts, and the program takes at most 1024"
        assert said in capsys.readouterr().out


def test_a_policy_is_faster_where_tokens_of_the_target_are_dear(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "costs.json"
    path.write_text(
        json.dumps(table(target_pass=passes((1, 0.02), (9, 0.18)), draft_pass=passes((1, 1e-4), (4, 1e-4))))
    )
    asked = [TREES, "--costs", str(path), "-K", "1", "-L", "1,2,4", "--samples", "2048", "--verifier", "block"]
    assert run_command([*asked, "--json"]) == 0
    choices = json.loads(capsys.readouterr().out)["batches"][0]["settings"]
    best = choices[0]
    assert best["policy"] and best["length"] > best["verified_drafts"]
    fixed = next(one for one in choices if one["policy"] is None)
    assert best["low"] > fixed["high"]
    assert run_command(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[1:4] == ["draft", "sampling", "policy"] and best["policy"] in lines[3]
