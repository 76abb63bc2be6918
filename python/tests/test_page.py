"""Code on docs/python.md is run, and its outputs are those of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
BLOCKS = dict(re.findall(r"```python (\w+)\n(.*?)```", PAGE.read_text(), re.S))


def test_the_wrong_sampler_is_refuted_as_the_page_shows(in_a_folder: Path) -> None:
    import draftproof

    scope: dict[str, object] = {}
    exec(BLOCKS["sampler"], scope)
    with pytest.raises(draftproof.Refuted) as caught:
        exec(BLOCKS["refuted"], scope)
    shown = re.search(r"\n    draftproof.results.Refuted: (.*?)\n\n", PAGE.read_text(), re.S)
    assert shown
    for line in (line.strip() for line in shown[1].split("\n")):
        assert line in str(caught.value)


def test_the_right_one_holds_and_has_the_distribution_of_the_page(in_a_folder: Path) -> None:
    scope: dict[str, object] = {}
    for name in ("sampler", "right", "draft_sampling", "gates"):
        exec("import torch, draftproof\n" + BLOCKS[name], scope)
    assert scope["verdict"].status == "passed"  # type: ignore[attr-defined]
    assert callable(scope["test_verify"])


@pytest.mark.parametrize(
    ("block", "declared"),
    [
        ("edge", {"tier": "proof"}),
        ("exception", {"tier": "proof"}),
        ("ragged", {"batched": True}),
        ("time", {"arrays": "torch", "time_limit": 2}),
    ],
)
def test_a_failure_is_reported_as_the_page_shows(in_a_folder: Path, block: str, declared: dict[str, Any]) -> None:
    import draftproof

    scope: dict[str, Any] = {}
    exec("import torch, draftproof\n" + BLOCKS[block], scope)
    verdict = draftproof.check(scope["verify"], raises=False, **declared)
    shown = re.search(rf"```python {block}\n.*?```\n\n((?:    [^\n]*\n)+)", PAGE.read_text(), re.S)
    assert shown
    for line in shown[1].splitlines():
        assert line.strip() in str(verdict)
