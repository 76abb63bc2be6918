"""Tests of check(grammar=True) on right and wrong verifiers under a grammar."""

from __future__ import annotations

import numpy as np
import pytest

import draftproof


def verdict(fn, *drafts, **declared):
    return draftproof.check(fn, *drafts, grammar=True, models=14, keep=False, raises=False, **declared)


def masked(p, legal):
    row = np.where(legal, p, 0)
    return row / row.sum()


def draw(row):
    return int(np.random.choice(len(row), p=np.asarray(row, np.float64) / np.asarray(row, np.float64).sum()))


def chain(p, q, drafts, legal, mask_of=lambda i, n: i, removes=False, masks_bonus=True):
    """Returns the tokens of a chain of n drafts by token verification. Row i of the n + 1 target rows gets the mask
    `legal[mask_of(i, n)]`."""
    n, out = len(drafts), []
    for i, x in enumerate(drafts.tolist()):
        row = masked(p[i], legal[mask_of(i, n)])
        if removes and not legal[i, x]:
            return [*out, draw(row)]
        if np.random.random() * q[i, x] < row[x]:
            out.append(x)
            continue
        rest = np.maximum(row - q[i], 0)
        return [*out, draw(rest if rest.any() else row)]
    return [*out, draw(masked(p[n], legal[mask_of(n, n)]) if masks_bonus else p[n])]


def bonus_without_mask(p, q, drafts, legal):
    return chain(p, q, drafts, legal, masks_bonus=False)


def bonus_mask_before_last_draft(p, q, drafts, legal):
    return chain(p, q, drafts, legal, mask_of=lambda i, n: i - (i == n))


def mask_of_step_start(p, q, drafts, legal):
    return chain(p, q, drafts, legal, mask_of=lambda i, n: 0)


def drafts_removed(p, q, drafts, legal):
    return chain(p, q, drafts, legal, removes=True)


def without_mask(p, q, drafts, legal):
    return chain(p, q, drafts, np.ones_like(legal))


def match_in_tree(p, q, drafts, parents, legal, shared=False):
    """Returns the tokens of sample-and-match on a tree. With `shared`, which is wrong, all drafts below a node get the
    mask of the first of them."""
    out, node, mask = [], -1, 0
    while True:
        token = draw(masked(p[node + 1], legal[mask]))
        out.append(token)
        children = [i for i in range(len(drafts)) if parents[i] == node]
        same = [i for i in children if drafts[i] == token]
        if not same:
            return out
        node = same[0]
        mask = (children[0] if shared else node) + 1


def siblings_share_mask(p, q, drafts, parents, legal):
    return match_in_tree(p, q, drafts, parents, legal, shared=True)


def test_the_right_one_is_proved():
    found = verdict(chain)
    assert found.status == "passed"
    assert "have no masks" in str(found)


@pytest.mark.parametrize(
    "wrong", [bonus_without_mask, bonus_mask_before_last_draft, mask_of_step_start, drafts_removed, without_mask]
)
def test_wrong_masks_of_chains_are_found(wrong):
    found = verdict(wrong)
    assert found.status == "failed"
    assert "on     L=1 K=1 []" in str(found)


def test_trees():
    assert verdict(match_in_tree, "iid_paths", level="tree").status == "passed"
    assert verdict(siblings_share_mask, "iid_paths", level="tree").status == "failed"


def test_positions_have_one_mask():
    def position(p, q, drafts, legal):
        assert legal.shape == p.shape
        return draw(masked(p, legal))

    assert verdict(position, level="position").status == "passed"
    assert verdict(lambda p, q, drafts, legal: draw(p), level="position").status == "failed"


def test_batches_lists_and_greedy_rows():
    def one(p, q, drafts, legal):
        row = [a if ok else 0.0 for a, ok in zip(p[0], legal[0], strict=True)]
        assert isinstance(legal[0][0], bool)
        return [row.index(max(row))]

    assert verdict(one, arrays="list", greedy="first").status == "passed"

    def batch(p, q, drafts, legal):
        rows = np.where(legal[:, 0], p[:, 0], 0)
        assert legal.dtype == np.bool_
        sums = rows.cumsum(1)
        return (np.random.random((len(p), 1)) * sums[:, -1:] < sums).argmax(1)[:, None]

    assert verdict(batch, batched=True).status == "passed"


def test_a_distribution_under_a_mask():
    p, q, legal = [[1 / 3] * 3] * 2, [[0.5, 0.0, 0.5]], [[True, True, False], [True] * 3]

    def first(fn, **masks):
        outcomes = draftproof.distribution(fn, p, q, grammar=True, **masks).outcomes
        return [sum(one.probability for one in outcomes if one.tokens[0] == x) for x in range(3)]

    assert first(chain, legal=legal) == pytest.approx([1 / 2, 1 / 2, 0], abs=1e-6)
    assert first(drafts_removed, legal=legal) == pytest.approx([3 / 4, 1 / 4, 0], abs=1e-6)
    assert first(chain) == pytest.approx([1 / 3] * 3, abs=1e-6)
    with pytest.raises(draftproof.ProgramError, match="legal: got 1 rows, expected 2, one for each row of p"):
        draftproof.distribution(chain, p, q, [0], grammar=True, legal=legal[:1])
    with pytest.raises(draftproof.ProgramError, match='got "legal", expected one of p, q, drafts'):
        draftproof.distribution(lambda p, q, drafts: [0], p, q, [0], legal=legal)


def test_a_mask_that_is_overwritten_is_found():
    def overwrites(p, q, drafts, legal):
        tokens = chain(p, q, drafts, legal)
        legal[:] = True
        return tokens

    assert "inputs_unchanged" in str(verdict(overwrites))


def test_a_drafter_beside_a_verifier_under_a_grammar_is_sampled():
    def most_likely(q, k):
        return [int(q.argmax())] * k

    found = verdict(chain, draft=most_likely)
    assert found.status == "failed"
    assert "draft_sampling" in str(found)
