"""Tests of functions that cannot be judged, and of the errors that the rehearsal raises for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import draftproof
from draftproof.deadline import Deadline
from draftproof.declare import adapter
from draftproof.rehearsal import rehearse
from draftproof.subject import FunctionFailed


def said(fn: Any, **declared: Any) -> str:
    with pytest.raises(FunctionFailed) as caught:
        rehearse(adapter(fn, **declared), Deadline(None))
    assert caught.value.exit_code == 2
    return str(caught.value)


def raises(p: Any, q: Any, drafts: Any) -> Any:
    raise KeyError("rows")


class Odd(Exception):
    """A user-defined exception."""


def raises_odd(p: Any, q: Any, drafts: Any) -> Any:
    raise Odd("no such page") from ValueError("first")


def leaves(p: Any, q: Any, drafts: Any) -> Any:
    raise SystemExit(3)


def test_an_exception_is_told_with_type_text_place_and_input() -> None:
    text = said(raises)
    assert "raises fails on every input: KeyError: 'rows' (" in text
    assert "test_rehearsal.py, line " in text and "in raises" in text
    assert "drafts=[1]; level='chain', arrays='numpy', batched=False" in text
    assert "Odd: no such page" in said(raises_odd)
    assert "SystemExit: 3" in said(leaves)
    with pytest.raises(FunctionFailed) as caught:
        draftproof.check(raises, keep=False)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "returned NoneType"),
        ("0 1", "returned str"),
        ({0: 1}, "returned dict"),
        (0.5, "returned float"),
        ([np.nan, 1.0], "returned list"),
        ([2**70], "the token 1180591620717411303424"),
        ([2**40], "the token 1099511627776"),
        ([], "a result of 0 tokens"),
        ([7], "the tokens [7], expected tokens 0 .. 2"),
        ([-3], "the tokens [-3], expected tokens 0 .. 2"),
        ([-1, 0], "the tokens [-1, 0], expected tokens 0 .. 2"),
        ([[0, 1], [1, 0]], "shape"),
    ],
)
def test_what_is_no_tokens_is_named(output: Any, words: str) -> None:
    def verify(p: Any, q: Any, drafts: Any) -> Any:
        return output

    assert words in said(verify)


async def asynchronous(p: Any, q: Any, drafts: Any) -> Any:
    return [0]


def test_what_cannot_be_called_is_named() -> None:
    assert "async function" in said(asynchronous)
    assert "it is called as <lambda>(p, q, drafts)" in said(lambda p, q: [0])
    assert "too many positional arguments" in said(lambda *, p, q, drafts: [0])
    assert "(q, K)" in said(None, draft=lambda q: [0])


def test_a_forgotten_declaration_is_named() -> None:
    torch = pytest.importorskip("torch")

    def batch(p: Any, q: Any, drafts: Any) -> Any:
        rows, _ = drafts.shape
        return np.zeros((rows, 1), np.int64)

    def loop(p: Any, q: Any, drafts: Any) -> Any:
        return [list(row) for row in drafts]

    assert "declare batched=True" in said(batch)
    assert "declare batched=True" in said(loop)
    assert 'declare arrays="torch"' in said(lambda p, q, drafts: [int(p.clamp(min=0).argmax())], arrays="numpy")
    assert 'declare arrays="numpy"' in said(lambda p, q, drafts: [int(p.astype(float).argmax())], arrays="torch")
    assert torch


def test_functions_that_fail_on_some_inputs_are_judged() -> None:
    def sometimes(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        if p[0, 0] == 1:
            raise KeyError("rows")
        return [0]

    subject = adapter(sometimes)
    rehearse(subject, Deadline(None))
    assert (subject.calls, subject.rows, subject.error) == (0, 0, None)


def test_engines_and_drafters_are_rehearsed() -> None:
    def broken(*arguments: Any) -> Any:
        raise OSError("no model")

    assert "OSError: no model" in said(None, generate=broken)
    assert "OSError: no model" in said(None, draft=broken)
