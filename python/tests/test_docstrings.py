"""Docstrings of public functions describe arguments, errors, cost and source; docstrings of classes describe fields."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from typing import Any

import pytest

import draftproof
import draftproof.capture

pytest.importorskip("torch")  # decode imports it

MODULES = {"draftproof": draftproof, "draftproof.capture": draftproof.capture}
# Modules that can be called, and the function that a call runs.
CALLED = {
    "acceptance": "draftproof.survey:acceptance",
    "capture": "draftproof.capture.run:capture",
    "decode": "draftproof.decode.run:decode",
}


def public() -> dict[str, Any]:
    found = {}
    for module_name, module in MODULES.items():
        for name in module.__all__:
            one = getattr(module, name)
            if name in CALLED:
                source, _, function = CALLED[name].partition(":")
                one = getattr(importlib.import_module(source), function)
            found[f"{module_name}.{name}"] = one
    accepted = importlib.import_module("draftproof.acceptance.measure").accepted_lengths
    return {**found, "draftproof.accepted_lengths": accepted}


FUNCTIONS = {name: one for name, one in public().items() if not inspect.isclass(one) and not name.endswith(".main")}
CLASSES = {name: one for name, one in public().items() if inspect.isclass(one)}


def check_function(function: Any) -> None:
    words = inspect.getdoc(function) or ""
    for part in ("Raises:", "Cost:", "Source:"):
        assert part in words, part
    for argument in inspect.signature(function).parameters:
        assert re.search(rf"\b{argument}\b", words), argument


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    check_function(FUNCTIONS[name])


def test_functions_of_torch() -> None:
    pytest.importorskip("torch")
    import draftproof.torch

    for name in draftproof.torch.__all__:
        function = getattr(draftproof.torch, name)
        check_function(function)
        words = inspect.getdoc(function) or ""
        assert "[B, " in words and "Returns:" in words, name


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name: str) -> None:
    one = CLASSES[name]
    words = one.__dict__.get("__doc__") or ""
    assert len(words) > 40 and not words.startswith(f"{one.__name__}(")  # made by dataclass
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            assert re.search(rf"\b{field.name}\b", words), field.name
    for member, value in vars(one).items():
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | classmethod)):
            assert inspect.getdoc(getattr(one, member)), member
