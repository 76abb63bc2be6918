"""Commands of tutorials in docs/ that need the package run in an empty folder, and their outputs equal the pages'."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from draftproof import program

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import typed  # noqa: E402


@pytest.mark.parametrize("page", ["adapters.md", "ci.md", "python.md"])
def test_a_tutorial_as_typed(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page == "python.md":
        pytest.importorskip("torch")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "draftproof").symlink_to(program.find())
    for name in ("python", "python3", "pytest"):
        options = "-m pytest " if name == "pytest" else ""
        script = f'#!/bin/sh\nexec {sys.executable} {options}"$@"\n'
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    monkeypatch.setenv("DRAFTPROOF_PROGRAM", str(program.find()))
    monkeypatch.setenv("PYTEST_PLUGINS", "draftproof.pytest_plugin")
    folder = tmp_path / "empty"
    folder.mkdir()
    count, wrong = typed.type_page(ROOT / "docs" / page, {"CLONE": str(ROOT)}, folder, "python.pytest")
    assert count >= 3
    assert not wrong, "\n".join(wrong)
