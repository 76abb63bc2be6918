"""Tests of captured trees: nodes, paths, and the rows that the program reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from capture_small_models import TEXTS, V, distributions_after, draft, run_program, target
from numpy.typing import NDArray

from draftproof.capture import CaptureError, Filter, Trees, capture
from draftproof.capture.distributions import filtered


def trees(output: Path, shape: Trees, **changes: Any) -> dict[str, NDArray[Any]]:
    """Captures trees of the small models at 8 positions. Returns the arrays."""
    given = {"positions": 8, "context": 16, "skip": 3, "trees": shape, **changes}
    capture(target, draft, TEXTS, output, **given)
    with np.load(output) as file:
        return dict(file)


def test_every_node_has_the_distributions_after_its_prefix(tmp_path: Path) -> None:
    arrays = trees(tmp_path / "run.npz", Trees(4, 3))
    count = len(arrays["target"])
    assert arrays["draft"].shape == (count, V)
    assert sorted(set(arrays["path_nodes"].ravel().tolist())) == list(range(count))
    for context, (tokens, paths, nodes) in enumerate(
        zip(arrays["tokens"], arrays["paths"], arrays["path_nodes"], strict=True)
    ):
        prefixes = {}
        for path, through in zip(paths, nodes, strict=True):
            for depth, node in enumerate(through):
                prefix = tuple(path[:depth].tolist())
                assert prefixes.setdefault(node, prefix) == prefix
                assert arrays["node_context"][node] == context
                assert arrays["node_depth"][node] == depth
                assert arrays["node_parent"][node] == (through[depth - 1] if depth else -1)
                assert arrays["node_token"][node] == (path[depth - 1] if depth else -1)
                p, q = distributions_after(np.append(tokens, path[:depth]))
                np.testing.assert_allclose(np.exp(arrays["target"][node]), p, rtol=2e-6)
                np.testing.assert_allclose(np.exp(arrays["draft"][node]), q, rtol=2e-6)
        assert len(set(prefixes.values())) == len(prefixes)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_paths_follow_the_stored_draft(tmp_path: Path, dtype: str) -> None:
    arrays = trees(tmp_path / "run.npz", Trees(1500, 2), dtype=dtype, positions=3)
    drawn: dict[int, list[int]] = {}
    for paths, nodes in zip(arrays["paths"], arrays["path_nodes"], strict=True):
        for depth in (0, 1):
            for node, token in zip(nodes[:, depth], paths[:, depth], strict=True):
                drawn.setdefault(int(node), []).append(int(token))
    assert len(drawn) > 20
    for node, tokens in drawn.items():
        q = np.exp(arrays["draft"][node].astype(float))
        q /= q.sum()
        # By Bernstein's inequality a count is outside the bound with probability at most 2 e^-18. By the union bound
        # any of the counts of 23 tokens at no more than 72 nodes is outside with probability below 6e-5.
        bound = np.sqrt(2 * len(tokens) * q * (1 - q) * 18) + 2 * 18 / 3
        assert (np.abs(np.bincount(tokens, minlength=V) - len(tokens) * q) < bound).all()


def test_trees_differ_by_position_and_by_seed(tmp_path: Path) -> None:
    one = trees(tmp_path / "one.npz", Trees(4, 3))["paths"]
    again = trees(tmp_path / "again.npz", Trees(4, 3))["paths"]
    other = trees(tmp_path / "other.npz", Trees(4, 3), seed=1)["paths"]
    assert (one == again).all()
    assert (one != other).any()
    assert (one[0] != one[1]).any()


def test_every_position_has_draws_of_its_own(tmp_path: Path) -> None:
    def uniform(ids: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.zeros((len(ids), V))

    capture(uniform, uniform, TEXTS, tmp_path / "run.npz", positions=4, context=16, trees=Trees(4, 3))
    with np.load(tmp_path / "run.npz") as file:
        assert len({file["paths"][c].tobytes() for c in range(4)}) == 4


def test_the_program_accepts_what_the_distributions_say(tmp_path: Path) -> None:
    arrays = trees(tmp_path / "run.npz", Trees(4, 1))
    ratios = []
    for paths, nodes in zip(arrays["paths"], arrays["path_nodes"], strict=True):
        for path, through in zip(paths, nodes, strict=True):
            p, q = (np.exp(arrays[name][through[0], path[0]].astype(float)) for name in ("target", "draft"))
            ratios.append(min(1.0, p / q))
    arguments = ["survey-paths", str(tmp_path / "run.npz"), "-K", "1", "-L", "1", "--verifier", "token_path"]
    said = run_program(*arguments, "--instances", "0")
    (row,) = (row for source in said["sources"] for row in source["rows"] if row["verifier"] == "token_path")
    mean, trials = row["mean_accepted"], row["trials"]
    # The bound is six standard deviations of the mean of Bernoulli trials.
    assert abs(mean - np.mean(ratios)) < 6 * 0.5 / np.sqrt(trials)


def test_the_first_of_several_drafts_draws_the_paths(tmp_path: Path) -> None:
    def always_three(ids: NDArray[np.int64]) -> NDArray[np.float64]:
        rows = np.full((len(ids), V), -np.inf)
        rows[:, 3] = 0
        return rows

    file = tmp_path / "run.npz"
    given = {"draft_sure": always_three, "draft_other": draft}
    capture(target, given, TEXTS, file, positions=3, context=16, trees=Trees(5, 2))
    with np.load(file) as arrays:
        assert (arrays["paths"] == 3).all()
        assert len(arrays["draft_other"]) == 3 * 3


def test_a_top_k_of_the_draft_is_applied_before_the_paths_are_drawn(tmp_path: Path) -> None:
    of_target, of_draft = Filter(temperature=0.8), Filter(temperature=1.5, top_k=4)
    arrays = trees(tmp_path / "run.npz", Trees(40, 2), target_filter=of_target, draft_filter=of_draft)
    seen = 0
    for tokens, paths, nodes in zip(arrays["tokens"], arrays["paths"], arrays["path_nodes"], strict=True):
        for path, through in zip(paths, nodes, strict=True):
            for depth, node in enumerate(through):
                p, q = distributions_after(np.append(tokens, path[:depth]))
                p, q = filtered(np.log(p), of_target), filtered(np.log(q), of_draft)
                ids = np.flatnonzero(q)
                assert (arrays["ids"][node] == ids).all()
                np.testing.assert_allclose(arrays["target"][node], p[ids], rtol=2e-6)
                np.testing.assert_allclose(arrays["draft"][node], q[ids], rtol=2e-6)
                np.testing.assert_allclose(arrays["rest_target"][node], 1 - p[ids].sum(), atol=2e-7)
                if depth < len(path):
                    assert path[depth] in ids
                    seen += 1
    assert seen == 8 * 40 * 2
    assert (arrays["rest_draft"] == 0).all()
    # The paths are many draws from the root's row, which Bernstein's inequality bounds as above.
    for paths, nodes in zip(arrays["paths"], arrays["path_nodes"], strict=True):
        q = arrays["draft"][nodes[0, 0]].astype(float)
        counts = (paths[:, :1] == arrays["ids"][nodes[0, 0]]).sum(axis=0)
        assert (np.abs(counts - 40 * q) < np.sqrt(2 * 40 * q * (1 - q) * 18) + 2 * 18 / 3).all()


def test_the_tokens_that_a_top_k_tree_leaves_out_change_no_acceptance(tmp_path: Path) -> None:
    """A tree with rows of all tokens, in which q is 0 outside its top-k, gives the same accepted lengths as the
    captured tree, which has the top-k tokens only."""
    arrays = trees(tmp_path / "run.npz", Trees(3, 2), draft_filter=Filter(top_k=4))
    whole = {name: arrays[name] for name in ("paths", "path_nodes")}
    prefixes = {}
    for tokens, paths, nodes in zip(arrays["tokens"], arrays["paths"], arrays["path_nodes"], strict=True):
        for path, through in zip(paths, nodes, strict=True):
            prefixes |= {int(node): np.append(tokens, path[:depth]) for depth, node in enumerate(through)}
    rows = [distributions_after(prefixes[node]) for node in range(len(arrays["target"]))]
    with np.errstate(divide="ignore"):
        whole["target"] = np.log([p for p, _ in rows])
        whole["draft"] = np.log([filtered(np.log(q), Filter(top_k=4)) for _, q in rows])
    np.savez(tmp_path / "whole.npz", **whole)
    means = []
    for name in ("run.npz", "whole.npz"):
        arguments = ["-K", "3", "-L", "2", "--instances", "0", "--verifier"]
        arguments.append("token_path,block,traversal,ladder_block,recursive_rejection_tree")
        said = run_program("survey-paths", str(tmp_path / name), *arguments)
        means.append({row["verifier"]: (row["mean_accepted"], row["trials"]) for row in said["sources"][0]["rows"]})
    assert set(means[0]) == set(means[1]) and len(means[0]) >= 4
    for verifier, (mean, trials) in means[0].items():
        # Numbers from 0 to 2 have a standard deviation of at most 1. The bound is six standard deviations of the
        # difference of two means.
        assert abs(mean - means[1][verifier][0]) < 6 * np.sqrt(2 / trials), verifier


@pytest.mark.parametrize("filters", [{}, {"target_filter": Filter(0.8), "draft_filter": Filter(1.0, 5)}])
def test_steps_begin_where_the_step_before_ended(tmp_path: Path, filters: dict[str, Any]) -> None:
    """A step emits the first drafts of the first path and one more token, which has the target's distribution together
    with the drafts: the first token of 600 steps after one prompt is compared with p."""
    prompt, count = TEXTS[0][:6], 600
    capture(
        target, draft, [prompt] * count, tmp_path / "run.npz", positions=2 * count, context=16, skip=3,
        continue_tokens=6, steps=2, trees=Trees(2, 3), seed=3, **filters,
    )  # fmt: skip
    with np.load(tmp_path / "run.npz") as file:
        tokens, paths, text = file["tokens"], file["paths"], file["text"]
    seen, accepted = np.zeros(V), []
    assert text.tolist() == [i // 2 for i in range(2 * count)]
    for first in range(0, 2 * count, 2):
        before, after = (row[row >= 0].tolist() for row in tokens[first : first + 2])
        assert before == list(prompt) and after[: len(before)] == before
        emitted = after[len(before) :]
        kept = len(emitted) - 1
        assert 0 <= kept <= 2 and emitted[:kept] == paths[first, 0, :kept].tolist()
        seen[emitted[0]] += 1
        accepted.append(kept)
    assert set(accepted) == {0, 1, 2}
    p, q = distributions_after(np.array(prompt))
    if filters:
        p, q = (filtered(np.log(row), by) for row, by in zip((p, q), filters.values(), strict=True))
    often = count * p >= 5
    counts, wanted = (np.append(row[often], row[~often].sum()) for row in (seen, count * p))
    # Chi-square of at most 22 degrees of freedom exceeds 48.3 with probability 1e-3; the seed is fixed.
    assert seen[p == 0].sum() == 0 and ((counts - wanted) ** 2 / np.maximum(wanted, 1)).sum() < 48.3
    # A count is more than 4.5 standard deviations off with probability below 1e-4.
    share, kept_one = np.minimum(p, q).sum(), sum(kept > 0 for kept in accepted)
    assert abs(kept_one - count * share) <= 4.5 * np.sqrt(count * share * (1 - share))


def test_steps_need_trees_and_room(tmp_path: Path) -> None:
    given = {"positions": 4, "context": 16, "skip": 3, "continue_tokens": 5, "steps": 2}
    for changes in ({"trees": None}, {"trees": Trees(2, 1)}, {"trees": Trees(2, 2), "continue_tokens": 0}):
        with pytest.raises(CaptureError, match="steps: got 2, expected trees with paths"):
            capture(target, draft, TEXTS, tmp_path / "run.npz", **{**given, **changes})
    with pytest.raises(CaptureError, match="continue_tokens: got 5 for 4 steps of text 0, expected at least 12"):
        capture(target, draft, TEXTS[:1], tmp_path / "run.npz", trees=Trees(2, 2), **given)


def test_a_top_k_tree_has_one_draft(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="one draft"):
        trees_of_two = {"draft_1": draft, "draft_2": draft}
        capture(target, trees_of_two, TEXTS, tmp_path / "run.npz", positions=2, context=16, trees=Trees(2, 2),
                draft_filter=Filter(top_k=3))  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"keep_mass": 0.9}, "a drawn token may lie in the rest"),
        ({"draft_filter": Filter(temperature=0.5)}, "a top-k of the draft, or no filter"),
        ({"target_filter": Filter(temperature=0.5)}, "a top-k of the draft, or no filter"),
        ({"draft_filter": Filter(top_k=3), "dtype": "float16"}, "float32 or float64"),
        ({"trees": Trees(2, 2), "output": "run.safetensors"}, "the program reads trees from .npz"),
    ],
)
def test_what_trees_cannot_be_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    output = tmp_path / changes.pop("output", "run.npz")
    with pytest.raises(CaptureError, match=words):
        capture(target, draft, TEXTS, output, **{"positions": 2, "context": 16, "trees": Trees(2, 2), **changes})
