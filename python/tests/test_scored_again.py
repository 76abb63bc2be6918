"""Tests of score_again. An audit detects an engine state that is not rolled back after rejected drafts if the
recording is scored again, but not from the rows that the engine recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from numpy_chain import right

from draftproof import program
from draftproof.capture import CaptureError, Filter, Penalties, Recorder, read_trace, score_again

V, DRAFTS = 16, 3
PROMPT = [0, 0]
_tables = np.random.default_rng(5)
TARGET = _tables.dirichlet(np.full(V, 0.5), (V, V))  # [token before the last, last token, next token]
PROPOSAL = 0.3 * _tables.dirichlet(np.full(V, 0.5), (V, V)) + 0.7 * TARGET


def after(seen: Sequence[int], temperature: float = 1.0) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = TARGET[seen[-2], seen[-1]] ** (1 / temperature)
    return weights / weights.sum()


def target(ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the rows [n, V] of a pass over `ids`, a text without rejected drafts. The row after the first token is
    not used."""
    return np.stack([after([0, *ids[: i + 1].tolist()]) for i in range(len(ids))])


def record(
    path: Path, blocks: int, seed: int, rolls_back: bool = True, temperatures: Sequence[float] = (1,), **form: Any
) -> None:
    """Records a chain engine whose target rows depend on its state. If `rolls_back` is false, the state is wrong,
    because rejected drafts stay in it."""
    random = np.random.default_rng(seed)
    texts = [list(PROMPT) for _ in temperatures]
    states = [list(PROMPT) for _ in temperatures]
    with Recorder(path, V, draft_sampling="iid", **form) as recorder:
        for block in range(blocks):
            request = block % len(temperatures)
            text, state, temperature = texts[request], states[request], temperatures[request]
            drafts: list[int] = []
            proposals = []
            for _ in range(DRAFTS):
                seen = [*text, *drafts]
                proposals.append(PROPOSAL[seen[-2], seen[-1]])
                drafts.append(int(random.choice(V, p=proposals[-1])))
            p = np.array([after([*state, *drafts[:i]], temperature) for i in range(DRAFTS + 1)])
            q = np.array(proposals)
            emitted = right(p, q, drafts, random)
            recorder.block(p, q, drafts, emitted, request=request)
            kept = drafts[: len(emitted) - 1] if rolls_back else drafts
            states[request] = [*state, *kept, emitted[-1]]
            texts[request] = [*text, *emitted]


def audited(path: Path) -> dict[str, Any]:
    return program.run(["audit", path])


@pytest.mark.parametrize("form", [{}, {"dtype": "float16"}, {"top": 6}])
def test_a_state_that_keeps_rejected_drafts_is_seen_by_the_second_look(tmp_path: Path, form: dict[str, Any]) -> None:
    own, again = tmp_path / "own.safetensors", tmp_path / "again.safetensors"
    for seed in range(10):
        record(own, 300, seed, rolls_back=False, **form)
        assert score_again(own, again, target, PROMPT, values="probability") == read_trace(own).records
        assert audited(own)["status"] != "failed"
        found = audited(again)
        assert found["status"] == "failed"
        assert found["alarm_after_records"] <= 2 * (256 + DRAFTS)  # alarm at the first or second evaluation
        own.unlink()


@pytest.mark.parametrize("form", [{}, {"dtype": "float16"}, {"top": 6}])
def test_a_right_engine_scored_again_has_the_rows_that_it_recorded(tmp_path: Path, form: dict[str, Any]) -> None:
    own, again = tmp_path / "own.safetensors", tmp_path / "again.safetensors"
    record(own, 1600, 3, temperatures=(1, 0.5), **form)
    settings = {0: Filter(), 1: Filter(temperature=0.5)}
    score_again(own, again, target, {0: PROMPT, 1: PROMPT}, settings=settings, values="probability")
    one, other = read_trace(own), read_trace(again)
    assert set(one.arrays) == set(other.arrays)
    for name in one.arrays:
        if name.startswith("p_"):
            # The bound is twice the rounding error of a stored logarithm below 16: 2^-8 in float16, 2^-21 in float32.
            step = 2**-7 if one.arrays[name].dtype == np.float16 else 2**-20
            np.testing.assert_allclose(one.arrays[name], other.arrays[name], atol=step)
        else:
            np.testing.assert_array_equal(one.arrays[name], other.arrays[name])
    assert other.metadata["target_rows"] == "scored again"
    assert audited(again)["status"] == "passed"
    score_again(own, again, target, PROMPT, values="probability")  # temperature 1 in place of 0.5
    assert audited(again)["status"] == "failed"


