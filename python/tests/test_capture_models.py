"""Tests captures of transformers models with random weights, loaded from a folder, with layers removed, or
quantised."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from capture_small_models import run_program

from draftproof.capture import CaptureError, Options, Trees, capture
from draftproof.capture.layout import read
from draftproof.capture.models import open_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

pytestmark = pytest.mark.usefixtures("one_thread")

V = 40
TEXTS = [np.random.default_rng([3, i]).integers(0, V, size=24).tolist() for i in range(3)]
GIVEN: dict[str, Any] = {"positions": 20, "context": 12, "skip": 2}


def llama(seed: int = 0, **changes: Any) -> Any:
    """Returns a random Llama of five layers. Large weights make its rows far from uniform."""
    given = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 5, "num_attention_heads": 2}
    config = transformers.LlamaConfig(
        vocab_size=V, max_position_embeddings=32, initializer_range=0.4, **{**given, **changes}
    )
    torch.manual_seed(seed)
    return transformers.LlamaForCausalLM(config).eval()


def gpt2(seed: int = 0) -> Any:
    """Returns a random GPT-2 of three layers, whose linear layers are of the class Conv1D."""
    config = transformers.GPT2Config(
        vocab_size=V, n_positions=32, n_embd=16, n_layer=3, n_head=2, initializer_range=0.4, bos_token_id=0
    )
    torch.manual_seed(seed)
    return transformers.GPT2LMHeadModel(config).eval()


def captured(output: Path, target: Any, draft: Any, **changes: Any) -> tuple[dict[str, Any], dict[str, str]]:
    capture(target, draft, TEXTS, output, **{**GIVEN, **changes})
    return read(output)


def rows_of(model: Any, arrays: dict[str, Any]) -> Any:
    """Returns the log-probabilities [N, V] of a model after the stored contexts, one context at a time."""
    rows = []
    with torch.no_grad():
        for context in arrays["tokens"]:
            ids = torch.as_tensor(context[context >= 0][None].astype(np.int64))
            rows.append(torch.log_softmax(model(ids, use_cache=False).logits[0, -1].double(), -1).numpy())
    return np.stack(rows)


@pytest.mark.parametrize("make", [llama, gpt2])
def test_rows_are_those_of_the_model(tmp_path: Path, make: Any) -> None:
    target, draft = make(0), make(1)
    arrays, metadata = captured(tmp_path / "run.safetensors", target, draft)
    for name, model in (("target", target), ("draft", draft)):
        # Passes over texts of different lengths add floats in different orders. The bound allows for 500 roundings of
        # numbers below 32.
        np.testing.assert_allclose(arrays[name], rows_of(model, arrays), atol=500 * 32 * 2**-24)
    about = json.loads(metadata["models"])["target"]
    assert about["class"] == type(target).__name__
    assert about["parameters"] == sum(p.numel() for p in target.parameters())
    assert about["versions"]["torch"] == torch.__version__


def test_a_folder_gives_the_same_rows_as_the_loaded_model(tmp_path: Path) -> None:
    target, draft = llama(0), gpt2(1)
    target.save_pretrained(tmp_path / "target")
    draft.save_pretrained(tmp_path / "draft")
    loaded, _ = captured(tmp_path / "loaded.safetensors", target, draft)
    by_name, metadata = captured(tmp_path / "named.safetensors", str(tmp_path / "target"), tmp_path / "draft")
    for name in ("target", "draft"):
        assert (loaded[name] == by_name[name]).all()
    assert metadata["target"] == str(tmp_path / "target")


def write_gguf(model: Any, path: Path) -> None:
    """Writes a Llama in float32 as llama.cpp stores it: the two halves of a head's rotary components interleaved."""
    gguf = pytest.importorskip("gguf")
    pytest.importorskip("accelerate")
    config = model.config
    heads, width = config.num_attention_heads, config.hidden_size // config.num_attention_heads
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(width)
    writer.add_vocab_size(V)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        data = tensor.numpy()
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            halves = data.reshape(-1, 2, width // 2, data.shape[1])
            data = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(data.shape)
        writer.add_tensor(names.get_name(name, (".weight",)), data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_gguf_file_gives_the_same_rows_as_its_model(tmp_path: Path) -> None:
    target = llama(0)
    write_gguf(target, tmp_path / "target.gguf")
    loaded, _ = captured(tmp_path / "loaded.safetensors", target, None, draft_skip_layers=(1,))
    opened, metadata = captured(
        tmp_path / "opened.safetensors", str(tmp_path / "target.gguf"), None, draft_skip_layers=(1,)
    )
    for name in ("target", "draft"):
        assert (loaded[name] == opened[name]).all()
    assert json.loads(metadata["models"])["draft"]["gguf_file"] == "target.gguf"


@pytest.mark.parametrize("name", ["missing.gguf", "./missing.gguf"])
def test_a_missing_gguf_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (name, str(tmp_path / name)):
        with pytest.raises(CaptureError, match=r"model: got no file .*missing\.gguf', expected a \.gguf file"):
            capture(path, None, TEXTS, tmp_path / "run.safetensors", draft_skip_layers=(1,))


def test_texts_go_through_the_tokenizer_beside_the_model(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = {f"w{i}": i for i in range(V)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    folder = tmp_path / "model"
    llama(0).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(tokenizer_object=made).save_pretrained(folder)
    (tmp_path / "texts.txt").write_text("\n\n".join(" ".join(f"w{i}" for i in ids) for ids in TEXTS))
    capture(folder, llama(1), tmp_path / "texts.txt", tmp_path / "run.safetensors", **GIVEN)
    arrays, _ = read(tmp_path / "run.safetensors")
    ids, _ = captured(tmp_path / "ids.safetensors", folder, llama(1))
    assert (arrays["tokens"] == ids["tokens"]).all()


@pytest.mark.parametrize(("make", "count", "skip"), [(llama, 5, (1, 3)), (gpt2, 3, (0,))])
def test_left_out_layers_are_those_of_a_smaller_model(
    tmp_path: Path, make: Any, count: int, skip: tuple[int, ...]
) -> None:
    target = make(0)
    arrays, metadata = captured(tmp_path / "run.safetensors", target, None, draft_skip_layers=skip)
    assert target.config.num_hidden_layers == count
    np.testing.assert_allclose(arrays["target"], rows_of(target, arrays), atol=500 * 32 * 2**-24)
    inner = target.model if make is llama else target.transformer
    kept = [layer for i, layer in enumerate(inner.layers if make is llama else inner.h) if i not in skip]
    setattr(inner, "layers" if make is llama else "h", torch.nn.ModuleList(kept))
    target.config.num_hidden_layers = len(kept)
    np.testing.assert_allclose(arrays["draft"], rows_of(target, arrays), atol=500 * 32 * 2**-24)
    assert json.loads(metadata["models"])["draft"]["skipped_layers"] == list(skip)


def test_more_layers_left_out_are_further_from_the_target(tmp_path: Path) -> None:
    few = capture(llama(0), None, TEXTS, tmp_path / "few.npz", draft_skip_layers=(2,), **GIVEN)
    many = capture(llama(0), None, TEXTS, tmp_path / "many.npz", draft_skip_layers=(0, 1, 2, 3), **GIVEN)
    assert 1 > few.acceptance["draft"] > many.acceptance["draft"]


def test_fewer_bits_are_further_from_the_target_which_stays(tmp_path: Path) -> None:
    target = llama(0)
    before = {name: p.detach().clone() for name, p in target.named_parameters()}
    found = [
        capture(target, None, TEXTS, tmp_path / f"{bits}.npz", quantise_draft=bits, **GIVEN).acceptance["draft"]
        for bits in (8, 4, 2)
    ]
    assert 1 > found[0] > found[1] > found[2] > 0
    assert all((before[name] == p).all() for name, p in target.named_parameters())


@pytest.mark.parametrize("make", [llama, gpt2])
def test_int8(tmp_path: Path, make: Any) -> None:
    done = capture(make(0), None, TEXTS, tmp_path / "run.safetensors", quantise_draft="int8", **GIVEN)
    assert 0.9 < done.acceptance["draft"] < 1
    about = json.loads(read(tmp_path / "run.safetensors")[1]["models"])["draft"]
    assert about["quantised"] in (
        "int8 dynamic quantisation of torch",
        "linear weights rounded to 8 bits in groups of 32",
    )
    if make is gpt2:
        assert "rounded" in about["quantised"]


def test_int8_where_torch_has_no_dynamic_quantisation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise RuntimeError("no engine")

    monkeypatch.setattr(torch.ao.quantization, "quantize_dynamic", missing)
    capture(llama(0), None, TEXTS, tmp_path / "run.safetensors", quantise_draft="int8", **GIVEN)
    monkeypatch.undo()
    capture(llama(0), None, TEXTS, tmp_path / "bits.safetensors", quantise_draft=8, **GIVEN)
    assert (read(tmp_path / "run.safetensors")[0]["draft"] == read(tmp_path / "bits.safetensors")[0]["draft"]).all()


def test_rounding_has_one_scale_per_group() -> None:
    from draftproof.capture.layers import rounded

    weights = torch.linspace(-1, 1, 70).view(7, 10) * torch.where(torch.arange(70) < 32, 100.0, 1.0).view(7, 10)
    for bits in (2, 4, 8):
        steps = 2 ** (bits - 1) - 1
        flat, given = rounded(weights, bits).flatten(), weights.flatten()
        for first in (0, 32, 64):
            group, plain = flat[first : first + 32], given[first : first + 32]
            scale = plain.abs().max() / steps
            assert (group - plain).abs().max() <= scale / 2 * 1.0001
            np.testing.assert_allclose((group / scale).round(), group / scale, atol=1e-4)


@pytest.mark.parametrize("make", [llama, gpt2])
def test_sequences_with_an_equal_beginning_have_the_rows_of_single_ones(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_model(make(), Options())
    ids = np.stack([[*TEXTS[0][:10], *TEXTS[i][:3]] for i in range(3)])
    read: list[int] = []
    right = type(model.model).forward
    signature = inspect.signature(right)

    def forward(*given: Any, **named: Any) -> Any:
        read.append(named["input_ids"].numel())
        return right(*given, **named)

    for at in ([9, 10, 12], [12], [4, 12]):
        single = [model.rows(sequence[None], at)[0] for sequence in ids]
        with monkeypatch.context() as patch:
            forward.__signature__ = signature  # type: ignore[attr-defined]
            patch.setattr(type(model.model), "forward", forward)
            read.clear()
            together = model.rows(ids, at)
        # The tokens before the first row are equal in all sequences, at most ten of them, and are read once.
        once = min(at[0], 10)
        assert read == [once, 3 * (13 - once)]
        np.testing.assert_allclose(together, single, atol=1e-5)
    assert model.rows(np.stack(TEXTS), [3]).shape == (3, 1, V)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Mamba", {"state_size": 4}),
        ("FalconH1", {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "mamba_d_ssm": 32,
                      "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 4, "intermediate_size": 24}),
    ],
)  # fmt: skip
def test_models_with_recurrent_layers_read_every_sequence(name: str, changes: dict[str, Any]) -> None:
    """Their states cannot be repeated for the sequences of a batch."""
    given = {"vocab_size": V, "hidden_size": 16, "num_hidden_layers": 2, "bos_token_id": 0, "eos_token_id": 1}
    config = getattr(transformers, f"{name}Config")(**given, pad_token_id=0, **changes)
    torch.manual_seed(0)
    model = open_model(getattr(transformers, f"{name}ForCausalLM")(config).eval(), Options())
    ids = np.stack([[*TEXTS[0][:10], *TEXTS[i][:3]] for i in range(3)])
    single = [model.rows(sequence[None], [9, 12])[0] for sequence in ids]
    for _ in range(2):
        np.testing.assert_allclose(model.rows(ids, [9, 12]), single, atol=1e-5)


def test_continuations_by_the_cache_are_those_without(tmp_path: Path) -> None:
    target = llama(0)
    target.generation_config.eos_token_id = None
    target.config.eos_token_id = None
    with_cache, _ = captured(tmp_path / "cache.safetensors", target, llama(1), continue_tokens=7)

    def plain(ids: Any) -> Any:
        with torch.no_grad():
            return target(torch.as_tensor(ids[None])).logits

    without, _ = captured(tmp_path / "plain.safetensors", plain, llama(1), continue_tokens=7)
    # The tokens are equal unless a uniform number falls between two roundings of a sum, which this seed avoids.
    assert (with_cache["tokens"] == without["tokens"]).all()


@pytest.mark.parametrize("outside", [[], [-1], [V], [50256]])
def test_tokens_that_end_a_text_are_not_drawn(outside: list[int], tmp_path: Path) -> None:
    """Ends outside of the vocabulary are no tokens."""
    target = llama(0)
    target.generation_config.eos_token_id = [*range(V - 2), *outside]
    arrays, _ = captured(tmp_path / "run.safetensors", target, llama(1), continue_tokens=7)
    assert set(arrays["next_token"].tolist()) == {V - 2, V - 1}


@pytest.mark.parametrize("name", ["Mamba", "Rwkv"])
def test_continuations_of_models_without_a_key_value_cache(name: str, tmp_path: Path) -> None:
    given = {"vocab_size": V, "hidden_size": 16, "num_hidden_layers": 2, "bos_token_id": 0, "eos_token_id": None}
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}ForCausalLM")(getattr(transformers, f"{name}Config")(**given)).eval()
    model.generation_config.eos_token_id = None
    torch.nn.init.normal_(model.get_output_embeddings().weight)  # Rows that depend on the tokens before.

    def plain(ids: Any) -> Any:
        with torch.no_grad():
            return model(torch.as_tensor(ids[None])).logits

    made = [
        captured(tmp_path / f"{i}.safetensors", one, model, continue_tokens=7)[0]
        for i, one in enumerate((model, plain))
    ]
    assert (made[0]["tokens"] == made[1]["tokens"]).all()


def test_an_interrupted_capture_gives_the_same_bytes(tmp_path: Path) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    target = llama(0)
    given: dict[str, Any] = {**GIVEN, "draft_skip_layers": (2,)}
    capture(target, None, TEXTS, tmp_path / "whole.safetensors", **given)
    with pytest.raises(KeyboardInterrupt):
        capture(target, None, TEXTS, tmp_path / "parts.safetensors", progress=stop, **given)
    assert capture(target, None, TEXTS, tmp_path / "parts.safetensors", **given).resumed > 0
    assert (tmp_path / "parts.safetensors").read_bytes() == (tmp_path / "whole.safetensors").read_bytes()


def test_other_weights_do_not_continue_a_capture(tmp_path: Path) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        capture(llama(0), llama(1), TEXTS, file, progress=stop, **GIVEN)
    with pytest.raises(CaptureError, match="another capture"):
        capture(llama(0), llama(2), TEXTS, file, **GIVEN)


def test_trees_of_models_reach_the_program(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    capture(llama(0), None, TEXTS, file, **{**GIVEN, "positions": 4}, trees=Trees(3, 2), draft_skip_layers=(2,))
    said = run_program("survey-paths", str(file), "-K", "2", "-L", "2", "--verifier", "token_path", "--instances", "0")
    assert said["sources"][0]["about"]["conditionals"] == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"draft_skip_layers": (5,)}, r"got \[5\], expected some, not all, of layers 0 to 4"),
        ({"draft_skip_layers": (0, 1, 2, 3, 4)}, "some, not all"),
        ({"context": 33, "draft_skip_layers": (1,)}, "context: got 33 tokens, expected at most 32"),
        ({}, "draft: got none"),
    ],
)
def test_what_a_model_cannot_do_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(CaptureError, match=words):
        capture(llama(0), None, TEXTS, tmp_path / "run.safetensors", **{**GIVEN, **changes})


@pytest.mark.parametrize(("trees", "width"), [(None, 32), (Trees(2, 3), 29)])
def test_contexts_that_are_not_given_fit_the_models(trees: Trees | None, width: int, tmp_path: Path) -> None:
    file, given = tmp_path / "run.npz", {"positions": 4, "trees": trees, "draft_skip_layers": (1,)}
    capture(llama(0), None, [TEXTS[0] * 3], file, **given)
    assert np.load(file)["tokens"].shape == (4, width)
    assert json.loads(json.loads(file.with_suffix(".json").read_text())["options"])["context"] == width
    with pytest.raises(CaptureError, match=r"context: got 3[36] tokens.*, expected at most 32"):
        capture(llama(0), None, TEXTS, tmp_path / "long.npz", **given, context=33)
    with pytest.raises(CaptureError, match=f"context: got {width}, expected at least 41"):
        capture(llama(0), None, TEXTS, tmp_path / "skip.npz", **given, skip=40)


def test_a_model_with_a_missing_weight_is_refused(tmp_path: Path) -> None:
    model = llama(0)
    weights = {name: value for name, value in model.state_dict().items() if "layers.2.mlp.up_proj" not in name}
    model.save_pretrained(tmp_path / "target", state_dict=weights)
    with pytest.raises(CaptureError, match=r"without model\.layers\.2\.mlp\.up_proj\.weight"):
        capture(tmp_path / "target", None, TEXTS, tmp_path / "run.safetensors", draft_skip_layers=(1,))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="model: got"):
        capture(str(tmp_path), None, TEXTS, tmp_path / "run.safetensors", draft_skip_layers=(1,))


