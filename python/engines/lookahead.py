"""Lookahead decoding: texts of its sampling loop, with tables of next-token distributions in place of the model."""

from __future__ import annotations

import random
import typing
from types import SimpleNamespace
from typing import Any

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, functions_of

CHUNK = 512  # length of the text after which a call of the loop ends; the next call continues from the last token
SETTINGS = {"WINDOW_SIZE": 5, "LEVEL": 4, "GUESS_SET_SIZE": 5}
NAMES = ("update_token_map", "filter_window", "jacobi_sample_multilevel")


class Processors(list[Any]):
    """An empty list of logits processors, which returns the scores unchanged."""

    def __call__(self, ids: Any, scores: Any) -> Any:
        return scores


class UntilChunk(list[Any]):
    """Stands for the loop's list of stopping criteria. Its call returns True once there are more than CHUNK tokens."""

    def __call__(self, ids: Any, scores: Any) -> bool:
        return bool(ids.shape[1] > CHUNK)


class Table:
    """The interface that the loop requires of a model. The row after token t is target[t]. At the tokens of the
    lookahead window the rows are proposal[t]; the loop makes drafts of their most probable tokens."""

    config = SimpleNamespace(is_encoder_decoder=False)
    generation_config = SimpleNamespace(eos_token_id=None, output_scores=False)
    generation_config.output_attentions = generation_config.output_hidden_states = False

    def __init__(self, torch: Any, target: Any, proposal: Any) -> None:
        self.torch, self.vocab_size = torch, len(target)
        self.target, self.proposal = (torch.log(torch.tensor(np.asarray(x))).float() for x in (target, proposal))

    def prepare_inputs_for_generation(self, ids: Any, **given: Any) -> dict[str, Any]:
        return {"input_ids": ids, "position_ids": ids}

    def jforward_multilevel(self, input_ids: Any, past_tokens: Any, guess_tokens: Any, **given: Any) -> Any:
        window = next(level for level in reversed(past_tokens) if level is not None)
        return SimpleNamespace(
            out_logits=self.target[input_ids[:, -1]],
            inp_logits=self.proposal[self.torch.tensor([window])],
            guess_logits=None if guess_tokens is None else self.target[self.torch.tensor([guess_tokens])],
            past_key_values=[],
            step_len=0,
            kvcache_len=0,
        )

    def _update_model_kwargs_for_generation(self, outputs: Any, given: Any, **named: Any) -> Any:
        return given | {"past_key_values": None}


def texts() -> Any:
    import torch

    torch.set_num_threads(1)
    scope = {name: getattr(typing, name) for name in ("Any", "Callable", "Dict", "List", "Optional", "Tuple", "Union")}
    scope |= dict.fromkeys(("LogitsProcessorList", "StoppingCriteriaList", "SampleOutput"), object)
    scope |= {"torch": torch, "random": random, "CONFIG_MAP": SETTINGS, "COLOR_PRINT": 0}
    loop = functions_of(ENGINE.root() / "lade" / "decoding.py", NAMES, scope)[-1]

    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        torch.manual_seed(random.randrange(2**31))  # the host seeds `random`
        model, text = Table(torch, target, proposal), [0]
        while len(text) <= length:
            ids = torch.tensor([text[-1:]])
            given = {"logits_processor": Processors(), "logits_warper": Processors()}
            given |= {"stopping_criteria": UntilChunk(), "return_dict_in_generate": False}
            with torch.no_grad():
                out = loop(model, ids, attention_mask=torch.ones_like(ids), pad_token_id=0, **given)
            text += out[0, 1:].tolist()
        return text[1 : length + 1]

    return adapter(None, name="lookahead_texts", arrays="numpy", generate=generate)


ENGINE = Engine(
    sources="hao-ai-lab/LookaheadDecoding",
    commit="eed010da9c7b1867912675d480feec5629e0c2d0",
    parts=("lade/decoding.py",),
    replaces="the model, by tables of next-token distributions",
    adapters=(
        EngineAdapter(
            "texts",
            texts,
            tiers=("sampled",),
            note="temperature 1, texts in pieces; drafts are the most probable tokens of the proposal's rows",
        ),
    ),
)
