"""OpenVINO GenAI: texts of its LLMPipeline with a draft model or by prompt lookup, on models that are tables of
next-token distributions.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter

CHUNK = 200  # largest number of tokens of one call of generate; the next call continues from the last token
HEAD = 32  # number of entries of a key or value, all of which are zero


def table_model(ov: Any, rows: Any) -> Any:
    """Returns a model whose logits after token t are log(rows[t]). The engine requires a model with attention and a
    cache; the attention of this model adds 0 to the logits."""
    from openvino import opset15 as op

    def ints(*values: int) -> Any:
        return op.constant(np.array(values, np.int64))

    def parameter(name: str, rank: int, kind: Any) -> Any:
        made = op.parameter([-1] * rank, kind, name=name)
        made.output(0).set_names({name})
        return made

    size, axis = len(rows), op.constant(np.int64(0))
    with np.errstate(divide="ignore"):
        logits = np.maximum(np.log(np.asarray(rows, np.float64)), -100).astype(np.float32)
    names = {"input_ids": (2, np.int64), "attention_mask": (2, np.int64), "position_ids": (2, np.int64)}
    given = [parameter(name, *kind) for name, kind in (names | {"beam_idx": (1, np.int32)}).items()]
    ids, mask, _, beam = given
    nothing = op.gather(op.constant(np.zeros((size, HEAD), np.float32)), ids, axis)
    heads = op.transpose(op.reshape(nothing, ints(0, 0, 1, HEAD), True), ints(0, 2, 1, 3))
    shape = op.concat([op.gather(op.shape_of(ids), ints(0), axis), ints(1, 0, HEAD)], 0)
    caches, kept = [], []
    for part in ("key", "value"):
        name = f"past_key_values.0.{part}present.0.{part}"
        empty = op.broadcast(op.constant(np.float32(0)), shape)
        past = op.read_value(empty, name, ov.Type.f32, ov.PartialShape([-1, 1, -1, HEAD]))
        caches.append(op.concat([op.gather(past, beam, axis), heads], 2))
        kept.append(op.assign(caches[-1], name))
    hidden = op.multiply(op.convert(op.subtract(mask, ints(1)), "f32"), op.constant(np.float32(1e4)))
    attended = op.scaled_dot_product_attention(heads, *caches, op.unsqueeze(hidden, ints(1, 2)))
    flat = op.reshape(op.transpose(attended, ints(0, 2, 1, 3)), ints(0, 0, HEAD), True)
    zero = op.matmul(flat, op.constant(np.zeros((size, HEAD), np.float32)), False, True)
    result = op.result(op.add(op.gather(op.constant(logits), ids, axis), zero))
    result.output(0).set_names({"logits"})
    return ov.Model([result], kept, given, "table")


def tokenizer_model(ov: Any) -> Any:
    """Returns a tokenizer that maps every string to the single token 0. The engine requires a tokenizer, but does not
    call it here."""
    from openvino import opset15 as op

    strings, results = op.parameter([-1], ov.Type.string), []
    shape = op.concat([op.shape_of(strings), op.constant(np.array([1], np.int64))], 0)
    for name, value in (("input_ids", 0), ("attention_mask", 1)):
        results.append(op.result(op.broadcast(op.constant(np.int64(value)), shape)))
        results[-1].output(0).set_names({name})
    return ov.Model(results, [strings], "tokenizer")


def pipeline(rows: Any, proposal: Any = None, **given: Any) -> Any:
    """Returns a pipeline on the table `rows`, with a draft model on the table `proposal` unless it is None."""
    import openvino as ov
    import openvino_genai as genai

    with tempfile.TemporaryDirectory(prefix="draftproof-") as folder:
        places = [Path(folder) / "target", Path(folder) / "draft"]
        for place, table in zip(places, (rows, rows if proposal is None else proposal), strict=True):
            place.mkdir()
            ov.save_model(table_model(ov, table), place / "openvino_model.xml", compress_to_fp16=False)
            ov.save_model(tokenizer_model(ov), place / "openvino_tokenizer.xml")
            (place / "config.json").write_text('{"model_type": "llama"}')
            (place / "generation_config.json").write_text("{}")
        scheduler = genai.SchedulerConfig()
        scheduler.cache_size = 1
        options = given | {"scheduler_config": scheduler}
        if proposal is not None:
            options["draft_model"] = genai.draft_model(str(places[1]), "CPU")
        return genai.LLMPipeline(str(places[0]), genai.Tokenizer(str(places[0])), "CPU", **options)


def written(pipe: Any, size: int, length: int, **given: Any) -> list[int]:
    """Returns a text of `length` tokens after token 0, at temperature 1 and without truncation."""
    import openvino as ov
    import openvino_genai as genai

    config = genai.GenerationConfig()
    for name, value in ({"do_sample": True, "top_k": size, "ignore_eos": True} | given).items():
        setattr(config, name, value)
    config.set_eos_token_id(size)
    text = [0]
    while len(text) <= length:
        config.rng_seed = random.randrange(2**31)  # the host seeds `random`
        config.max_new_tokens = min(CHUNK, length + 1 - len(text))
        text += pipe.generate(ov.Tensor(np.array([text[-1:]], np.int64)), config).tokens[0]
    return text[1:]


def drafted(same: bool) -> Any:
    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        pipe = pipeline(target, target if same else proposal)
        return written(pipe, len(target), length, num_assistant_tokens=drafts)

    return adapter(None, name=f"openvino_genai_draft_{'same' if same else 'model'}", arrays="numpy", generate=generate)


def looked_up() -> Any:
    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        pipe = pipeline(target, prompt_lookup=True)
        return written(pipe, len(target), length, num_assistant_tokens=drafts, max_ngram_size=2)

    return adapter(None, name="openvino_genai_prompt_lookup", arrays="numpy", generate=generate)


def alone() -> Any:
    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        return written(pipeline(target), len(target), length)

    return adapter(None, name="openvino_genai_alone", arrays="numpy", generate=generate)


ENGINE = Engine(
    packages=("openvino-genai==2026.4.1.0",),
    needs=("openvino-tokenizers==2026.4.1.0", "openvino==2026.4.1"),
    replaces="the models, by tables of next-token distributions; the tokenizer, by one that is not called",
    adapters=(
        EngineAdapter(
            "draft_model",
            lambda: drafted(same=False),
            tiers=("sampled",),
            note="whole texts at temperature 1 without truncation, in pieces",
        ),
        EngineAdapter("draft_same", lambda: drafted(same=True), tiers=("sampled",), note="the target is its own draft"),
        EngineAdapter(
            "prompt_lookup",
            looked_up,
            tiers=("sampled",),
            note="drafts are copied from the text, and accepted by equality with a draw of the target",
        ),
        EngineAdapter("alone", alone, tiers=("sampled",), note="a control of the adapter: no speculation"),
    ),
)