class Words:
    """A tokenizer that has a vocabulary."""

    def __init__(self, words: list[str]) -> None:
        self._ids = {word: i for i, word in enumerate(words)}

    def get_vocab(self) -> dict[str, int]:
        return self._ids

    def __call__(self, text: str) -> list[int]:
        return [self._ids[word] for word in text.split()]


def test_rows_of_different_length_need_tokenizers_that_agree(tmp_path: Path) -> None:
    from draftproof.capture.hub import open_transformers
    from draftproof.capture.options import Options

    words = [f"w{i}" for i in range(V)]

    def model(width: int, known: list[str]) -> Any:
        torch.manual_seed(0)
        made = llama(0)
        made.resize_token_embeddings(width)
        return open_transformers(made, Options(), Words(known))

    target, wide = model(V, words), model(V + 3, words)
    arrays, _ = captured(tmp_path / "run.safetensors", target, wide)
    assert arrays["target"].shape == (20, V + 3)
    assert (arrays["target"][:, V:] == -np.inf).all()
    assert (arrays["draft"][:, V:] > -np.inf).all()
    with pytest.raises(CaptureError, match="id 1 is 'w2' for the draft and 'w1' for the target"):
        captured(tmp_path / "other.safetensors", target, model(V, ["w0", "w2", "w1", *words[3:]]))
    with pytest.raises(CaptureError, match="one vocabulary, or tokenizers that agree"):
        captured(tmp_path / "other.safetensors", llama(0), wide.model)
