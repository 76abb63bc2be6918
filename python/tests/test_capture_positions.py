"""Tests of captured positions: the content of the file, the rows that the program reads from it, and interrupted
runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from capture_small_models import TEXTS, V, distributions_after, draft, named, run_program, softmax, target
from numpy.typing import NDArray

from draftproof.capture import Captured, CaptureError, Filter, capture
from draftproof.capture.layout import read

FORMS: dict[str, dict[str, Any]] = {
    "float32": {},
    "float64": {"dtype": "float64"},
    "float16": {"dtype": "float16"},
    "truncated": {"keep_mass": 0.9},
    "few tokens": {"keep_mass": 0.999, "most_tokens": 5},
    "continued": {"continue_tokens": 9, "target_filter": Filter(temperature=0.7, top_k=5)},
}


def small(output: Path, **changes: Any) -> Captured:
    """Captures 40 positions of the small models."""
    return capture(target, draft, TEXTS, output, **{"positions": 40, "context": 16, "skip": 3, **changes})


@pytest.mark.parametrize("form", ["float32", "float64", "float16", "continued"])
def test_whole_rows_are_the_distributions_after_their_contexts(tmp_path: Path, form: str) -> None:
    small(tmp_path / "run.safetensors", **FORMS[form])
    arrays, metadata = read(tmp_path / "run.safetensors")
    assert arrays["target"].shape == arrays["draft"].shape == (40, V)
    assert metadata["values"] == ("logit" if form == "float16" else "log_probability")
    for i, context in enumerate(arrays["tokens"]):
        for name, distribution in zip(("target", "draft"), distributions_after(context), strict=True):
            # A logarithm l rounded to b bits moves a probability by 2^-b |l| of itself; |l| < 20 here.
            bound = 20 * {"float16": 2**-11, "float64": 2**-50}.get(form, 2**-24)
            np.testing.assert_allclose(np.exp(arrays[name][i].astype(float)), distribution, rtol=bound)


def test_contexts_and_next_tokens_are_the_texts(tmp_path: Path) -> None:
    small(tmp_path / "run.safetensors")
    arrays, _ = read(tmp_path / "run.safetensors")
    assert set(arrays["text"].tolist()) == set(range(len(TEXTS)))
    for context, following, text, place in zip(
        *(arrays[n] for n in ("tokens", "next_token", "text", "place")), strict=True
    ):
        ids = context[context >= 0]
        assert 3 <= len(ids) <= 16
        assert ids.tolist() == TEXTS[text][place - len(ids) : place]
        assert following == TEXTS[text][place]


def test_continuations_are_drawn_by_the_filter(tmp_path: Path) -> None:
    greedy = {"continue_tokens": 6, "target_filter": Filter(temperature=0)}
    small(tmp_path / "run.safetensors", positions=30, **greedy)
    arrays, metadata = read(tmp_path / "run.safetensors")
    for context, following in zip(arrays["tokens"], arrays["next_token"], strict=True):
        assert following == np.argmax(distributions_after(context)[0])
    assert metadata["engine_filters"] == "--target-temperature 0"


def test_truncated_rows_hold_the_mass_and_sum_to_one(tmp_path: Path) -> None:
    small(tmp_path / "run.safetensors", **FORMS["truncated"])
    arrays, _ = read(tmp_path / "run.safetensors")
    longest = 0
    for i, context in enumerate(arrays["tokens"]):
        ids = arrays["ids"][i][arrays["ids"][i] >= 0]
        longest = max(longest, len(ids))
        for name, distribution in zip(("target", "draft"), distributions_after(context), strict=True):
            np.testing.assert_allclose(arrays[name][i, : len(ids)], distribution[ids], rtol=1e-6)
            assert arrays[f"rest_{name}"][i] == pytest.approx(1 - distribution[ids].sum(), abs=1e-6)
            assert distribution[ids].sum() >= 0.9
            assert (arrays[name][i, len(ids) :] == 0).all()
    assert arrays["ids"].shape == (40, longest)


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
@pytest.mark.parametrize("form", FORMS)
def test_the_program_reads_the_same_acceptance(tmp_path: Path, form: str, suffix: str) -> None:
    file = tmp_path / f"run{suffix}"
    done = small(file, **FORMS[form])
    (tmp_path / "same.safetensors").unlink(missing_ok=True)
    small(tmp_path / "same.safetensors", **FORMS[form])
    arrays, _ = read(tmp_path / "same.safetensors")
    wanted = []
    for i, context in enumerate(arrays["tokens"]):
        p, q = distributions_after(context)
        if "ids" in arrays:
            ids = arrays["ids"][i][arrays["ids"][i] >= 0]
            p, q = (np.append(distribution[ids], np.delete(distribution, ids).sum()) for distribution in (p, q))
        wanted.append(np.minimum(p, q).sum())
    said = run_program("survey", str(file), "-K", "2", "--tuples", "1000", "--instances", "0")
    source = said["sources"][0]
    bound = 20 * 2**-11 if form == "float16" else 2e-6
    assert source["positions"] == 40
    assert source["rows"]
    for row in source["rows"]:
        assert row["single_draft"] == pytest.approx(np.mean(wanted), abs=bound)
    if "ids" not in arrays:
        assert done.acceptance["draft"] == pytest.approx(np.mean(wanted), abs=1e-12)


def test_several_drafts_are_several_proposals(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    capture(target, {"draft_b": draft, "draft_a": target}, TEXTS, file, positions=9, context=16)
    said = run_program("survey", f"{file}:draft_a", "-K", "1", "--tuples", "100", "--instances", "0")
    assert said["sources"][0]["rows"][0]["single_draft"] == pytest.approx(1, abs=1e-6)
    said = run_program("survey", str(file), "-K", "1", "--tuples", "100", "--instances", "0")
    assert said["sources"][0]["about"]["proposals"] == ["draft_b"]


def test_outputs_are_not_replaced_unasked(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    small(file)
    with pytest.raises(CaptureError, match="exists"):
        small(file)
    file.unlink()
    with pytest.raises(CaptureError, match=r"run.json' exists"):
        small(file)
    small(file, overwrite=True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"positions": 0}, "positions: got 0"),
        ({"positions": 1000}, "positions with at least 3 tokens before and one after in 5 texts"),
        ({"dtype": "bfloat16"}, "dtype: got 'bfloat16'"),
        ({"dtype": "float16", "keep_mass": 0.9}, "float16 with keep_mass"),
        ({"keep_mass": 0.0}, "keep_mass: got 0.0"),
        ({"context": 3}, "context: got 3"),
        ({"continue_tokens": 16}, "less than the context"),
        ({"quantise_draft": 1}, "2 to 8 bits"),
        ({"colour": 1}, "got 'colour'"),
        ({"quantise_draft": "int8"}, "not a model of transformers"),
    ],
)
def test_options_are_checked(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(CaptureError, match=words):
        small(tmp_path / "run.safetensors", **changes)
    assert list(tmp_path.iterdir()) == []


def test_models_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    def narrow(ids: NDArray[np.int64]) -> NDArray[np.float64]:
        return draft(ids)[:, :-1]

    def short(ids: NDArray[np.int64]) -> NDArray[np.float64]:
        return draft(ids)[: max(1, len(ids) - 1)]

    def broken(ids: NDArray[np.int64]) -> NDArray[np.float64]:
        rows = draft(ids)
        rows[len(ids) // 2, 4] = np.nan
        return rows

    file = tmp_path / "run.safetensors"
    with pytest.raises(CaptureError, match=r"draft.*narrow: got 22 tokens, and 23 of the target"):
        capture(target, narrow, TEXTS, file, positions=4, context=16)
    with pytest.raises(CaptureError, match=r"short: got shape \[\d+, 23\]"):
        capture(target, short, TEXTS, file, positions=4, context=16)
    with pytest.raises(CaptureError, match=r"broken, text \d, after \d+ tokens, token 4: got nan"):
        capture(target, broken, TEXTS, file, positions=50, context=16, restart=True)
    with pytest.raises(CaptureError, match="got none"):
        capture(target, None, TEXTS, file, positions=4, context=16)


def test_a_function_of_the_last_row_alone_gives_the_same_file(tmp_path: Path) -> None:
    def last(ids: NDArray[np.int64]) -> NDArray[np.float64]:
        row: NDArray[np.float64] = target(ids)[-1]
        return row

    for name, fn in (("rows", target), ("last", last)):
        capture(named(fn), draft, TEXTS, tmp_path / f"{name}.safetensors", positions=20, context=16)
    assert (tmp_path / "rows.safetensors").read_bytes() == (tmp_path / "last.safetensors").read_bytes()


def target_distribution(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    return softmax(target(ids)).astype(np.float32)


def draft_sampling(ids: NDArray[np.int64]) -> NDArray[np.float64]:
    return softmax(draft(ids))


def test_probabilities_are_refused_until_it_is_said_what_rows_are(tmp_path: Path) -> None:
    def captured(name: str, p: Any, q: Any, **more: Any) -> float:
        done = capture(p, q, TEXTS, tmp_path / f"{name}.safetensors", positions=9, context=16, skip=3, **more)
        return done.acceptance["draft"]

    for p, q, who in (
        (target_distribution, draft_sampling, "target_distribution"),
        (target, draft_sampling, "draft_sampling"),
    ):
        with pytest.raises(CaptureError, match=rf"{who}, text 0, after \d+ tokens: got numbers >= 0 of sum 1, as"):
            captured(who, p, q)
    right, logits = (
        captured("a", target_distribution, draft_sampling, values="probability"),
        captured("b", target, draft),
    )
    assert right == pytest.approx(logits, abs=1e-6)
    forced = captured("c", target_distribution, draft_sampling, values="logit")
    assert abs(forced - right) > 0.1  # probabilities read as logits give a nearly uniform row


def test_the_small_models_depend_on_the_context_and_differ() -> None:
    rows = target(np.array([3, 3, 3]))
    assert rows.shape == (3, V)
    assert np.abs(rows[0] - rows[2]).max() > 0.1
    assert np.abs(softmax(rows) - softmax(draft(np.array([3, 3, 3])))).max() > 0.05
