"""Settings of one path of which a selection policy verifies a part, as `survey-policies` measures them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from draftproof import program
from draftproof.survey import trees_of
from draftproof.tune.costs import CostError, Costs, OutOfTable
from draftproof.tune.settings import Setting, StepSize, Survey, complete

VERIFIERS = {"token_path": "token_path", "block": "block", "sample_and_match_tree": "sample_and_match"}
"""The verifiers that policies are proved with, and their names in `survey-policies`."""

FEWEST_BATCHES = 16  # that the standard error is estimated from
MOST_TEXTS, MOST_DRAFTS = 1024, 4096  # of a batch: the program gets the cost of each number of verified drafts


def with_policies(
    survey: Survey,
    costs: Costs,
    *,
    batch: int,
    context: int,
    lengths: Sequence[int] | None,
    samples: int,
    options: Sequence[str] = (),
    verifiers: Sequence[str] = (),
    policies: Sequence[str] = (),
) -> Survey:
    """Returns the survey with a setting for each policy, verifier and length L, at this batch size.

    lengths    values of L; None for those of the survey
    samples    steps of each setting
    verifiers  only these; empty for all
    policies   only these; empty for all

    Policies read the largest entry of a row of q as its confidence, because a capture has no confidence head. A policy
    that divides a budget gets all drafts of the batch, a half and a quarter of them. A policy that compares the cost of
    steps gets the costs of the table.

    Raises: CostError for an unknown policy; ProgramError, ProgramNotFound.
    """
    if policies:
        check_policies(policies)
    wanted = [name for name in VERIFIERS if not verifiers or name in verifiers]
    if trees_of(survey.source) is None:
        return replace(survey, left_out={**survey.left_out, "selection policies": "they need captured trees"})
    if not wanted:
        return replace(survey, left_out={**survey.left_out, "selection policies": _NO_VERIFIER})
    found: dict[tuple[Any, ...], Setting] = {}
    left_out: dict[str, str] = {}
    for length in lengths or sorted({one.length for one in survey.settings if one.paths == 1}):
        name = f"selection policies, L = {length}"
        if batch > MOST_TEXTS or batch * length > MOST_DRAFTS:
            limits = f"the program takes at most {MOST_TEXTS} texts and {MOST_DRAFTS} drafts"
            left_out[name] = f"a batch has {batch} texts with {batch * length} drafts, and {limits}"
            continue
        try:
            planned = _costs_of_steps(costs, batch, context, length)
        except OutOfTable as error:
            left_out[name] = str(error)
            continue
        for budget in dict.fromkeys(max(1, batch * length // parts) for parts in ((1, 2, 4) if batch > 1 else (1,))):
            asked = ["survey-policies", survey.source, "--requests", str(batch), "--length", str(length)]
            asked += ["--budget", str(budget), "--cost", planned, "--head", "largest", "--instances", "0", "--sizes"]
            asked += ["--batches", str(max(-(-samples // batch), FEWEST_BATCHES)), *options]
            asked += ["--verifier", ",".join(VERIFIERS[one] for one in wanted)]
            (source,) = program.member(complete(asked), "sources")
            for row in source["rows"]:
                setting = _setting_of(row, length, batch, None if budget == batch * length else budget)
                if (policies and setting.policy not in policies) or setting.verifier not in wanted:
                    continue
                if row["reads_past"]:
                    left_out[setting.policy] = "it reads the step before, and captured trees have the first step only"
                elif all(one.verified == batch * length for one in setting.sizes):
                    left_out.setdefault(setting.policy, _ALL_VERIFIED)
                else:
                    # A policy without a budget has the same steps with every budget.
                    found.setdefault((setting.policy, setting.verifier, length, setting.tokens, setting.sizes), setting)
    ranked = {one.policy for one in found.values()}
    left_out = {name: reason for name, reason in left_out.items() if name not in ranked}
    return replace(survey, settings=(*survey.settings, *found.values()), left_out={**survey.left_out, **left_out})


def check_policies(names: Sequence[str]) -> None:
    """Raises: CostError if one of `names` is no selection policy of the program; ProgramError, ProgramNotFound."""
    components = (one["name"].partition("/") for one in program.member(program.run(["list"]), "components"))
    known = sorted(name for kind, _, name in components if kind == "selection")
    if unknown := [name for name in names if name not in known]:
        raise CostError(f"--policy: got {program.short(unknown[0])}, expected none or some of {', '.join(known)}")


_ALL_VERIFIED = "it verifies every draft here, so its steps are as long as without it"
_NO_VERIFIER = f"they are proved with {', '.join(VERIFIERS)} alone"


def _setting_of(row: dict[str, Any], length: int, batch: int, budget: int | None) -> Setting:
    total = sum(one["batches"] for one in row["sizes"])
    sizes = tuple(
        StepSize(one["draft_passes"], one["longest"], one["verified"], one["batches"] / total) for one in row["sizes"]
    )
    verifier = next(own for own, name in VERIFIERS.items() if name == row["verifier"])
    return Setting(verifier, "iid_paths", 1, length, (1,) * length, row["tokens_per_call"], row["standard_error"],
                   policy=row["policy"], budget=budget, sizes=sizes, steps=total, requests=batch)  # fmt: skip


def _costs_of_steps(costs: Costs, batch: int, context: int, length: int) -> str:
    """Returns the seconds of a step of the batch that verifies 0, 1, .. drafts, as the program takes them. All draft
    passes are counted, and a target pass over equally many drafts of each text. Raises: OutOfTable."""
    drafting = length * costs.of_pass("draft_pass", 1, batch, context).value
    target = [costs.of_pass("target_pass", 1 + n / batch, batch, context).value for n in range(batch * length + 1)]
    return ",".join(f"{drafting + seconds:.6g}" for seconds in target)
