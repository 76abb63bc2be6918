"""ONNX Runtime GenAI: texts of its generators with a draft model, with an MTP head or by n-gram look-up, on models that
are automata of next-token distributions."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter

END = 5
SETTINGS = ("temperature", "top_k", "top_p", "repetition_penalty", "min_tokens")
PARTS = ("key", "value")
INPUTS = {"input_ids": "input_ids", "attention_mask": "attention_mask"}
INPUTS |= {f"past_{part}_names": f"past_key_values.%d.{part}" for part in PARTS}
OUTPUTS = {"logits": "logits", "hidden_states": "states"}
OUTPUTS |= {f"present_{part}_names": f"present.%d.{part}" for part in PARTS}
DECODER = {"head_size": 1, "hidden_size": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "num_hidden_layers": 1}


def vocabulary(rows: Any) -> int:
    """Returns the size of the vocabulary, which must include the end token."""
    return max(np.asarray(rows).shape[1], END + 1)


def save_model(place: Path, rows: Any, successors: Any, head: bool = False, half: bool = False) -> None:
    """Writes a model whose logits in state s are log(rows[s]). The cache and the output `states` hold the state after
    each token, the state before the text is 0, and successors[s, x] is the state after token x in state s. With `head`,
    the state before each token is given by the input `states_before`; with `half`, the logits are float16."""
    import onnx
    from onnx import TensorProto as Kind
    from onnx import helper as make
    from onnx.numpy_helper import from_array

    def value(name: str, kind: int, *shape: Any) -> Any:
        return make.make_tensor_value_info(name, kind, shape)

    def cache(name: str, length: str) -> list[Any]:
        return [value(name.format(part), Kind.FLOAT, 1, 1, length, 1) for part in PARTS]

    added = [(0, 0), (0, vocabulary(rows) - np.asarray(rows).shape[1])]
    with np.errstate(divide="ignore"):
        logits = np.maximum(np.log(np.pad(np.asarray(rows, np.float64), added)), -1e4)
    constants = {
        "logits_of": logits.astype(np.float16 if half else np.float32),
        "successors": np.pad(np.asarray(successors, np.int64), added),
        "last": np.array([-1], np.int64),
        "cached": np.array([1, 1, -1, 1], np.int64),
        "start": np.zeros((1, 1, 1, 1), np.float32),
        "column": np.array([-1, 1], np.int64),
        "row": np.array([1, -1, 1], np.int64),
    }
    body = make.make_graph(
        [
            make.make_node("Concat", ["before", "token"], ["place"], axis=0),
            make.make_node("GatherND", ["successors", "place"], ["next"]),
            make.make_node("Reshape", ["next", "last"], ["after"]),
            make.make_node("Identity", ["after"], ["kept"]),
        ],
        "step",
        [value("before", Kind.INT64, 1), value("token", Kind.INT64, 1)],
        [value("after", Kind.INT64, 1), value("kept", Kind.INT64, 1)],
    )
    chained = [
        make.make_node("Concat", ["start", "past_key_values.0.key"], ["cached_states"], axis=2),
        make.make_node("Gather", ["cached_states", "last"], ["last_state"], axis=2),
        make.make_node("Reshape", ["last_state", "last"], ["flat_state"]),
        make.make_node("Cast", ["flat_state"], ["state"], to=Kind.INT64),
        make.make_node("Scan", ["state", "tokens"], ["final", "after"], body=body, num_scan_inputs=1),
    ]
    given_states = [
        make.make_node("Reshape", ["states_before", "column"], ["flat_states"]),
        make.make_node("Cast", ["flat_states"], ["before"], to=Kind.INT64),
        make.make_node("Concat", ["before", "tokens"], ["places"], axis=1),
        make.make_node("GatherND", ["successors", "places"], ["next_states"]),
        make.make_node("Reshape", ["next_states", "column"], ["after"]),
    ]
    nodes = [
        make.make_node("Transpose", ["input_ids"], ["tokens"], perm=[1, 0]),
        *(given_states if head else chained),
        make.make_node("Cast", ["after"], ["as_float"], to=Kind.FLOAT),
        make.make_node("Reshape", ["as_float", "row"], ["states"]),
        make.make_node("Reshape", ["as_float", "cached"], ["content"]),
        make.make_node("Transpose", ["after"], ["batch"], perm=[1, 0]),
        make.make_node("Gather", ["logits_of", "batch"], ["logits"], axis=0),
    ]
    for part in PARTS:
        nodes.append(make.make_node("Concat", [f"past_key_values.0.{part}", "content"], [f"present.0.{part}"], axis=2))
    kind = Kind.FLOAT16 if half else Kind.FLOAT
    states = [value(name, Kind.FLOAT, 1, "new", 1) for name in ("states_before", "states")]
    made = make.make_graph(
        nodes,
        "table",
        [
            value("input_ids", Kind.INT64, 1, "new"),
            value("attention_mask", Kind.INT64, 1, "all"),
            *states[: 1 if head else 0],
            *cache("past_key_values.0.{}", "past"),
        ],
        [value("logits", kind, 1, "new", logits.shape[1]), states[1], *cache("present.0.{}", "all")],
        [from_array(content, name) for name, content in constants.items()],
    )
    onnx.save(make.make_model(made, opset_imports=[make.make_opsetid("", 17)], ir_version=10), place)


def model_of(folder: Path, target: Any, draft: Any = None, **form: bool) -> Any:
    """Returns a model of the engine on `target`, with a draft model on `draft` unless it is None."""
    import onnxruntime_genai as engine

    folder.mkdir(exist_ok=True)
    size, of_head = vocabulary(target.rows), {"main_hidden_states": "states", "outputs": {"hidden_states": "states"}}
    model = {"type": "llama", "vocab_size": size, "context_length": 4096, "eos_token_id": [END], "pad_token_id": END}
    model["mtp"] = of_head
    for part, of in (("decoder", target), ("draft", draft)):
        if of is not None:
            save_model(folder / f"{part}.onnx", of.rows, of.next, **form)
            options = {"provider_options": [], "intra_op_num_threads": 1, "inter_op_num_threads": 1}
            inputs = INPUTS | ({"hidden_states": "states_before"} if form.get("head") else {})
            model[part] = DECODER | {"inputs": inputs, "outputs": OUTPUTS}
            model[part] |= {"filename": f"{part}.onnx", "session_options": options}
    (folder / "genai_config.json").write_text(json.dumps({"model": model, "search": {}}))
    return engine.Model(str(folder))


def answered(
    models: list[Any], prompt: Any, length: int, given: Any, interrupted: bool = False, **speculative: Any
) -> list[int]:
    """Returns the tokens, at most `length`, that the engine writes after a prompt.

    models: the target, which has a draft model in it or not; or the target and an MTP head.
    interrupted: after a third of the tokens, the last two are removed and appended again, which discards tokens that
        the engine has decided but not yet returned. The engine cannot remove only one.
    """
    import onnxruntime_genai as engine

    options = {"top_k": 0, "top_p": 1.0} | dict(given)
    least = options.pop("min_tokens", 0)
    if options["top_k"]:
        options["top_p"] = 0.0
    parameters = engine.GeneratorParams(models[0])
    parameters.set_search_options(
        do_sample=True,
        random_seed=random.randrange(2**31),  # the host seeds `random`
        min_length=len(prompt) + least,
        max_length=len(prompt) + length,
        **options,
    )
    parameters.set_speculative_options(**speculative)
    generator = (engine.MtpGenerator if models[1:] else engine.Generator)(*models, parameters)
    generator.append_tokens(np.array(prompt, np.int32))
    while not generator.is_done():
        generator.generate_next_token()
        if interrupted and not generator.is_done() and random.random() < 1 / 3:
            last = generator.get_sequence(0)[-2:]
            generator.rewind_to(generator.token_count() - 2)
            generator.append_tokens(last)
    text = [int(token) for token in generator.get_sequence(*[0] * (len(models) == 1))][len(prompt) :]
    ended = len(text) == length or text[-1:] == [END]
    return text if ended else [*text, END]  # without a head, the engine leaves the end token out


def requests(name: str, source: str, settings: tuple[str, ...] = (), **options: Any) -> Any:
    """Returns a subject that answers requests. source: `model`, `head` or `text`, from which the drafts come."""

    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, given: Any = None) -> Any:
        with tempfile.TemporaryDirectory(prefix="draftproof-") as folder:
            draft, half = (proposal if source == "model" else None), source == "head"
            models = [model_of(Path(folder) / "target", target, draft, half=half)]
            if source == "head":
                models.append(model_of(Path(folder) / "head", proposal, head=True))
            asked = zip(prompts, lengths, given or [{}] * len(prompts), strict=True)
            return [answered(models, *one, **{"max_draft_tokens": drafts} | options) for one in asked]

    return adapter(None, name=f"onnxruntime_genai_{name}", arrays="numpy", generate=generate, requests=True,
                   settings=settings, end_tokens=[END])  # fmt: skip


def whole(name: str, source: str, note: str = "", **given: Any) -> EngineAdapter:
    return EngineAdapter(name, lambda: requests(name, source, **given), tiers=("sampled",), note=note)


LOOK_UP = {"ngram_size": 2, "ngram_chained_lookup": True}
ENGINE = Engine(
    packages=("onnxruntime-genai==0.18.0",),
    needs=("onnxruntime==1.32.0", "onnx==1.23.2", "protobuf==7.36.2", "ml_dtypes==0.6.0", "flatbuffers==25.12.19"),
    replaces="the models, by automata of next-token distributions as ONNX files",
    adapters=(
        whole("draft_model", "model", "texts after prompts, with the state of both models in their caches"),
        whole(
            "draft_model_settings",
            "model",
            "the same with temperature, truncations, a repetition penalty and a least length of each request",
            settings=SETTINGS,
        ),
        whole("adaptive", "model", "the number of drafts follows the acceptance", min_adaptive_k=1, cooldown=True),
        whole("interrupted", "model", "tokens are removed and appended again in the middle of steps", interrupted=True),
        whole("ngram", "text", "drafts are copied from the text", **LOOK_UP),
        whole("ngram_settings", "text", settings=SETTINGS, **LOOK_UP),
        whole("mtp", "head", "drafts of an MTP head; logits in float16, because the engine fails on others on a CPU"),
        whole("mtp_settings", "head", settings=SETTINGS),
    ),
)
