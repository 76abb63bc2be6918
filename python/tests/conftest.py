"""What tests of the package share."""

from __future__ import annotations

from pathlib import Path

import pytest

from draftproof import program

pytest_plugins = ["pytester"]


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder: failing instances are kept there. Skips where the program is not built."""
    try:
        program.find()
    except program.ProgramNotFound as error:
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    return tmp_path
