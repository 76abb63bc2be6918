"""Tests on damaged models of transformers and on arguments of `decode` and `costs` of other types: each error is a
CaptureError that names its location."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from draftproof.capture import CaptureError, capture  # noqa: E402
from draftproof.costs import costs  # noqa: E402
from draftproof.costs import main as costs_command  # noqa: E402
from draftproof.decode import decode  # noqa: E402
from draftproof.decode import main as decode_command  # noqa: E402

IDS = [list(range(16))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with a model of 32 tokens."""
    config = transformers.GPT2Config(vocab_size=32, n_positions=32, n_embd=8, n_layer=1, n_head=1)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def captured(folder: Path, **changes: Any) -> Any:
    given = {"target": str(folder), "draft": lambda ids: np.zeros((len(ids), 32)), "texts": IDS}
    given |= {"output": folder.parent / "a.npz", "positions": 2, "skip": 1, "context": 8}
    return capture(**{**given, **changes})


@pytest.mark.parametrize("name", ["config.json", "generation_config.json", "model.safetensors"])
def test_files_of_a_model_that_are_damaged(name: str, folder: Path) -> None:
    (folder / name).write_text("[" * 100_000)
    with pytest.raises(CaptureError, match=f"model: got '{folder}': .*expected a causal model"):
        captured(folder)


@pytest.mark.parametrize("change", [{"vocab_size": -1}, {"vocab_size": "a"}, {"vocab_size": 64}, {"n_head": 0}])
def test_a_config_that_does_not_fit_its_weights(change: dict[str, Any], folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(CaptureError, match=f"model: got '{folder}': .*expected a causal model"):
        captured(folder)


def test_damaged_weights_on_the_command_line(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\xff" * 50)
    (folder.parent / "texts.jsonl").write_text(json.dumps(IDS[0]))
    command = [sys.executable, "-m", "draftproof", "capture", "--target", str(folder), "--draft", str(folder)]
    command += ["--texts", "texts.jsonl", "-o", "a.npz"]
    ended = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and f"model: got '{folder}'" in ended.stderr and "Traceback" not in ended.stderr


def test_a_damaged_tokenizer(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text("5")
    with pytest.raises(CaptureError, match=r"tokenizer: got .*expected a tokenizer of transformers"):
        captured(folder, texts=["abc " * 9], tokenizer=str(folder))


@pytest.mark.parametrize("device", ["no_such_device", 99, "meta"])
def test_a_device_that_torch_does_not_have(device: Any, folder: Path) -> None:
    with pytest.raises(CaptureError, match=r"device: got .*expected a device"):
        captured(folder, device=device)


def test_a_loaded_model_stays_on_its_device(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    lines = f"import transformers\nMODEL = transformers.GPT2LMHeadModel.from_pretrained({str(folder)!r})\n"
    (folder.parent / "loaded_on_a_cpu.py").write_text(lines)
    (folder.parent / "texts.jsonl").write_text(json.dumps(IDS[0]))
    monkeypatch.syspath_prepend(folder.parent)
    given = ["--target", "python:loaded_on_a_cpu:MODEL", "--texts", str(folder.parent / "texts.jsonl"), "--rounds", "1"]
    words = f"device: got 'cuda' for {folder}, which is loaded on cpu, expected no device"
    for main in (decode_command, costs_command):
        assert main([*given, "--device", "cuda"]) == 2 and words in capsys.readouterr().err
    assert decode_command([*given, "--device", "no_such_device"]) == 2
    assert "device: got 'no_such_device' for" in capsys.readouterr().err
    for device in ("cpu", "cpu:0"):
        assert decode_command([*given, "--device", device, "--tokens", "2", "-q"]) == 0


def decoded(**changes: Any) -> Callable[[str], Any]:
    return lambda model: decode(model, IDS, **{"tokens": 2, "rounds": 1, **changes})


def measured(**changes: Any) -> Callable[[str], Any]:
    return lambda model: costs(model, **{"tokens": (1,), "contexts": (4,), "rounds": 1, **changes})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (decoded(settings=5), "settings: got 5"),
        (decoded(no_such_setting=1), "settings: got 'no_such_setting'"),
        (decoded(drafts="lookup"), "drafts: got 'lookup'"),
        (decoded(shapes=5), "shapes: got 5"),
        (decoded(shapes=[5]), "shape: got 5"),
        (decoded(verifiers=5), "verifier: got 5"),
        (decoded(say=5), "say: got 5"),
        (decoded(tokens="a"), "tokens: got 'a'"),
        (decoded(tokens=None), "tokens: got None"),
        (decoded(rounds=1.5), "rounds: got 1.5"),
        (decoded(threads=2**70), "threads: got 118"),
        (decoded(target_filter=5), "target_filter: got 5"),
        (measured(tokens=5), "tokens: got 5"),
        (measured(tokens=("a",)), "tokens: got ['a']"),
        (measured(batches=(1.5,)), "batch: got [1.5]"),
        (measured(contexts=()), "context: got []"),
        (measured(rounds="a"), "rounds: got ['a']"),
        (measured(shapes=(5,)), "shape: got 5"),
        (measured(settings={}), "settings: got {}"),
        (measured(say=5), "say: got 5"),
    ],
)
def test_arguments_of_other_types(call: Callable[[str], Any], words: str) -> None:
    with pytest.raises(CaptureError) as caught:
        call("/nowhere/model")
    assert words in str(caught.value) and "expected" in str(caught.value)


@pytest.fixture
def broken(folder: Path) -> Path:
    """Returns the folder of a copy of the model whose logit of token 20, which the texts lack, is NaN in every row."""
    model = transformers.GPT2LMHeadModel.from_pretrained(folder)
    with torch.no_grad():
        model.transformer.wte.weight[20] = torch.nan
    model.save_pretrained(folder.parent / "broken")
    return folder.parent / "broken"


@pytest.mark.parametrize("side", ["target", "draft"])
@pytest.mark.parametrize("top_k", ["0", "4"])  # Top-k would remove the NaN.
@pytest.mark.parametrize("main", [decode_command, costs_command])
def test_logits_that_are_no_numbers(
    main: Callable[[list[str]], int], top_k: str, side: str, folder: Path, broken: Path, capsys: Any
) -> None:
    (folder.parent / "texts.jsonl").write_text(json.dumps(IDS[0]))
    models = {"target": folder, "draft": folder, side: broken}
    given = [f"--{name}={path}" for name, path in models.items()] + [f"--texts={folder.parent / 'texts.jsonl'}"]
    given += ["--shape=1x2", "--verifier=single_draft", "--rounds=1", "--tokens=2", "--target-top-k", top_k]
    given += ["--proposal-top-k", top_k, "-q", *(["--context=4"] if main is costs_command else ["--drafts=model"])]
    assert main(given) == 2
    said = capsys.readouterr().err
    assert f"{broken}, after " in said and "tokens, token 20: got nan, expected finite or -inf" in said
    assert "Traceback" not in said


def test_a_token_that_cannot_occur_is_no_fault(folder: Path) -> None:
    model = transformers.GPT2LMHeadModel.from_pretrained(folder)
    model.lm_head = torch.nn.Linear(8, 32)
    with torch.no_grad():
        model.lm_head.bias[20] = -torch.inf
    assert decode(model, IDS, draft=model, tokens=8, rounds=1)["settings"]
    with torch.no_grad():
        model.lm_head.bias.fill_(-torch.inf)
    with pytest.raises(CaptureError, match=r"model, after 1?\d tokens: got -inf for every token"):
        decode(model, IDS, draft=model, tokens=8, rounds=1)
