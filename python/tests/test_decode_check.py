"""Tests that models are refused whose rows with a cache are not those of a pass without one, and that models of two
vocabularies are decoded and captured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from draftproof import costs as costs_module
from draftproof import program

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from draftproof.capture import CaptureError, Options, Trees, capture  # noqa: E402
from draftproof.capture.hub import open_transformers  # noqa: E402
from draftproof.decode import command, decode  # noqa: E402
from draftproof.decode.check import check  # noqa: E402
from draftproof.decode.context import Context  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

V = 32
TEXTS = [np.random.default_rng([5, i]).integers(0, V, size=12).tolist() for i in range(2)]
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
SIZES |= {"max_position_embeddings": 128, "initializer_range": 0.3}
GPT = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 128, "initializer_range": 0.3}


def made(name: str, seed: int = 0, **given: Any) -> Any:
    """Returns a random model of a class NAMEForCausalLM, with a window of 16 if it has local layers."""
    own: dict[str, dict[str, Any]] = {
        "Bart": {"d_model": 32, "decoder_layers": 2, "decoder_attention_heads": 2, "decoder_ffn_dim": 64,
                 "init_std": 0.3, "is_decoder": True, "is_encoder_decoder": False},
        "Bloom": {"hidden_size": 32, "n_layer": 2, "n_head": 2, "initializer_range": 0.3},
        "GPT2": GPT,
        "GPTJ": {**GPT, "rotary_dim": 8},
        "GPTNeo": {"hidden_size": 32, "num_layers": 2, "num_heads": 2, "window_size": 16, "initializer_range": 0.3,
                   "attention_types": [[["global", "local"], 1]], "max_position_embeddings": 128},
        "Llama4": {**SIZES, "intermediate_size_mlp": 64, "num_hidden_layers": 4, "num_key_value_heads": 1,
                   "head_dim": 16, "num_local_experts": 2, "attention_chunk_size": 16},
        "Mamba": {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8, "initializer_range": 0.3},
        "Mpt": {"d_model": 32, "n_layers": 2, "n_heads": 2, "max_seq_len": 128, "initializer_range": 0.3},
        "OPT": {"hidden_size": 32, "word_embed_proj_dim": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
                "ffn_dim": 64, "max_position_embeddings": 128, "init_std": 0.3},
        "Qwen2": {**SIZES, "num_key_value_heads": 1},
        "Qwen3Moe": {**SIZES, "moe_intermediate_size": 16, "num_experts": 4, "num_experts_per_tok": 2,
                     "num_key_value_heads": 1, "head_dim": 16},
        "Rwkv": {"hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32},
    }  # fmt: skip
    kind = {"Llama4": "Llama4TextConfig"}.get(name, f"{name}Config")
    config = getattr(transformers, kind)(**{"vocab_size": V, **own.get(name, SIZES), **given})
    torch.manual_seed(seed)
    head = "GPT2LMHeadModel" if name == "GPT2" else f"{name}ForCausalLM"
    return getattr(transformers, head)(config).eval()


def opened(model: Any, tokenizer: Any = None) -> Any:
    return open_transformers(model, Options(), tokenizer)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ["GPT2", "GPTJ", "GPTNeoX", "Llama", "OPT", "Qwen2", "Qwen3Moe"])
def test_models_with_right_rows_pass(name: str, dtype: str) -> None:
    check(opened(made(name).to(getattr(torch, dtype))), trees=True)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ["Bart", "Bloom", "Mpt"])
def test_where_trees_are_wrong_chains_are_allowed(name: str, dtype: str) -> None:
    model = opened(made(name).to(getattr(torch, dtype)))
    check(model, trees=False)
    with pytest.raises(CaptureError, match=rf"of {name}ForCausalLM is not supported; chains, as in 1x4, are right"):
        check(model, trees=True)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["Mamba", "Rwkv"])
def test_a_recurrent_state_is_refused(name: str, dtype: str) -> None:
    with pytest.raises(CaptureError, match=rf"got a cache of 0 tokens after 8, .* of {name}ForCausalLM"):
        check(opened(made(name).to(getattr(torch, dtype))), trees=False)


@pytest.mark.parametrize("wrong", ["commit", "positions", "mask"])
def test_a_wrong_context_is_found(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    commit, arguments = Context.commit, Context._tree_arguments

    def kept(self: Context, path: Any) -> None:
        commit(self, range(len(self.nodes)))

    def changed(self: Context, before: int, device: Any) -> dict[str, Any]:
        given = arguments(self, before, device)
        if wrong == "positions":
            return given | {"position_ids": given["position_ids"] + 1}
        return given | {"attention_mask": torch.zeros_like(given["attention_mask"])}

    if wrong == "commit":
        monkeypatch.setattr(Context, "commit", kept)
    else:
        monkeypatch.setattr(Context, "_tree_arguments", changed)
    with pytest.raises(CaptureError, match=r"off by \d.* \(roundings explain "):
        check(opened(made("GPT2")), trees=True)


@pytest.mark.parametrize("name", ["GPTNeo", "Llama4"])
def test_a_text_longer_than_a_local_window_is_refused(name: str) -> None:
    model = made(name)
    given: dict[str, Any] = {"drafts": ["ngram"], "shapes": ["1x2"], "verifiers": ["single_draft"], "rounds": 1}
    assert decode(model, TEXTS, tokens=2, **given)["rounds"] == 1
    with pytest.raises(CaptureError, match="at most 16, the attention window"):
        decode(model, TEXTS, tokens=9, **given)
    free = {"GPTNeo": {"attention_types": [[["global"], 2]]}, "Llama4": {"layer_types": ["full_attention"] * 4}}
    assert decode(made(name, **free[name]), TEXTS, tokens=9, **given)["rounds"] == 1


@pytest.mark.parametrize("run", [command.run_command, costs_module.main])
def test_commands_refuse_a_model_with_exit_code_2(
    run: Callable[[list[str]], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made("Bloom").save_pretrained(tmp_path / "model")
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, TEXTS)))
    given = ["--target", str(tmp_path / "model"), "--texts", str(tmp_path / "texts.jsonl"), "-q", "--rounds", "1"]
    assert run([*given, "--shape", "2x2"]) == 2
    assert f"model {tmp_path / 'model'}: got ValueError" in capsys.readouterr().err
    assert run([*given, "--shape", "1x2"]) == 0


class Words:
    """A tokenizer of V tokens."""

    def __call__(self, text: str) -> list[int]:
        raise NotImplementedError

    def get_vocab(self) -> dict[str, int]:
        return {f"w{i}": i for i in range(V)}


def two(wide: str) -> dict[str, Any]:
    """Returns a target and a draft with tokenizers that agree; the one named has 8 more tokens."""
    return {
        name: opened(made("Llama", seed, vocab_size=V + 8 * (name == wide)), Words())
        for seed, name in enumerate(("target", "draft"))
    }


@pytest.mark.parametrize("wide", ["target", "draft"])
@pytest.mark.parametrize(
    ("verifier", "shape"), [("single_draft", "1x3"), ("ladder_block", "3x2"), ("traversal", "3-2")]
)
def test_models_of_two_vocabularies_decode_losslessly(wide: str, verifier: str, shape: str) -> None:
    try:
        program.find()
    except program.ProgramNotFound as error:
        pytest.skip(str(error))
    given = {"drafts": ["model"], "shapes": [shape], "verifiers": [verifier], "tokens": 100, "rounds": 3}
    found = decode(**two(wide), texts=TEXTS, audit=True, **given)
    assert found["vocabulary"] == V + 8
    assert found["settings"][0]["audit"]["verdict"] == "passed"


@pytest.mark.parametrize("wide", ["target", "draft"])
def test_costs_and_trees_of_two_vocabularies(wide: str, tmp_path: Path) -> None:
    models = two(wide)
    table = costs_module.costs(**models, tokens=[1, 3], contexts=[5], shapes=["1x4"], rounds=1)
    assert len(table["draft_pass"]) == 2
    given: dict[str, Any] = {"positions": 12, "context": 8, "skip": 1, "trees": Trees(4, 3)}
    capture(**models, texts=TEXTS, output=tmp_path / "run.npz", **given)
    with np.load(tmp_path / "run.npz") as file:
        narrow = "draft" if wide == "target" else "target"
        assert (file[narrow][:, V:] == -np.inf).all() and (file[wide][:, V:] > -np.inf).all()
        assert (file["paths"] >= V).any() == (wide == "draft")
