"""Tests of draftproof.keyed, which judges functions whose noise comes from a key, over uniform keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import draftproof

pytestmark = pytest.mark.usefixtures("in_a_folder")


def race(seed, weights):
    """Returns a token by Gumbel noise, as the first arrival of clocks."""
    with np.errstate(divide="ignore"):
        return int(np.argmin(np.random.default_rng(seed).exponential(size=len(weights)) / weights))


def gumbel(p, q, draft, correction, coin):
    p, q = p.astype(np.float64), q.astype(np.float64)
    x = race(draft, q)
    if coin * q[x] < p[x]:
        return x
    left = np.maximum(p - q, 0)
    return race(correction, left if left.sum() > 0 else p)


def uniform(seed):
    return np.random.default_rng(seed).random()


def dual_key(p, q, key):
    return gumbel(p, q, [key, 0], [key, 1], uniform([key, 2]))


def one_key(p, q, key):
    return gumbel(p, q, [key, 0], [key, 0], uniform([key, 2]))


def without_key(p, q, key):
    return gumbel(p, q, [key, 0], [key, 1], np.random.random())


def judged(fn, tier, **options):
    given = {"level": "position", "tier": [tier], "keep": False, "raises": False, "progress": False} | options
    return draftproof.check(draftproof.keyed(fn), **given)


def test_two_keys_are_unbiased():
    for tier, models in (("proof", 6), ("sampled", None)):
        verdict = judged(dual_key, tier, models=models)
        assert verdict.status == "passed", str(verdict)


def test_a_token_of_the_proposal_is_biased():
    verdict = judged(lambda p, q, key: race([key, 0], q), "sampled")
    assert verdict.status == "failed", str(verdict)


@pytest.mark.nightly
def test_one_key_for_drafts_and_corrections_is_biased():
    verdict = judged(one_key, "sampled", profile="pr")
    assert verdict.status == "failed", str(verdict)


@pytest.mark.parametrize(("fn", "share"), [(dual_key, 5 / 6), (one_key, 23 / 30)])
def test_the_instance_of_the_page(fn, share):
    p, q = np.array([0, 5 / 6, 1 / 6]), np.array([1 / 3, 2 / 3, 0])
    found = sum(fn(p, q, key) == 1 for key in range(10_000)) / 10_000
    assert found == pytest.approx(share, abs=0.02)  # five standard errors; the two shares differ by 0.067


def test_a_number_that_no_key_determines_is_refused():
    row = np.array([1, 2], np.float32) / 3
    call = draftproof.keyed(without_key)
    with pytest.raises(draftproof.NotDetermined, match=r"key [0-9]+: got token"):
        for _ in range(200):
            call(row, row[::-1], [0])


def test_two_reads_of_long_clocks_are_equal():
    """Reads with clocks so long that 1 - exp(-clock) rounds to 1. The program gives such clocks for p = (0 1)."""

    def shared(p, q, key):
        clocks = [np.random.default_rng(key).exponential(size=2) for _ in range(2)]
        assert (clocks[0] == clocks[1]).all()
        with np.errstate(divide="ignore"):
            return int(np.argmin(clocks[1] / p))

    found = draftproof.distribution(draftproof.keyed(shared), [0, 1], [1, 0], drafts=[0], level="position")
    assert found.of(1) == pytest.approx(1)


def test_a_function_that_overwrites_its_row_is_not_blamed_on_its_key():
    def overwrites(p, q, key):
        token = int(np.argmax(q))
        q[token] = 0
        return token

    assert draftproof.keyed(overwrites)(np.array([0.5, 0.5]), np.array([0.6, 0.4]), None) == 0


def test_no_module_hides_a_name_of_the_package():
    """Importing a module of the package sets an attribute of the package, which would replace a function of the same
    name."""
    folder = Path(draftproof.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix in ("", ".py")}
    assert set(draftproof.__all__) & modules == {"acceptance", "capture", "decode"}  # these modules are callable
