"""Names of version 0.2 work in 0.3, each with a warning that contains the new name."""

from __future__ import annotations

import re

import pytest

import draftproof
from draftproof import _renamed
from draftproof.capture import Recorder
from draftproof.results import Finding, TierResult, Verdict


@pytest.mark.parametrize(("old", "new"), _renamed.FUNCTIONS.items())
def test_an_old_function_is_the_new_one(old: str, new: str) -> None:
    said = f"draftproof.{old} is now draftproof.{new}; version 0.4 removes the old name"
    with pytest.warns(DeprecationWarning, match=said):
        assert getattr(draftproof, old) is getattr(draftproof, new)


def test_old_names_are_not_listed() -> None:
    assert not set(_renamed.FUNCTIONS) & set(dir(draftproof))


@pytest.mark.parametrize(("old", "new"), _renamed.STATUSES.items())
def test_a_status_equals_its_old_name(old: str, new: str) -> None:
    verdict = Verdict("f", (TierResult("proof", new, findings=(Finding("proof", "exact_distribution", new),)),))
    for status in (verdict.status, verdict.tiers[0].status, verdict.findings[0].status):
        with pytest.warns(DeprecationWarning, match=f"{old!r} is now {new!r}"):
            assert status == old and status in (old, "skipped")
        assert status == new and status != "undecided" and {status: 1}[new] == 1
    other = next(name for name in _renamed.STATUSES if name != old)
    with pytest.warns(DeprecationWarning):
        assert verdict.status != other


def test_old_attributes_of_a_verdict() -> None:
    verdict = Verdict("f", ())
    with pytest.warns(DeprecationWarning, match="Verdict.violations is now Verdict.failures"):
        assert verdict.violations == verdict.failures
    with pytest.warns(DeprecationWarning, match="Verdict.ledger is now Verdict.draws"):
        assert verdict.ledger == verdict.draws


def test_the_old_argument_of_a_recorder() -> None:
    with pytest.warns(DeprecationWarning, match=re.escape("Recorder(draft_law=..) is now Recorder(draft_sampling=..)")):
        Recorder(None, 8, draft_law="iid")
