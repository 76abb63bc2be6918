"""Tests of right and wrong Python verifiers that apply the settings of requests, by check(settings=..)."""

from __future__ import annotations

import re

import numpy as np
import pytest

import draftproof

ALL = ("temperature", "top_k", "top_p", "min_p")


def verdict(fn, *drafts, **declared):
    given = {"settings": ALL, "models": 8, "keep": False, "raises": False, "profile": "quick", **declared}
    return draftproof.check(fn, *drafts, **given)


def processed(p, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0):
    row = np.asarray(p, np.float64) ** (1 / temperature)
    row /= row.sum()
    order = np.argsort(-row, kind="stable")
    if top_k:
        row[order[top_k:]] = 0
    above = np.concatenate([[0], np.cumsum(row[order])[:-1]])
    row[order[above >= top_p * row.sum()]] = 0
    row[row < min_p * row.max()] = 0
    return row / row.sum()


def draw(row):
    return int(np.random.choice(len(row), p=row / row.sum()))


def chain(p, q, drafts, target):
    """Returns the tokens of token verification; target(i) is the processed row i of p."""
    for i, x in enumerate(drafts.tolist()):
        row, other = target(i), q[i].astype(np.float64)
        if np.random.random() * other[x] < row[x]:
            continue
        rest = np.maximum(row - other, 0)
        return [*drafts[:i].tolist(), draw(rest if rest.any() else row)]
    return [*drafts.tolist(), draw(target(len(drafts)))]


def right(p, q, drafts, **settings):
    return chain(p, q, drafts, lambda i: processed(p[i], **settings))


def right_position(p, q, drafts, *, temperature, top_p):
    row = processed(p, temperature, top_p=top_p)
    x, other = int(drafts[0]), q.astype(np.float64)
    if np.random.random() * other[x] < row[x]:
        return x
    rest = np.maximum(row - other, 0)
    return draw(rest if rest.any() else row)


def right_batch(p, q, drafts, lengths, temperature, top_k):
    out = np.full((len(p), drafts.shape[1] + 1), -1)
    coins, last = np.random.random((len(p), drafts.shape[1])), np.random.random(len(p))
    for b, n in enumerate(lengths):
        target = [processed(row, temperature[b], int(top_k[b])) for row in p[b, : n + 1]]
        i = 0
        while i < n and coins[b, i] * float(q[b, i, drafts[b, i]]) < target[i][drafts[b, i]]:
            out[b, i] = drafts[b, i]
            i += 1
        rest = np.maximum(target[i] - q[b, i], 0) if i < n else target[i]
        sums = np.cumsum(rest if rest.any() else target[i])
        out[b, i] = np.searchsorted(sums, last[b] * sums[-1], side="right")
    return out


def first_of_batch(p, q, drafts, lengths, temperature, top_k):
    return right_batch(p, q, drafts, lengths, np.full_like(temperature, temperature[0]), top_k)


def top_k_only(k_of):
    def batch(p, q, drafts, lengths, top_k):
        return right_batch(p, q, drafts, lengths, np.ones(len(p)), k_of(top_k))

    return batch


def bonus_without_settings(p, q, drafts, **settings):
    return chain(p, q, drafts, lambda i: processed(p[i], **(settings if i < len(drafts) else {})))


def temperature_ignored(p, q, drafts, temperature, **settings):
    return right(p, q, drafts, **settings)


def top_k_before_temperature_with_mass(p, q, drafts, *, top_k, temperature, **settings):
    """Ignores the temperature of a request that has a top-k."""
    return right(p, q, drafts, temperature=1.0 if top_k else temperature, top_k=top_k, **settings)


class KeepsSettings:
    """Uses the settings of an earlier request if the present request has temperature 1."""

    def __init__(self):
        self.before = {}

    def __call__(self, p, q, drafts, **settings):
        if settings["temperature"] != 1:
            self.before = settings
        return right(p, q, drafts, **(self.before or settings))


def min_p_of_all(p, q, drafts, *, min_p):
    """Compares p with min-p itself, not with min-p times the largest p."""

    def target(i):
        row = np.where(p[i] >= min_p, p[i], 0).astype(np.float64)
        return row / row.sum() if row.any() else processed(p[i], top_k=1)

    return chain(p, q, drafts, target)


def half_of_top_p(p, q, drafts, *, top_p):
    """Truncates at half of top-p."""
    return right(p, q, drafts, top_p=top_p / (2 if top_p < 1 else 1))


