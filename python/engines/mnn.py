"""MNN: texts of its Llm by look-up, by heads that draft, and without drafts, on models that are tables of next-token
distributions."""

from __future__ import annotations

import json
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter

PENALTY = 1.0  # presence penalty of the last token alone, so that texts with penalties are still Markov chains
LOOKAHEAD = {"speculative_type": "lookahead", "ngram_update": True}
HEADS = {"hidden_states": True, "eagle_depth": 2, "eagle_topk": 2, "draft_predict_length": 1}


def save_table(place: Path, embedded: str, rows: Any, second: str = "", kept: str = "") -> None:
    """Writes a model whose logits after token t are log(rows[t]).

    embedded  name of the input of one-hot embeddings
    second    name of one more input, of hidden states, which is ignored
    kept      name of one more output, of hidden states, which are the embeddings
    """
    import MNN.expr as op

    def ints(*values: int) -> Any:
        return op.const(list(values), [len(values)], op.NCHW, op.int)

    def given(name: str, shape: list[int], kind: Any = op.float) -> Any:
        made = op.placeholder(shape, op.NCHW, kind)
        made.name = name
        return made

    size = len(rows)
    with np.errstate(divide="ignore"):
        logits = np.maximum(np.log(np.asarray(rows, np.float64)), -1e4).astype(np.float32)
    embeddings, index = given(embedded, [-1, 1, size]), given("logits_index", [1], op.int)
    unused = [given("attention_mask", [1, 1, -1, -1]), op.cast(given("position_ids", [1, -1], op.int), op.float)]
    unused += [given(second, [1, -1, size])] if second else []
    zero = op.const([0.0], [1], op.NCHW)
    for one in unused:  # the engine hands over all inputs; these do not change the logits
        zero = op.multiply(op.add(zero, op.reduce_max(one)), op.const([0.0], [1], op.NCHW))
    hidden = op.reshape(embeddings, [1, -1, size])
    product = op.matmul(hidden, op.const(logits.ravel().tolist(), [size, size], op.NCHW))
    begin = op.concat([ints(0), index, ints(0)], 0)
    rest = op.strided_slice(product, begin, ints(1, 2**30, size), ints(1, 1, 1), 0, 2, 0, 0, 0)
    results = [op.add(rest, zero)] + ([op.add(hidden, zero)] if kept else [])
    for result, name in zip(results, ("logits", kept), strict=False):
        result.name = name
    op.save(results, str(place))


def save_eagle(folder: Path, rows: Any) -> None:
    import MNN.expr as op

    save_table(folder / "eagle.mnn", "input_embed", rows, "hidden_states", "out_hidden_states")
    states = op.placeholder([1, -1, len(rows)], op.NCHW)
    states.name = "fc_hidden"
    passed = op.multiply(states, op.const([1.0], [1], op.NCHW))
    passed.name = "hidden_states"
    op.save([passed], str(folder / "eagle_fc.mnn"))
    same = op.const([0] * len(rows), [len(rows)], op.NCHW, op.int)  # a draft token has the same number in the target
    same.name = "d2t"
    op.save([same], str(folder / "eagle_d2t.mnn"))


def save_mtp(folder: Path, rows: Any) -> None:
    save_table(folder / "mtp.mnn", "input_embed", rows, "hidden_states")


def loaded(folder: Path, target: Any, **options: Any) -> Any:
    """Returns a model of the engine, at temperature 1."""
    import MNN.llm

    size = len(target)
    save_table(folder / "llm.mnn", "input_ids", target, kept="hidden_states" if "hidden_states" in options else "")
    (folder / "llm.mnn.weight").write_bytes(b"0")
    (folder / "embeddings_bf16.bin").write_bytes((np.eye(size, dtype=np.float32).view(np.uint32) >> 16).astype("<u2"))
    words = [b64encode(f"<{token}>".encode()).decode() for token in range(size)]
    (folder / "tokenizer.txt").write_text("\n".join(["430 1", "0 0 0", "", str(size), *words, ""]))
    config = {"hidden_size": size, "layer_nums": 1, "attention_mask": "float", "precision": "high", "memory": "high"}
    config |= {"thread_num": 1, "llm_config": "config.json", "sampler_type": "mixed", "mixed_samplers": ["temperature"]}
    config |= options
    (folder / "config.json").write_text(json.dumps(config))
    model = MNN.llm.create(str(folder / "config.json"))
    model.load()
    return model


def written(model: Any, length: int) -> list[int]:
    """Returns the tokens that the engine writes after the prompt 0 0, `length` or, with drafts, some more."""
    model.generate_init()
    text: list[int] = model._c_obj.generate([0, 0], length)  # the method `generate` of `model` asks for no tokens
    return text


def whole(name: str, head: str = "", penalty: bool = False, **options: Any) -> Any:
    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        given = options | {"draft_predict_length": drafts}
        if penalty:  # the engine divides the probability of the last token by e^PENALTY
            target = np.asarray(target) * np.exp(PENALTY * np.eye(len(target)))
            target /= target.sum(1, keepdims=True)
            given |= {"mixed_samplers": ["penalty", "temperature"], "presence_penalty": PENALTY, "penalty_window": 1}
        with tempfile.TemporaryDirectory(prefix="draftproof-") as folder:
            if head == "eagle":
                save_eagle(Path(folder), proposal)
                given = HEADS | given | {"speculative_type": head}
            elif head:  # for more than one draft, the engine reads the rows of more heads
                save_mtp(Path(folder), proposal)
                given |= HEADS | {"speculative_type": head}
            return written(loaded(Path(folder), target, **given), length)[:length]

    return adapter(None, name=f"mnn_{name}", arrays="numpy", generate=generate)


def sampled(name: str, note: str = "", **given: Any) -> EngineAdapter:
    return EngineAdapter(name, lambda: whole(name, **given), tiers=("sampled",), note=note)


ENGINE = Engine(
    packages=("MNN==3.6.1",),
    replaces="the models, by tables of next-token distributions; the tokenizer, by one that is not called",
    adapters=(
        sampled("lookahead", "temperature 1, drafts from the text; the engine seeds its numbers itself", **LOOKAHEAD),
        sampled("lookahead_penalty", "the same with a presence penalty of the last token", penalty=True, **LOOKAHEAD),
        sampled("alone_penalty", "a control of the penalty: no drafts", penalty=True),
        sampled("eagle", "temperature 1; trees of an EAGLE head", head="eagle"),
        sampled("mtp", "temperature 1; one draft of a head", head="mtp"),
    ),
)
