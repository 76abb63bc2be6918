"""docs/python-api.md describes every argument as the docstrings do."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))
import python_api  # noqa: E402


def test_the_page_is_the_docstrings() -> None:
    assert (ROOT / "docs" / "python-api.md").read_text() == python_api.page()


@pytest.mark.parametrize("name", python_api.FUNCTIONS)
def test_every_argument_has_a_row_with_its_default(name: str) -> None:
    section = python_api.section(name)
    module = importlib.import_module("draftproof." + python_api.FUNCTIONS[name].replace("/", "."))
    for one in inspect.signature(getattr(module, name)).parameters.values():
        (row,) = (line for line in section.splitlines() if line.startswith(f"| `{one.name}` |"))
        empty = one.default is inspect.Parameter.empty
        assert empty or repr(one.default).replace("'", "") in row.replace("'", "") or "TIERS" in row or "20_000" in row


def test_an_argument_without_description_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_api, "described", lambda docstring: (docstring, {"fn": "a function"}))
    with pytest.raises(SystemExit, match="no description of drafts"):
        python_api.section("check")


def test_descriptions_of_several_names_and_of_further_lines() -> None:
    prose, words = python_api.described("Does it.\n\na, b   one\n       more\nc      two; d: three\nRaises: E.")
    assert words == {"a": "one more", "b": "one more", "c": "two; d: three", "d": "three"}
    assert prose == "Does it.\n\nRaises: E."