@pytest.mark.parametrize("values", ["logit", "probability"])
def test_penalties_are_applied_before_the_settings(tmp_path: Path, values: str) -> None:
    own, again = tmp_path / "own.safetensors", tmp_path / "again.safetensors"
    repetition = 1.0 if values == "probability" else 1.5
    given = Penalties(repetition=repetition, presence=0.5, frequency=0.25)
    logits = np.random.default_rng(7).normal(size=(V, V))

    def penalised(text: Sequence[int]) -> NDArray[np.float64]:
        row = logits[text[-1]].copy()
        for x in range(V):
            n = list(text[len(PROMPT) :]).count(x)
            if x in text:
                row[x] = row[x] / repetition if row[x] > 0 else row[x] * repetition
            row[x] -= 0.5 * (n > 0) + 0.25 * n
        weights = np.exp(row / 0.7)
        return np.asarray(weights / weights.sum())

    random, text = np.random.default_rng(3), list(PROMPT)
    with Recorder(own, V, draft_sampling="iid") as recorder:
        for _ in range(1000):
            p = penalised(text)
            q = 0.5 * p + 0.5 / V
            drafts = [int(random.choice(V, p=q))]
            emitted = right(np.array([p, penalised([*text, *drafts])]), q[None], drafts, random)
            recorder.block(np.array([p, penalised([*text, *drafts])]), q[None], drafts, emitted)
            text += emitted

    def rows(ids: NDArray[np.int64]) -> NDArray[np.float64]:
        weights = np.exp(logits[ids])
        return weights / weights.sum(-1, keepdims=True) if values == "probability" else logits[ids]

    settings: dict[str, Any] = {"settings": Filter(temperature=0.7), "values": values}
    score_again(own, again, rows, PROMPT, penalties=given, **settings)
    # Twice the rounding error of a stored logarithm of at most 2^10: penalties grow with the text.
    np.testing.assert_allclose(read_trace(own).arrays["p_rows"], read_trace(again).arrays["p_rows"], atol=2**-13)
    assert audited(again)["status"] == "passed"
    score_again(own, again, rows, PROMPT, **settings)
    assert audited(again)["status"] == "failed"


def test_penalties_are_checked(tmp_path: Path) -> None:
    for arguments in ({"repetition": 0}, {"presence": float("nan")}, {"frequency": "1"}):
        with pytest.raises(CaptureError, match=next(iter(arguments))):
            Penalties(**arguments)  # type: ignore[arg-type]


def test_bad_input_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    own, again = tmp_path / "own.safetensors", tmp_path / "again.safetensors"
    record(own, 4, 1)
    for arguments, words in [
        ({"prompts": {1: PROMPT}}, "none for request 0"),
        ({"prompts": []}, "no token"),
        ({"settings": {1: Filter()}}, "settings"),
        ({"penalties": {1: Penalties()}}, "penalties: got none for request 0"),
        (
            {"penalties": Penalties(repetition=2), "values": "probability"},
            "penalties, request 0: got repetition 2 and a target that returns probabilities",
        ),
        ({"penalties": Filter()}, "expected Penalties"),
        ({"target": lambda ids: np.full(V + 1, 1 / (V + 1))}, "rows of 17 tokens"),
        ({"values": None}, "probabilities"),
    ]:
        given: dict[str, Any] = {"target": target, "prompts": PROMPT, "values": "probability", **arguments}
        with pytest.raises(CaptureError, match=words):
            score_again(own, again, given.pop("target"), given.pop("prompts"), **given)
        assert not again.exists()
    before = own.read_bytes()
    with pytest.raises(FileExistsError, match="got a file that is read here"):
        score_again(own, own, target, PROMPT, values="probability")
    assert own.read_bytes() == before
    assert list(tmp_path.iterdir()) == [own]
    part = tmp_path / "part.safetensors"
    record(part, 4, 1, every=2)
    with pytest.raises(CaptureError, match="one block in 2"):
        score_again(part, again, target, PROMPT, values="probability")