@pytest.mark.parametrize(
    ("fn", "declared"),
    [
        (right, {}),
        (right_position, {"level": "position", "settings": ("temperature", "top_p")}),
        (right_batch, {"batched": True, "settings": ("temperature", "top_k")}),
    ],
)
def test_right_ones_pass(fn, declared):
    found = verdict(fn, **declared)
    assert found.status == "passed", str(found)
    assert "trials have no settings" in str(found)


@pytest.mark.parametrize(
    ("fn", "declared"),
    [
        (first_of_batch, {"batched": True, "settings": ("temperature", "top_k"), "tier": "edge"}),
        (bonus_without_settings, {}),
        (temperature_ignored, {}),
        (top_k_before_temperature_with_mass, {}),
        (KeepsSettings(), {"name": "keeps_settings"}),
        (half_of_top_p, {"settings": ("top_p",), "models": 30, "tier": "proof"}),
        (min_p_of_all, {"settings": ("min_p",), "models": 60, "tier": "proof"}),
    ],
)
def test_wrong_ones_are_refuted(fn, declared):
    found = verdict(fn, **declared)
    assert found.status == "failed", str(found)


@pytest.mark.parametrize(
    "k_of",
    [
        lambda top_k: np.full_like(top_k, top_k.max()),
        lambda top_k: np.full_like(top_k, 0 if (top_k == 0).any() else top_k.max()),
        pytest.param(lambda top_k: np.full_like(top_k, top_k[0]), marks=pytest.mark.nightly),
    ],
)
def test_the_top_k_of_other_rows_of_a_batch_is_found(k_of):
    found = verdict(top_k_only(k_of), batched=True, settings="top_k", models=None, tier="edge")
    assert found.status == "failed", str(found)


def test_batches_with_a_different_top_k_in_each_row_are_asked():
    seen = []
    verdict(top_k_only(lambda top_k: seen.append(set(top_k.tolist())) or top_k), batched=True, settings="top_k",
            models=None, tier="edge")  # fmt: skip
    assert any(len(one) >= 3 and 0 in one for one in seen)  # 0: a row without top-k among others with different ones


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_min_p_is_relative_to_the_largest_probability(seed):
    found = verdict(min_p_of_all, settings="min_p", models=None, tier="proof", seed=seed)
    assert found.status == "failed", str(found)


def test_the_finding_names_the_row_before_the_settings_and_after_them():
    said = str(verdict(temperature_ignored, settings=("temperature",), tier="proof"))
    row = r"\(([^)]*)\)"
    before, after = re.search(f"p before the settings {row}, temperature [^,]*, p after them {row}", said).groups()
    assert before != after and len(before.split()) == len(after.split())


def test_settings_that_are_overwritten_are_found():
    def overwrites(p, q, drafts, lengths, temperature, top_k):
        out = right_batch(p, q, drafts, lengths, temperature, top_k)
        temperature[:] = 1
        return out

    assert "inputs_unchanged" in str(verdict(overwrites, batched=True, settings=("temperature", "top_k")))


def test_a_distribution_at_a_temperature():
    p, q = [[0.2, 0.8]] * 2, [[0.5, 0.5]]

    def first(**request):
        outcomes = draftproof.distribution(right, p, q, settings=ALL, settings_of_request=request).outcomes
        return sum(one.probability for one in outcomes if one.tokens[0] == 0)

    assert first() == pytest.approx(0.2, abs=1e-6)
    assert first(temperature=0.5) == pytest.approx(1 / 17, abs=1e-6)
    assert first(top_k=1) == pytest.approx(0, abs=1e-9)
    with pytest.raises(draftproof.ProgramError, match='got "top_q", expected one of temperature, top_k, top_p, min_p'):
        first(top_q=1)
    with pytest.raises(draftproof.ProgramError, match="temperature -1, expected a finite temperature >= 0"):
        first(temperature=-1)


def test_declarations_are_checked():
    with pytest.raises(ValueError, match="settings: got 'top_q', expected some of temperature"):
        verdict(right, settings=("top_q",))
    with pytest.raises(ValueError, match="expected one of the two, or generate alone"):
        verdict(right, grammar=True)
    with pytest.raises(ValueError, match="a temperature for rows of float16"):
        verdict(right, dtype="float16")
    with pytest.raises(ValueError, match="expected a verifier"):
        draftproof.check(None, draft=lambda q, k: [0] * k, settings=("top_k",))
    with pytest.raises(draftproof.FunctionFailed, match="temperature"):
        verdict(lambda p, q, drafts: [0], settings=("temperature",))
