"""Tests of right and wrong selection policies in Python, by adapter(select=...)."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from numpy_chain import right

import draftproof
from draftproof.selection import Drafted, Selection, padded


def verdict(select, **declared):
    return draftproof.check(None, select=select, keep=False, raises=False, **declared)


def properties(found):
    return sorted(finding.check for finding in found.failures)


BOTH = ["non_anticipation", "output_distribution"]


def first_while(view: Selection, keeps):
    """Returns for each request the number of its drafts before the first draft i for which keeps(request, i) is
    false."""
    lengths = []
    for request in view.requests:
        n = 0
        while n < len(request.drafts) and keeps(request, n):
            n += 1
        lengths.append(n)
    return lengths


def survival(request):
    return np.cumprod(request.confidence[:-1])


# Right policies.


def all_drafts(view):
    return [len(request.drafts) for request in view.requests]


def past_acceptance(view):
    return [min(len(request.drafts), request.accepted + 1) for request in view.requests]


def confidence_before_draft(view):
    return first_while(view, lambda request, i: request.confidence[i] >= 0.5)


def row_entropy(view):
    def keeps(request, i):
        row = request.q[i]
        return -sum(x * math.log(x) for x in row if x > 0) < 0.66

    return first_while(view, keeps)


def ranked(view, order):
    """Returns the lengths that keep the `budget` first drafts in an order of (request, position)."""
    lengths = [0] * len(view.requests)
    for r, _ in order[: view.budget]:
        lengths[r] += 1
    return lengths


def every_draft(view):
    return [(r, i) for r, request in enumerate(view.requests) for i in range(len(request.drafts))]


def survival_ranking(view):
    scores = [survival(request) for request in view.requests]
    return ranked(view, sorted(every_draft(view), key=lambda at: (-scores[at[0]][at[1]], at[1], at[0])))


def lagged_budget(view):
    scores = [np.cumprod(request.past_confidence) for request in view.requests]
    return ranked(view, sorted(every_draft(view), key=lambda at: (-scores[at[0]][at[1]], at[1], at[0])))


# Wrong policies.


def chosen_token_confidence(view):
    return first_while(view, lambda request, i: request.confidence[i + 1] >= 0.5)


def low_probability_stop(view):
    return first_while(view, lambda request, i: request.q[i, request.drafts[i]] >= 0.4)


def illegal_draft_trimmed(view):
    return first_while(view, lambda request, i: request.legal[i, request.drafts[i]])


def topk_open_ties(view):
    """Of drafts with equal survival, ranks the later position first, so it may be kept instead of an earlier one."""
    scores = [survival(request) for request in view.requests]
    return ranked(view, sorted(every_draft(view), key=lambda at: (-scores[at[0]][at[1]], -at[1], at[0])))


def reranked_nodes(view):
    """Keeps the nodes with the likeliest paths, so the score of a node depends on the node's token."""
    kept = []
    for request in view.requests:
        scores = []
        for i, parent in enumerate(request.parents):
            scores.append(request.q[i, request.drafts[i]] * (scores[parent] if parent >= 0 else 1.0))
        best = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[: view.budget]
        flags = [False] * len(scores)
        for i in sorted(best):
            flags[i] = request.parents[i] < 0 or flags[request.parents[i]]
        kept.append(flags)
    return kept


@pytest.mark.parametrize(
    "policy",
    [all_drafts, past_acceptance, confidence_before_draft, row_entropy, survival_ranking, lagged_budget],
)
def test_right_policies_pass(policy):
    found = verdict(policy)
    assert found.status == "passed", str(found)
    assert found.calls > 100


@pytest.mark.parametrize("policy", [chosen_token_confidence, low_probability_stop, topk_open_ties])
def test_wrong_policies_fail_both_checks(policy):
    found = verdict(policy)
    assert properties(found) == BOTH
    output = next(finding for finding in found.failures if finding.check == "output_distribution")
    assert "the choice depends on" in output.evidence
    assert output.counterexample.startswith("budget=")


def test_illegal_drafts_must_not_be_trimmed():
    assert properties(verdict(illegal_draft_trimmed)) == BOTH


