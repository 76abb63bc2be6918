"""docs/adapters.md names the members of the C interface as draftproof_adapter.h does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEADER = re.sub(r"/\*.*?\*/", "", (ROOT / "adapters/draftproof_adapter.h").read_text(), flags=re.S)
PAGE = (ROOT / "docs/adapters.md").read_text()
STRUCTS = {"DpTape": "dp_tape", "DpBatch": "dp_batch", "DpResult": "dp_result", "DpVerifier": "dp_verifier"}


def members_in_c(struct: str, header: str = HEADER) -> list[str]:
    match = re.search(rf"typedef struct {struct} {{(.*?)\n}} {struct};", header, re.S)
    assert match, f"no struct {struct}"
    names = []
    for declaration in match[1].split(";"):
        if function := re.search(r"\(\*(\w+)\)", declaration):
            names.append(function[1])
        elif declaration.strip():
            names += [part.split()[-1].lstrip("*") for part in declaration.split(",")]
    return names


def members_in_rust(struct: str, page: str = PAGE) -> list[str]:
    """Returns the names of the fields. The members that an array of words stands for are in the comment beside it."""
    match = re.search(rf"pub struct {struct} {{(.*?)\n}}", page, re.S)
    assert match, f"no struct {struct}"
    names: list[str] = []
    for line in match[1].splitlines():
        code, _, comment = line.partition("//")
        fields = re.findall(r"(\w+): ", code)
        names += comment.strip().split(", ") if "[usize" in code else [name.rstrip("_") for name in fields]
    return names


@pytest.mark.parametrize(("rust", "c"), STRUCTS.items())
def test_the_structs_in_rust_are_those_of_the_header(rust: str, c: str) -> None:
    """A struct may end early, because each begins with its size."""
    members = members_in_rust(rust)
    assert members and members == members_in_c(c)[: len(members)]


def test_another_name_is_found() -> None:
    assert members_in_rust("DpTape", PAGE.replace("    pick: ", "    choose: ")) != members_in_c("dp_tape")
    assert members_in_c("dp_tape", HEADER.replace("(*pick)", "(*choose)")) != members_in_rust("DpTape")


@pytest.mark.parametrize("name", ["adapters.md", "adapters-protocol.md", "selection.md", "grammars.md"])
def test_members_in_the_text_exist(name: str) -> None:
    known = {member for struct in re.findall(r"typedef struct (\w+) ", HEADER) for member in members_in_c(struct)}
    text = (ROOT / "docs" / name).read_text()
    used = re.findall(r"\b(?:batch|result|models|text|selection|request|tape|declared)->(\w+)", text)
    assert not [member for member in used if member not in known]
    calls = re.findall(r"^\| `(\w+)\(self, ", text, re.M)
    assert set(calls) <= known, calls
