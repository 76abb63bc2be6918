"""Tests of a function behind an adapter, which answers requests without the program."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import pytest
from numpy_chain import right

from draftproof.arrays import Rows, kind_of, tokens_of, tokens_of_batch
from draftproof.call_numbers import FAILED, NO_MASS, OK, TAPE_SHORT
from draftproof.declare import adapter


def request(rows: int, tape: list[list[float]] | None = None, drafts: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
    arrays: dict[str, Any] = {
        "p": np.tile(np.array([[0.5, 0.5]], np.float32), (rows, drafts + 1, 1)),
        "q": np.tile(np.array([[0.25, 0.75]], np.float32), (rows, drafts, 1)),
        "drafts": np.ones((rows, drafts), np.int32),
        "lengths": np.full(rows, drafts, np.int32),
    }
    fields = {"type": "verify", "id": 3, "vocabulary": 2, "kind": "probabilities", "randomness": "scripted"}
    if tape is None:
        fields["randomness"] = "seeded"
        arrays["seeds"] = np.arange(rows, dtype=np.int64)
    else:
        arrays["tape"] = np.array(tape)
    return fields, arrays


def test_rows_are_answered_from_their_tapes_and_logged() -> None:
    subject = adapter(right)
    fields, reply = subject.answer(*request(3, [[0.75, -1.0], [0.5, -2.0], [0.5, 0.25]]))
    assert fields["id"] == 3
    assert reply["tokens"].tolist() == [[0, -1], [1, 1], [1, 0]]
    assert reply["counts"].tolist() == [1, 2, 2]
    assert reply["status"].tolist() == [OK] * 3
    assert reply["draw_counts"].tolist() == [2, 2, 2]
    assert reply["draws"][:, 0].tolist() == [1, 2, 1, 2, 1, 2]
    assert reply["draws"][0, 2] == 53  # numpy's Generator.random draws multiples of 2^-53
    assert np.allclose(reply["weights"][:2], [1, 0])


def test_short_tapes_exceptions_and_empty_weights_have_their_status() -> None:
    def odd(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        u = rng.random()
        if u < 0.25:
            raise KeyError("gone")
        return [int(rng.choice(2, p=[0.0, 0.0]))] if u < 0.5 else []

    _, reply = adapter(odd).answer(*request(3, [[0.0], [0.3], [0.9]]))
    assert reply["status"].tolist() == [FAILED, TAPE_SHORT, FAILED]
    fields, reply = adapter(odd).answer(*request(2, [[0.0, 0.0], [0.3, 0.5]]))
    assert reply["status"].tolist()[1] in (NO_MASS, FAILED)
    assert "KeyError" in fields["messages"]["0"]


def test_equal_seeds_have_equal_answers_in_any_batch() -> None:
    subject = adapter(right)
    _, all_rows = subject.answer(*request(50, None))
    fields, arrays = request(50, None)
    _, part = subject.answer(fields, {name: array[20:30] for name, array in arrays.items()})
    assert np.array_equal(all_rows["tokens"][20:30], part["tokens"])
    assert len({tuple(row) for row in all_rows["tokens"].tolist()}) > 1


def test_a_batch_is_one_call_with_tapes_for_each_row() -> None:
    calls = []

    def batched(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        calls.append(len(p))
        u = rng.random(drafts.shape)
        rows = np.arange(len(p))
        accept = u[:, 0] * q[rows, 0, drafts[:, 0]] < p[rows, 0, drafts[:, 0]]
        return np.where(accept, drafts[:, 0], 0)[:, None]

    subject = adapter(batched, batched=True)
    calls.clear()
    tape = [[0.5], [0.75], [0.25], [0.99], [0.1]]
    _, reply = subject.answer(*request(5, tape))
    assert calls == [5]
    assert reply["tokens"][:, 0].tolist() == [1, 0, 1, 0, 1]
    assert not subject.alone


def test_coins_of_all_drafts_in_one_array_belong_to_their_rows() -> None:
    def flat(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        u = rng.random(drafts.size).reshape(drafts.shape)
        return np.minimum((u * 2).astype(int), 1)

    subject = adapter(flat, batched=True)
    tape = [[0.0, 0.9], [0.9, 0.0], [0.9, 0.9], [0.0, 0.0], [0.0, 0.9], [0.9, 0.0], [0.0, 0.9]]
    _, reply = subject.answer(*request(7, tape, drafts=2))
    assert reply["tokens"][:, :2].tolist() == [[int(v > 0.5) for v in row] for row in tape]
    assert not subject.alone


def test_numbers_that_belong_to_no_row_make_rows_run_alone() -> None:
    def shared(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        u = rng.random(3)
        return np.full((len(p), 1), int(u[0] * 2))

    subject = adapter(shared, batched=True)
    _, reply = subject.answer(*request(5, [[0.0] * 3] * 4 + [[0.9] * 3]))
    assert reply["tokens"][:, 0].tolist() == [0, 0, 0, 0, 1]
    assert "numpy" in subject.alone


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("scripted", [False, True])
def test_a_drafter_gets_a_row_or_a_batch(batched: bool, scripted: bool) -> None:
    shapes = []

    def draft(q: Any, k: int, rng: Any) -> Any:
        shapes.append(q.shape)
        u = rng.random((len(q), k) if batched else k)
        return np.where(u < 0.5, 0, 1)

    subject = adapter(right, draft=draft, batched=batched)
    fields, arrays = request(4, [[0.0, 0.9], [0.9, 0.0], [0.9, 0.9], [0.0, 0.0]] if scripted else None)
    arrays = {name: array for name, array in arrays.items() if name in ("q", "tape", "seeds")}
    if batched and not scripted:  # a request for a batch has no seeds
        arrays.pop("seeds")
    _, reply = subject.answer(fields | {"type": "draft", "drafts": 2}, arrays)
    assert shapes == ([(4, 2)] if batched and not scripted else [(1, 2) if batched else (2,)] * 4)
    assert subject.calls == 4
    assert reply["counts"].tolist() == [2] * 4
    if scripted:
        assert reply["tokens"].tolist() == [[0, 1], [1, 0], [1, 1], [0, 0]]
        assert reply["draw_counts"].tolist() == [2] * 4


def test_no_batch_has_the_size_of_another_dimension() -> None:
    for rows in range(1, 40):
        arrays = request(rows, [[0.5]] * rows, drafts=2)[1]
        parts = list(Rows(arrays["p"], arrays["q"], arrays["drafts"], arrays["lengths"], None).parts())
        assert np.array_equal(np.concatenate(parts), np.arange(rows))
        assert not {len(part) for part in parts} & {2, 3, 4, 6, 9}


def test_a_generator_that_cannot_be_replaced_is_refused_by_name() -> None:
    made_before = np.random.default_rng(1)

    def hidden(p: Any, q: Any, drafts: Any) -> list[int]:
        return [int(made_before.integers(2))]

    with pytest.raises(ValueError, match="made_before"):
        adapter(hidden)
    assert adapter(hidden, scripted=False).declaration.randomness == ("seeded",)


def test_tokens_are_read_from_what_functions_return() -> None:
    assert tokens_of(np.int64(3)) == [3]
    assert tokens_of([np.int64(3), 1, -1, -1]) == [3, 1]
    assert tokens_of(np.array([[2, 0]])) == [2, 0]
    with pytest.raises(TypeError, match="integers"):
        tokens_of([0.5])
    assert tokens_of_batch(np.array([[1, -1], [0, 2]]), 2, "chain") == [[1], [0, 2]]
    assert tokens_of_batch((np.array([[1, 7], [0, 2]]), np.array([1, 2])), 2, "chain") == [[1], [0, 2]]
    assert tokens_of_batch((np.array([1, 0]), np.array([-1, 2])), 2, "position") == [[1], [0]]
    with pytest.raises(TypeError, match="expected 3 rows"):
        tokens_of_batch(np.array([[1], [0]]), 3, "chain")


class Foreign:
    """Array of a library that shares memory only by DLPack."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, np.int32)

    def __dlpack__(self, **named: Any) -> Any:
        return self.values.__dlpack__(**named)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


