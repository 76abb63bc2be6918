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


def checked(entry, *tiers):
    return draftproof.check(
        entry.fn,
        drafts=entry.drafts,
        level=entry.level,
        batched=entry.batched,
        logits=entry.logits,
        arrays=entry.arrays,
        tier=tiers,
        profile="quick",
        keep=False,
    )


@pytest.mark.parametrize("entry", cases(wrong=True))
def test_slip_is_refuted(entry):
    with pytest.raises(draftproof.Refuted) as refuted:
        checked(entry, "edge" if entry.check in EDGE else "proof")
    finding = next(f for f in refuted.value.verdict.findings if f.check == entry.check)
    assert finding.status == ("undecided" if entry.open else "violated")
    if entry.on and not entry.open:
        counterexample = Instance.parse(finding.counterexample)
        assert counterexample.vocabulary <= 3
        assert counterexample.length <= 2
        assert counterexample.drafts <= 2
        assert finding.counterexample in str(refuted.value)


@pytest.mark.parametrize("entry", cases(wrong=False))
def test_right_function_holds(entry):
    verdict = checked(entry, "proof", "edge")
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
