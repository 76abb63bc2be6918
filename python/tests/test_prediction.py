"""Tests of the prediction of `tune` beside a decoded run: the ranking is that of `tune`, errors are counted right."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from draftproof import program

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from draftproof.capture import CaptureError, Filter, Trees, capture  # noqa: E402
from draftproof.decode import Settings, command, decode, prediction  # noqa: E402
from draftproof.decode.models import Models  # noqa: E402
from draftproof.decode.settings import settings_of, shape_of  # noqa: E402
from draftproof.tune.command import run_command as tune  # noqa: E402
from draftproof.tune.costs import Seconds  # noqa: E402
from draftproof.tune.ranking import Choice, Tuned  # noqa: E402
from draftproof.tune.settings import Setting as Tunable  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

V = 32
TEXTS = [np.random.default_rng([4, i]).integers(0, V, size=12).tolist() for i in range(2)]
BY: dict[str, Any] = {"target_filter": Filter(0.7), "draft_filter": Filter(1.0, 8)}


def llama(vocabulary: int = V, seed: int = 0, layers: int = 2) -> Any:
    """Returns a random Llama. Large weights make its rows far from uniform."""
    given = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": layers, "num_attention_heads": 2}
    config = transformers.LlamaConfig(
        vocab_size=vocabulary, initializer_range=0.4, max_position_embeddings=256, **given
    )
    torch.manual_seed(seed)
    return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    try:
        program.find()
    except program.ProgramNotFound as error:
        pytest.skip(str(error))
    path = tmp_path / "trees.npz"
    capture(llama(), "ngram", TEXTS, path, positions=8, context=32, skip=2, continue_tokens=16, trees=Trees(2, 3), **BY)
    return path


def test_the_prediction_is_that_of_tune_on_the_table_of_the_run(trees: Path, tmp_path: Path, capsys: Any) -> None:
    given: dict[str, Any] = {"drafts": ["ngram"], "shapes": ["1x2", "2x3", "2-1"], "tokens": 8, "rounds": 2}
    result = decode(llama(), TEXTS, Settings(**BY), predict=trees, **given)
    found = result["prediction"]
    assert found["context"] == 12 + 4
    (tmp_path / "costs.json").write_text(json.dumps(found["costs"]))
    asked = [str(trees), "--costs", str(tmp_path / "costs.json"), "-K", "1,2", "-L", "2,3", "--seed", "0", "--json"]
    assert tune(asked) == 0
    (batch,) = json.loads(capsys.readouterr().out)["batches"]
    whole = [one for one in batch["settings"] if one["policy"] is None]
    rates = {(one["verifier"], one["paths"], one["length"]): one["tokens_per_second"] for one in whole}
    names = {"single_draft": "token_path", "block_verification": "block", "ladder": "ladder_tree"}
    for entry in result["settings"]:
        if entry["shape"] == "2-1":
            assert entry["predicted"] is None  # siblings that differ are no captured paths
            continue
        shape = shape_of(entry["shape"])
        name = names.get(entry["verifier"], entry["verifier"].replace("rejection", "rejection_tree"))
        assert entry["predicted"]["tokens_per_second"] == pytest.approx(rates[name, shape.paths, shape.length])
    assert found["plain_tokens_per_second"] == pytest.approx(batch["plain"]["tokens_per_second"])
    assert sum(entry["predicted"] is not None for entry in result["settings"]) == 2 + 5


def test_drafts_of_a_second_model(trees: Path, tmp_path: Path, capsys: Any) -> None:
    """A draft that is equal to the target is always accepted, another model is not. Each has the prediction of trees
    that were drawn from it."""
    given: dict[str, Any] = {"drafts": ["model"], "shapes": ["1x3", "2x3"], "tokens": 24, "rounds": 2}
    options: dict[str, Any] = {"positions": 8, "context": 32, "skip": 2, "continue_tokens": 16, "trees": Trees(2, 3)}
    paths = {}
    for name, draft in (("equal", llama()), ("other", llama(seed=1, layers=1))):
        paths[name] = tmp_path / f"{name}.npz"
        capture(llama(), draft, TEXTS, paths[name], **options)
        result = decode(llama(), TEXTS, draft=draft, predict=paths[name], **given)
        (ladder,) = (one for one in result["settings"] if one["verifier"] == "ladder")
        measured, predicted = ladder["accepted_per_call"], ladder["predicted"]["tokens_per_step"] - 1
        if name == "equal":
            assert measured == predicted == 3
        else:
            # Two random models; the captured contexts are not those of the run, so the two figures differ.
            assert 0 < measured < 2.5 and 0 < predicted < 2.5
        passes = result["prediction"]["costs"]["draft_pass"]
        assert [one["tokens"] for one in passes] == [1, 2]  # the second path of a tree may have other tokens
    chain = decode(llama(), TEXTS, draft=llama(), predict=paths["equal"], **given | {"shapes": ["1x3"]})
    passes = chain["prediction"]["costs"]["draft_pass"]
    assert [one["tokens"] for one in passes] == [1, 2]  # the step after one that accepted all drafts reads two
    llama().save_pretrained(tmp_path / "target")
    llama(seed=1, layers=1).save_pretrained(tmp_path / "draft")
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, TEXTS)))
    asked = ["--target", str(tmp_path / "target"), "--draft", str(tmp_path / "draft"), "--tokens", "6", "--rounds", "1"]
    asked += ["--texts", str(tmp_path / "texts.jsonl"), "--drafts", "model", "--shape", "2x3", "-q", "--predict"]
    assert command.run_command([*asked, str(paths["other"])]) == 0
    text = capsys.readouterr().out
    assert f"draft model: {tmp_path / 'draft'}" in text and "tune chooses model 2x3 " in text
    assert command.run_command([*asked, str(paths["equal"])]) == 2
    assert "predict: got trees of the draft LlamaForCausalLM, weights" in capsys.readouterr().err


def test_the_command_shows_both(trees: Path, tmp_path: Path, capsys: Any) -> None:
    llama().save_pretrained(tmp_path / "model")
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, TEXTS)))
    given = ["--target", str(tmp_path / "model"), "--texts", str(tmp_path / "texts.jsonl"), "--tokens", "6", "-q"]
    given += ["--rounds", "1", "--drafts", "ngram", "--shape", "1x2", "--predict", str(trees)]
    assert command.run_command([*given, "--target-temperature", "0.7", "--proposal-top-k", "8"]) == 0
    text = capsys.readouterr().out
    assert "predicted" in text and "tune chooses ngram 1x2 " in text
    assert command.run_command(given) == 2
    wanted = "predict: got trees captured with --target-temperature 0.7 --proposal-top-k 8, expected no filter"
    assert wanted in capsys.readouterr().err


def test_settings_without_a_prediction_are_refused(trees: Path) -> None:
    for drafts, shapes in ((["ngram", "lookup"], ["1x2"]), (["ngram"], ["2-1"]), (["lookup"], ["1x2"])):
        with pytest.raises(CaptureError, match=r"predict: got .*, expected one source of drafts, and shapes of paths"):
            decode(llama(), TEXTS, Settings(**BY), predict=trees, drafts=drafts, shapes=shapes, rounds=1, tokens=4)


def test_captures_of_other_rows_are_refused_before_the_run(trees: Path, tmp_path: Path) -> None:
    rows, model = tmp_path / "rows.npz", tmp_path / "model.npz"
    given: dict[str, Any] = {"positions": 4, "context": 16, "skip": 2}
    capture(llama(), llama(), TEXTS, rows, **given)
    capture(llama(), None, TEXTS, model, draft_skip_layers=(1,), trees=Trees(2, 3), **given, **BY)

    def refused(path: Any, words: str, target: Any = None) -> None:
        said: list[str] = []
        settings = {"drafts": ["ngram"], "shapes": ["1x2"], "rounds": 1, "tokens": 4}
        with pytest.raises(CaptureError, match=words):
            decode(target or llama(), TEXTS, Settings(**BY), predict=path, say=said.append, **settings)
        assert not any(line.startswith("round") for line in said)

    refused(rows, r"predict: got .*rows.npz, expected a file of captured trees")
    refused(tmp_path / "none.npz", r"predict: got .*none.npz, expected a file of captured trees")
    refused(".", r"predict: got '.', expected the path of a file")
    refused(5, "predict: got 5, expected the path of a file")
    refused(model, "predict: got trees drawn from LlamaForCausalLM without layers 1, expected trees drawn from ngram")
    refused(trees, "predict: got trees of the target LlamaForCausalLM, weights .*, expected trees of", llama(seed=1))
    unnamed = tmp_path / "unnamed.npz"
    unnamed.write_bytes(trees.read_bytes())
    about = json.loads(trees.with_suffix(".json").read_text())
    del about["models"]  # as in a file that another program wrote
    unnamed.with_suffix(".json").write_text(json.dumps(about))
    refused(unnamed, "predict: got trees with V = 32, expected V = 48", llama(48))
    # The program reads the metadata of run_trees.npz in run.json, too.
    (tmp_path / "run_trees.npz").write_bytes(model.read_bytes())
    refused(tmp_path / "run_trees.npz", "predict: got .*run_trees.npz without metadata, expected the JSON file")
    (tmp_path / "run.json").write_bytes(model.with_suffix(".json").read_bytes())
    refused(tmp_path / "run_trees.npz", "predict: got trees drawn from LlamaForCausalLM without layers 1, expected")
    other = Settings(draft_skip_layers=(0,), **BY)
    with pytest.raises(CaptureError, match=r"got trees of a draft with quantise_draft None and without layers \(1,\)"):
        decode(llama(), TEXTS, other, predict=model, drafts=["model"], shapes=["1x2"], rounds=1, tokens=4)


@pytest.mark.parametrize(("shape", "least"), [("1x4", "1 of 4"), ("3x2", "3 of 2")])
def test_shapes_beyond_the_trees_are_refused(trees: Path, shape: str, least: str) -> None:
    given: dict[str, Any] = {"drafts": ["ngram"], "shapes": ["1x2", shape], "rounds": 1, "tokens": 4}
    words = f"predict: got trees of 2 paths of 3 tokens, expected at least {least}"
    with pytest.raises(CaptureError, match=words):
        decode(llama(), TEXTS, Settings(**BY), predict=trees, **given)


def test_a_run_of_few_rounds_says_that_no_pair_is_apart(trees: Path, tmp_path: Path, capsys: Any) -> None:
    llama().save_pretrained(tmp_path / "model")
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, TEXTS)))
    given = ["--target", str(tmp_path / "model"), "--texts", str(tmp_path / "texts.jsonl"), "--tokens", "4", "-q"]
    given += ["--target-temperature", "0.7", "--proposal-top-k", "8", "--verifier", "single_draft"]
    given += ["--drafts", "ngram", "--shape", "1x2", "--predict", str(trees), "--rounds"]
    few = "no pair of settings counts as apart: fewer than 5 rounds"
    assert command.run_command([*given, "4"]) == 0
    assert few in capsys.readouterr().out
    assert command.run_command([*given, "5"]) == 0
    assert "0 of 0 pairs" in (out := capsys.readouterr().out) and few not in out


def test_only_settings_of_the_run_are_ranked(trees: Path) -> None:
    """The program computes all pairs of K and L; a setting that the run lacks does not count as faster than plain."""
    models = Models(llama(), None, Settings(**BY))
    todo = settings_of(["ngram"], [shape_of("1x3"), shape_of("2x2")], ["single_draft", "ladder"])
    ranked = prediction.Prediction(models, todo, TEXTS, trees, 64)._survey.settings
    assert {(one.verifier, one.paths, one.length) for one in ranked} == {
        ("token_path", 1, 3),
        ("ladder_tree", 1, 3),
        ("ladder_tree", 2, 2),
    }


def test_the_comparison_by_hand() -> None:
    todo = settings_of(["ngram"], [shape_of("1x2"), shape_of("2x2")], ["single_draft", "ladder", "traversal"])

    def choice(name: str, paths: int, rate: float) -> Choice:
        one = Tunable(name, "iid_paths", paths, 2, (paths, paths), 2.0, 0.0)
        return Choice(one, 1, Seconds(2 / rate), rate, rate - 1, rate + 1)

    rates = {("token_path", 1): 20.0, ("ladder_tree", 1): 26.0, ("traversal", 1): 25.5}
    rates |= {("ladder_tree", 2): 30.0, ("traversal", 2): 40.0}
    choices = sorted((choice(*key, rate) for key, rate in rates.items()), key=lambda one: -one.rate)
    plain = Choice(None, 1, Seconds(0.1), 10.0, 9.5, 10.5)

    fixed: Any = SimpleNamespace(
        context=7,
        keys={one: prediction.key_of(one, ["token_path", "traversal", "ladder_tree"]) for one in todo},
        tuned=lambda: (SimpleNamespace(document={}), Tuned(1, 7, plain, tuple(choices), None)),
    )
    measured = {"single_draft 1x2": 22.0, "ladder 1x2": 20.0, "traversal 1x2": 25.0}
    measured |= {"ladder 2x2": 36.0, "traversal 2x2": 32.0}
    entries = [
        {
            "drafts": "ngram",
            "shape": str(one.shape),
            "verifier": one.verifier,
            "tokens_per_second": measured[f"{one.verifier} {one.shape}"],
            "tokens_per_second_standard_error": 0.1,
        }
        for one in todo
    ]
    found = prediction.compared(fixed, todo, entries, 12.5, 1000)
    assert found["chosen"] == ["ngram", "2x2", "traversal"] and found["fastest"] == ["ngram", "2x2", "ladder"]
    assert found["loss_of_chosen"] == pytest.approx(1 - 32 / 36)
    assert found["largest_error"] == pytest.approx(26 / 20 - 1)
    assert found["plain_error"] == pytest.approx(-0.2) and found["beats_plain"]
    # The predicted intervals of the ladder and of traversal on one path overlap. All other nine pairs are apart; the
    # two that differ are single_draft and the ladder on one path, and the two verifiers of two paths.
    assert (found["pairs_apart"], found["pairs_in_another_order"]) == (9, 2)
    entries[0]["tokens_per_second_standard_error"] = 1.0  # 22 +- 1.96 and 20 +- 0.196: the measured intervals overlap
    again = prediction.compared(fixed, todo, entries, 12.5, 1000)
    assert (again["pairs_apart"], again["pairs_in_another_order"]) == (8, 1)
    # The measured intervals of 22 and 25 are apart with factor 1.96 * 1.1 < 3, not with that of 5 rounds, 2.776 * 1.1.
    assert prediction.compared(fixed, todo, entries, 12.5, 5)["pairs_apart"] == 7
    assert prediction.compared(fixed, todo, entries, 12.5, 4)["pairs_apart"] == 0


@pytest.mark.parametrize(("degrees", "quantile"), [(4, 2.7764), (5, 2.5706), (11, 2.2010), (23, 2.0687)])
def test_quantiles_of_student(degrees: int, quantile: float) -> None:
    assert quantile - 0.001 - 5e-5 <= prediction._student(degrees) <= quantile + 5e-5