def test_tokens_come_by_dlpack() -> None:
    assert tokens_of(Foreign([2, 0, -1])) == [2, 0]
    assert tokens_of([Foreign(1), Foreign(0)]) == [1, 0]
    assert tokens_of_batch((Foreign([[1, 7], [0, 2]]), Foreign([1, 2])), 2, "chain") == [[1], [0, 2]]


def test_a_function_of_jax_is_answered() -> None:
    """The function's random numbers come from numpy, because no context can replace jax's draws from keys."""
    jnp = pytest.importorskip("jax.numpy", reason="jax is not installed")

    def verify(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        p, q, x = jnp.asarray(p), jnp.asarray(q), int(drafts[0])
        if rng.random() * q[0, x] < p[0, x]:
            return jnp.array([x, int((rng.random() >= jnp.cumsum(p[1])).sum())])
        rest = jnp.maximum(p[0] - q[0], 0)
        return jnp.array([int((rng.random() * rest.sum() >= jnp.cumsum(rest)).sum())])

    _, reply = adapter(verify).answer(*request(3, [[0.75, 0.5], [0.5, 0.75], [0.5, 0.25]]))
    assert reply["tokens"].tolist() == [[0, -1], [1, 1], [1, 0]]
    assert reply["status"].tolist() == [OK] * 3


def test_functions_that_name_torch_get_tensors() -> None:
    torch = pytest.importorskip("torch")

    def by_name(p: Any, q: Any, drafts: Any) -> Any:
        return [int(torch.multinomial(p[0], 1))]

    def through(p: Any, q: Any, drafts: Any) -> Any:
        return by_name(p, q, drafts)

    import draftproof.torch as verifiers

    def by_package(p: Any, q: Any, drafts: Any) -> Any:
        return verifiers.single_draft(p, q, drafts)[0]

    assert kind_of(by_name) == kind_of(through) == kind_of(by_package) == "torch"
    assert kind_of(verifiers.traversal) == "torch"
    assert kind_of(right) == "numpy"


def test_generators_of_batches_differ_from_call_to_call() -> None:
    torch = pytest.importorskip("torch")
    drawn = []

    def noisy(p: Any, q: Any, drafts: Any, generator: Any) -> Any:
        drawn.append(torch.rand(len(p), generator=generator).tolist())
        return torch.zeros(len(p), 1, dtype=torch.int64)

    fields, arrays = request(3)
    del arrays["seeds"]
    subject = adapter(noisy, batched=True)
    drawn.clear()
    torch.manual_seed(1)
    for _ in range(2):
        subject.answer(fields | {"randomness": "opaque"}, arrays)
    assert drawn[0] != drawn[1]
    torch.manual_seed(1)
    subject.answer(fields | {"randomness": "opaque"}, arrays)
    assert drawn[2] == drawn[0]


def ragged(rows: list[int], tape: list[list[float]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns a request whose row i has rows[i] drafts."""
    fields, arrays = request(len(rows), tape, drafts=max(rows))
    arrays["lengths"] = np.array(rows, np.int32)
    for i, n in enumerate(rows):
        arrays["drafts"][i, n:] = -1
    return fields, arrays


LENGTHS = [3, 1, 2, 1, 3]
ROW_TAPES = [[0.125 * (i + 1)] * 3 + [-1.0 - i % 2] + [0.5] * 6 for i in range(len(LENGTHS))]


def padded(p: Any, q: Any, drafts: Any, lengths: Any) -> Any:
    return np.random.random(drafts.shape)


def padded_with_bonus(p: Any, q: Any, drafts: Any, lengths: Any) -> Any:
    return np.random.random((len(p), drafts.shape[1] + 1))


def packed(p: Any, q: Any, drafts: Any, lengths: Any) -> Any:
    coins = np.zeros(drafts.shape)
    coins[np.arange(drafts.shape[1]) < lengths[:, None]] = np.random.random(int(lengths.sum()))
    return coins


@pytest.mark.parametrize(("coins", "more"), [(padded, 0), (padded_with_bonus, 1), (packed, 0)])
def test_rows_of_a_ragged_batch_draw_what_is_theirs(coins: Any, more: int) -> None:
    seen: list[Any] = []

    def verify(p: Any, q: Any, drafts: Any, lengths: Any) -> Any:
        seen.append(coins(p, q, drafts, lengths))
        return np.zeros((len(p), 1), np.int64)

    subject = adapter(verify, batched=True)
    _, reply = subject.answer(*ragged(LENGTHS, ROW_TAPES))
    assert not subject.alone
    assert reply["draw_counts"].tolist() == [n + more for n in LENGTHS]
    for i, n in enumerate(LENGTHS):
        assert seen[0][i, :n].tolist() == ROW_TAPES[i][:n]


def test_padding_is_never_the_same_number_twice() -> None:
    seen: list[Any] = []

    def verify(p: Any, q: Any, drafts: Any, lengths: Any) -> Any:
        seen.append(padded(p, q, drafts, lengths)[1, 2])
        return np.zeros((len(p), 1), np.int64)

    subject = adapter(verify, batched=True)
    for _ in range(2):
        subject.answer(*ragged(LENGTHS, ROW_TAPES))
    assert seen[0] != seen[1]


def test_one_number_everywhere_needs_no_rows() -> None:
    def verify(p: Any, q: Any, drafts: Any, lengths: Any) -> Any:
        return [[int(np.random.random() * 2), int(np.random.choice(2, p=[0.5, 0.5]))] for _ in range(len(p))]

    subject = adapter(verify, batched=True)
    _, reply = subject.answer(*ragged(LENGTHS, [[0.625] * 9] * len(LENGTHS)))
    assert not subject.alone
    assert reply["tokens"][:, :2].tolist() == [[1, 1]] * len(LENGTHS)


def in_place(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    p[0, 0] += 1
    return [0]


def through_a_view(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    q.reshape(-1)[0] = 0.5
    drafts.sort()
    return [0]


def of_lists(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    drafts.append(0)
    return [0]


@pytest.mark.parametrize(
    ("fn", "arrays", "names"),
    [(in_place, "numpy", "p"), (through_a_view, "numpy", "q"), (of_lists, "list", "drafts"), (right, "numpy", "")],
)
def test_arrays_that_a_function_changes_are_named_and_whole_in_the_next_call(fn: Any, arrays: str, names: str) -> None:
    subject = adapter(fn, arrays=arrays)
    for _ in range(2):
        fields, reply = subject.answer(*request(2, [[0.25, -1.0]] * 2))
        assert fields.get("overwrote", {}) == ({"0": names, "1": names} if names else {})
        assert reply["status"].tolist() == [OK, OK]


def test_tensors_that_a_function_changes_are_named() -> None:
    torch = pytest.importorskip("torch")

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        p[..., 0].clamp_(min=0.75)
        return torch.zeros(len(p), 1, dtype=torch.int64) if p.dim() == 3 else [0]

    for declared in ({}, {"batched": True}, {"dtype": "bfloat16"}):
        subject = adapter(verify, arrays="torch", **declared)
        fields, _ = subject.answer(*request(2, [[0.25, -1.0]] * 2))
        assert fields["overwrote"] == {"0": "p", "1": "p"}


def test_numbers_belong_to_the_thread_that_calls() -> None:
    torch = pytest.importorskip("torch")
    drawn: list[Any] = []

    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        def aside() -> None:
            drawn.append((np.random.random(), random.random(), np.random.default_rng().random(), float(torch.rand(()))))

        thread = threading.Thread(target=aside)
        thread.start()
        thread.join()
        return [int(np.random.random() * 4) % 2]

    _, reply = adapter(verify, arrays="numpy").answer(*request(4, [[0.25], [0.0], [0.75], [0.5]]))
    assert reply["tokens"][:, 0].tolist() == [1, 0, 1, 0]
    assert reply["draw_counts"].tolist() == [1] * 4
    assert len({value for row in drawn for value in row}) == 4 * len(drawn) >= 16


def test_a_call_that_caught_the_end_of_its_tape_is_asked_again() -> None:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        try:
            return [int(np.random.random() + np.random.random())]
        except Exception:
            return [1]

    _, reply = adapter(verify).answer(*request(1, [[0.25]]))
    assert reply["status"].tolist() == [TAPE_SHORT]


def test_a_shape_that_was_changed_in_place_is_a_change_and_is_undone() -> None:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        assert q.ndim == 2, "the rows of the call before"
        q.shape = (q.size,)
        return [0]

    subject = adapter(verify, arrays="numpy")
    for _ in range(2):
        fields, reply = subject.answer(*request(2, [[0.5] * 9, [0.5] * 9]))
        assert fields["overwrote"] == {"0": "q", "1": "q"} and reply["tokens"][:, 0].tolist() == [0, 0]