def test_trees_are_asked_where_they_are_declared():
    assert properties(verdict(reranked_nodes, select_trees=True)) == BOTH


def test_matching_takes_what_no_ratio_test_takes():
    found = verdict(low_probability_stop, select_matching_alone=True)
    assert found.status == "passed", str(found)


def confident_cap(view):
    return first_while(view, lambda request, i: request.confidence[i] >= 0.5)


def cap_by_the_token(view):
    return first_while(view, lambda request, i: request.confidence[i + 1] >= 0.5)


def test_cuts_after_verification():
    assert verdict(cap_by_the_token, select_cut="after_with_token").status == "passed"
    assert verdict(confident_cap, select_cut="after_with_token").status == "passed"
    assert properties(verdict(cap_by_the_token, select_cut="after")) == BOTH


@pytest.mark.parametrize("arrays", ["numpy", "torch", "list"])
def test_arrays_are_of_the_declared_kind(arrays):
    if arrays == "torch":
        pytest.importorskip("torch")
    seen = []

    def policy(view):
        seen.append(type(view.requests[0].q).__name__)
        return [0 for _ in view.requests]

    assert verdict(policy, arrays=arrays).status == "passed"
    assert set(seen) == {{"numpy": "ndarray", "torch": "Tensor", "list": "list"}[arrays]}


def too_many(view):
    return [len(request.drafts) + 1 for request in view.requests]


def one_choice(view):
    return [0, 0, 0, 0, 0]


def orphan(view):
    return [[False] * (len(request.drafts) - 1) + [True] for request in view.requests]


def raises(view):
    raise KeyError("no scores")


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (too_many, "got 2 drafts for request 0, expected 0 to 1"),
        (one_choice, "got choices for 5 requests, expected 1"),
        (raises, "KeyError: 'no scores'"),
    ],
)
def test_wrong_answers_are_errors_with_a_place(policy, words):
    with pytest.raises(draftproof.FunctionFailed, match="fails on a selection") as error:
        verdict(policy)
    assert words in str(error.value)
    if policy is raises:
        assert "in raises" in str(error.value)


def test_a_wrong_answer_that_comes_later_is_a_finding():
    found = verdict(orphan)
    assert found.status == "failed"
    assert "answers: " in str(found) and "is kept without draft 0, which comes before it" in str(found)


def test_a_planner_gets_one_row_for_each_request():
    def drafted(*confidence):
        n = len(confidence) - 1
        return Drafted([0] * n, [*range(-1, n - 1)], [[1.0]] * n, [[True]] * n, confidence, 0, [0.125] * n)

    view = Selection((drafted(0.5, 0.25, 0.75), drafted(1.0), drafted(0.375, 0.0)), 2, (1.0,))
    assert padded(view).tolist() == [[0.5, 0.25], [0.0, 0.0], [0.375, 0.0]]
    assert padded(view, beyond=1.0).tolist() == [[0.5, 0.25], [1.0, 1.0], [0.375, 1.0]]
    assert padded(view, lambda one: one.past_confidence).tolist() == [[0.125, 0.125], [0.0, 0.0], [0.125, 0.0]]


def test_a_policy_that_draws_is_undecided():
    draws = random.Random(1)
    found = verdict(lambda view: [draws.randrange(2) for _ in view.requests], name="drawn")
    assert found.status == "undecided"
    assert "a policy must be a function of its view" in str(found)


def test_counterexamples_replay_and_are_asked_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = draftproof.check(None, select=low_probability_stop, raises=False)
    instance = found.failures[0].counterexample
    (line,) = {line.split("again")[1] for line in str(found).splitlines() if "again" in line and instance in line}
    assert "non_anticipation" in eval(line)  # the printed call
    again = draftproof.check(None, select=low_probability_stop, raises=False, seed=7)
    assert instance in {finding.counterexample for finding in again.failures}


def test_verifier_and_policy_of_one_adapter():
    found = draftproof.check(right, select=low_probability_stop, keep=False, raises=False, tier="proof")
    assert properties(found) == BOTH
