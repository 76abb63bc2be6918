"""LMDeploy's verification step with a request's settings: sampling inputs, logits processors, rejection sampler."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import functions_of

WRITTEN = (1, 1, 1)  # tokens of the request before the step
PENALTY, MIN_P, TOP_P = 2.0, 2.0**-4, 1 - 2.0**-8
AT = 0.7  # the temperature
CUT = {"min_p": MIN_P / 2, "top_p": 2.0**-10}  # weight of tokens that the setting removes; the likeliest has weight 1


def request(**given: Any) -> SimpleNamespace:
    """Returns the settings of a request as the engine keeps them, with `given` in place of the defaults."""
    plain = {
        "temperature": AT,
        "repetition_penalty": 1.0,
        "top_k": 0,
        "top_p": 1.0,
        "min_p": 0.0,
        "random_seed": None,
        "response_format": None,
        "bad_words": [],
        "stop_words": [],
        "ignore_eos": False,
        "min_new_tokens": 0,
        "logits_processors": None,
        "num_logprobs": -1,
        "repetition_ngram_size": 0,
        "repetition_ngram_threshold": 0,
    }
    return SimpleNamespace(**plain | given)


def step_of(root: Path, implementation: Any) -> Any:
    """Returns step(settings, logits [n + 1, W] of W tokens, drafts [n]) -> tokens: the engine's verification of one
    request whose text is WRITTEN. Only the functions are compiled: the engine's modules would load device libraries."""
    import numpy as np
    import torch
    from torch.profiler import record_function

    pytorch = root / "lmdeploy" / "pytorch"
    scope: dict[str, Any] = {"torch": torch, "np": np, "dataclass": dataclass, "fields": fields, "lru_cache": lru_cache}
    scope |= {"record_function": record_function, "asyncio": asyncio}
    draw = "DefaultMultinomialSamplingImpl.forward"
    (drawn,) = functions_of(pytorch / "backends" / "default" / "multinomial_sampling.py", [draw], dict(scope))
    scope["_multinomial_sampling"] = lambda *given: drawn(None, *given)
    kinds = ("temperature", "bad_words", "repetition_penalty")
    filters = [f"_filter_{one}_sorted_" for one in ("topk", "topp", "minp")]
    names = [f"_process_{one}_" for one in kinds] + [*filters, "_torch_topk", "SamplingInputs", "FusedLogitsProcessor"]
    functions_of(pytorch / "engine" / "logits_process.py", names, scope)
    speculative = pytorch / "spec_decode"
    (sampler,) = functions_of(speculative / "reject_sampler.py", ["RejectionSampler.forward"], scope)
    (guided,) = functions_of(speculative / "guided_spec_helper.py", ["GuidedSpecHelper"], scope)
    names = ["SpecModelAgent._rejection_sampling", "_expand_sampling_inputs", "_SCALAR_FIELDS", "_GLOBAL_FIELDS"]
    agent = functions_of(speculative / "spec_agent.py", names, scope)[0]
    # `make_sampling_inputs` draws a seed for device kernels, which the default backend ignores.
    seedless = SimpleNamespace(random=SimpleNamespace(randint=lambda high: 0), full=np.full, int64=np.int64)
    names = ["_gather_all_ids", "_gather_generated_ids", "_get_num_ignore_eos"]
    sampling = pytorch / "strategies" / "ar" / "sampling.py"
    inputs = functions_of(sampling, ["ARSamplingStrategy.make_sampling_inputs", *names], scope | {"np": seedless})[0]

    def step(settings: SimpleNamespace, logits: Any, drafts: Any) -> list[int]:
        written = np.array(WRITTEN) % logits.shape[-1]
        sequence = SimpleNamespace(
            sampling_param=settings,
            num_valid_ids=len(written),
            valid_ids=written,
            num_new_tokens=len(written),
            generated_ids=written,
            session=SimpleNamespace(session_id=0),
            seq_id=0,
        )
        asked = inputs(SimpleNamespace(pad_token_id=0, session_to_cleanup=[]), [sequence]).to_device("cpu")
        extra = SimpleNamespace(target_logits=logits.clone(), output_draft_token_ids=drafts[None])
        extra.clone = lambda **found: SimpleNamespace(**found)
        itself = SimpleNamespace(
            num_spec_tokens=len(drafts),
            guided_helper=guided(),
            misc_config=SimpleNamespace(logprobs_mode=None),
            rejection_sampler=lambda *given: sampler(SimpleNamespace(_impl=implementation), *given),
        )
        model = SimpleNamespace(seq_length=torch.tensor([len(drafts) + 1]), is_dummy=False, is_decoding=True)
        tokens = _ended(agent(itself, model, extra, asked)).output_token_ids[0]
        return [x for x in tokens.tolist() if x >= 0]

    return step


def _ended(coroutine: Any) -> Any:
    """Returns the coroutine's result. Without guided decoding the coroutine never waits, so one send() finishes it.
    Raises: RuntimeError if it waits."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("got a step of the engine that waits, expected one that returns without waiting")


def settings(step: Any, setting: str) -> Any:
    """Returns a subject of one request at temperature 0.7, whose logits become log p when the engine applies `setting`:
    `bad_words`, `repetition_penalty`, `min_p` or `top_p`. Tokens with p = 0 get a small weight, which `min_p` or
    `top_p` must remove. `bad_words` must remove an added token V, which has as much mass as all others together."""
    import torch

    torch.set_num_threads(1)
    asked = {
        "bad_words": lambda size: {"bad_words": [size]},
        "repetition_penalty": lambda size: {"repetition_penalty": PENALTY},
        "min_p": lambda size: {"min_p": MIN_P},
        "top_p": lambda size: {"top_p": TOP_P},
    }[setting]

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        size, rows = p.shape[-1], torch.log(p)
        if setting in CUT:
            rows = torch.where(p > 0, rows, rows.max(-1, keepdim=True).values + torch.tensor(CUT[setting]).log())
        if setting == "bad_words":
            rows = torch.nn.functional.pad(rows, (0, 1))
        rows = rows * AT
        if setting == "repetition_penalty":
            for i, row in enumerate(rows):
                for x in {*(x % size for x in WRITTEN), *drafts[:i].tolist()}:
                    row[x] = row[x] * PENALTY if row[x] > 0 else row[x] / PENALTY
        return step(request(**asked(size)), rows, drafts)

    return adapter(verify, arrays="torch", races=False, name=f"lmdeploy_{setting}")


def least_length(step: Any, shared: Any) -> Any:
    """Returns a subject of a request that must not stop with its next token, but with later ones (_least_length.py)."""
    asked = request(temperature=1.0, stop_words=[0], min_new_tokens=len(WRITTEN) + 1)
    return shared.least_length("lmdeploy", lambda logits, proposal, drafts: step(asked, logits, drafts))
