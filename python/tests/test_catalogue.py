"""The gate on the catalogue: every slip is refuted by the check that its entry names, every right function holds."""

from __future__ import annotations

import catalogue
import pytest
from catalogue.instance import Instance

import draftproof

EDGE = {"row_alone", "slots_permuted", "neighbours", "repetition", "number_grid"}


@pytest.fixture(autouse=True)
def one_thread():
    """Small tensors; threads would only wait for each other."""
    if catalogue.missing():
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def cases(*, wrong):
    """Entries; those with a gap must fail, so that a gate without it is noticed."""
    return [
        pytest.param(
            entry, id=entry.name, marks=[pytest.mark.xfail(strict=True, reason=entry.gap)] if entry.gap else []
        )
        for entry in catalogue.entries(wrong=wrong)
    ]


def checked(entry, *tiers, models):
    return draftproof.check(
        entry.fn,
        drafts=entry.drafts,
        level=entry.level,
        batched=entry.batched,
        logits=entry.logits,
        arrays=entry.arrays,
        tier=tiers,
        profile="quick",
        models=models,
        keep=False,
        raises=False,
    )


def refutation(entry):
    """The finding that the entry names, and its verdict: on four models, or else on the 20 that the profile has.

    The four are the first of the 20, so that those refute what these do.
    """
    wanted = "undecided" if entry.open else "violated"
    for models in (4, 20):
        verdict = checked(entry, "edge" if entry.check in EDGE else "proof", models=models)
        finding = next(f for f in verdict.findings if f.check == entry.check)
        if finding.status == wanted:
            break
    assert finding.status == wanted
    return finding, verdict


@pytest.mark.parametrize("entry", cases(wrong=True))
def test_slip_is_refuted(entry):
    finding, verdict = refutation(entry)
    assert verdict.status in ("violated", "undecided")
    if entry.on and not entry.open:
        counterexample = Instance.parse(finding.counterexample)
        assert counterexample.vocabulary <= 3
        assert counterexample.length <= 2
        assert counterexample.drafts <= 2
        assert finding.counterexample in str(verdict)


@pytest.mark.parametrize("entry", cases(wrong=False))
def test_right_function_holds(entry):
    verdict = checked(entry, "proof", "edge", models=9)  # the ninth has rows next to p = q
    assert verdict.status == "held"
    assert {finding.check for finding in verdict.findings} >= {"exact_law", "zero_support", "row_alone"}


def test_catalogue_is_as_large_as_promised():
    if not catalogue.missing():
        wrong, right = catalogue.entries(wrong=True), catalogue.entries(wrong=False)
        assert sum(entry.arrays == "torch" for entry in wrong) >= 30
        assert len(right) >= 14
        assert {entry.arrays for entry in right} == {"torch", "numpy", "list"}


def test_entries_are_told_in_sentences():
    for entry in catalogue.entries(wrong=True) + catalogue.entries(wrong=False):
        assert entry.why.endswith("."), entry.name
