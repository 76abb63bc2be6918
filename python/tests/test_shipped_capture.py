"""Tests of the SmolLM2 capture in data/: its rows, its metadata, and the acceptance that the program finds in it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from capture_small_models import run_program

from draftproof.capture import hub

DATA = Path(__file__).resolve().parents[2] / "data"
POSITIONS, TREES = DATA / "smollm2_positions.npz", DATA / "smollm2_trees.npz"


def test_the_rows_are_distributions_over_at_most_2048_likely_tokens_and_the_rest() -> None:
    with np.load(POSITIONS) as file:
        rows = dict(file)
    assert rows["ids"].shape == (256, 2048)
    for name in ("target", "draft"):
        np.testing.assert_allclose(rows[name].sum(axis=1, dtype=float) + rows[f"rest_{name}"], 1, atol=1e-5)
    used = rows["ids"] >= 0
    assert (np.diff(rows["ids"], axis=1)[used[:, 1:]] > 0).all()
    assert rows["ids"].max() < 49152
    assert (rows["target"][~used] == 0).all()
    # docs/captures.md states this bound of the error of the acceptance.
    assert np.minimum(rows["rest_target"], rows["rest_draft"]).mean() < 0.0295


def test_the_trees_store_every_token_that_the_draft_can_propose() -> None:
    with np.load(TREES) as file:
        trees = dict(file)
    contexts, paths, length = trees["paths"].shape
    assert (contexts, paths, length) == (32, 8, 5)
    assert (trees["rest_draft"] == 0).all()
    np.testing.assert_allclose(trees["draft"].sum(axis=1, dtype=float), 1, atol=1e-5)
    nodes = trees["path_nodes"][:, :, :-1].reshape(-1)
    assert (trees["ids"][nodes] == trees["paths"].reshape(-1, 1)).any(axis=1).all()


@pytest.mark.parametrize("file", [POSITIONS, TREES], ids=["positions", "trees"])
def test_the_metadata_name_models_and_no_folder_of_a_machine(file: Path) -> None:
    metadata = json.loads(file.with_suffix(".json").read_text())
    assert metadata["schema"] == "draftproof.capture/1" and metadata["values"] == "probability"
    assert metadata["target"] == metadata["tokenizer"] == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert "/tmp" not in file.with_suffix(".json").read_text()
    assert "Apache License" in (DATA / "licences" / "smollm2.txt").read_text()


def test_the_program_reads_the_acceptance_of_one_draft() -> None:
    with np.load(POSITIONS) as file:
        rows = {name: np.append(file[name], file[f"rest_{name}"][:, None], axis=1).astype(float)
                for name in ("target", "draft")}  # fmt: skip
    p, q = (row / row.sum(axis=1, keepdims=True) for row in rows.values())
    said = run_program("survey", str(POSITIONS), "-K", "1", "--verifier", "single_draft", "--instances", "0",
                       "--tuples", "20000")  # fmt: skip
    (row,) = (row for source in said["sources"] for row in source["rows"] if row["verifier"] == "single_draft")
    # The bound is six standard deviations of the mean of 20,000 Bernoulli trials.
    assert abs(row["draft_accepted"]["rate"] - np.minimum(p, q).sum(axis=1).mean()) < 6 * 0.5 / np.sqrt(20000)


def test_a_tokenizer_is_named_after_its_gguf_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def from_pretrained(folder: str, **extra: str) -> SimpleNamespace:
        return SimpleNamespace(name_or_path=folder)

    fake = SimpleNamespace(AutoTokenizer=SimpleNamespace(from_pretrained=from_pretrained))
    monkeypatch.setattr(hub, "library", lambda name: fake)
    assert hub.load_tokenizer("models/a.gguf").name == "models/a.gguf"
