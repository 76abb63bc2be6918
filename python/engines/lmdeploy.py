"""LMDeploy: the portable rejection sampler of its PyTorch engine, a batch of chains of equal length."""

from __future__ import annotations

import sys
import types
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import EQUAL, OF_TWO, WITH_ZERO, Engine, EngineAdapter, beside, module_of, on_one


def _implementation() -> Any:
    """Returns the engine's sampler. Its two files get other module names, because their package loads device
    kernels."""
    root = ENGINE.root() / "lmdeploy" / "pytorch" / "backends"
    for name in ("dp_lmdeploy", "dp_lmdeploy.default"):
        package = types.ModuleType(name)
        package.__path__ = []
        sys.modules[name] = package
    base = types.ModuleType("dp_lmdeploy.base")
    setattr(base, "BuildSpec", type("BuildSpec", (), {"__class_getitem__": classmethod(lambda cls, key: cls)}))  # noqa: B010
    sys.modules["dp_lmdeploy.base"] = base
    module_of(root / "rejection_sampling.py", "dp_lmdeploy.rejection_sampling")
    path = root / "default" / "rejection_sampling.py"
    return module_of(path, "dp_lmdeploy.default.rejection_sampling").DefaultRejectionSamplingImpl()


def rejection_sampling(with_proposal: bool) -> Any:
    import torch

    torch.set_num_threads(1)
    forward = _implementation().forward

    def lmdeploy_rejection_sampling(p: Any, q: Any, drafts: Any) -> Any:
        # As the engine's caller does, the bonus token is drawn before the verification.
        bonus = torch.multinomial(p[:, -1], 1).flatten()
        logits = torch.log(p[:, :-1])
        return forward(logits, drafts, bonus, is_greedy=None, draft_probs=q if with_proposal else None)[0]

    return adapter(lmdeploy_rejection_sampling, arrays="torch", batched=True, races=False)


def beside_greedy() -> Any:
    """Returns a subject of the second request of a batch. The first request is greedy and must follow the argmax; its
    rows have the tokens in reverse order."""
    import torch

    torch.set_num_threads(1)
    forward = _implementation().forward

    def lmdeploy_beside_greedy(p: Any, q: Any, drafts: Any) -> Any:
        reverse, likeliest = p.shape[-1] - 1 - drafts, p.flip(-1).argmax(-1)
        bonus = torch.cat([likeliest[-1:], torch.multinomial(p[-1], 1)])
        logits, proposal = (torch.stack([one.flip(-1), one]) for one in (torch.log(p[:-1]), q))
        greedy = torch.tensor([True, False])
        out = forward(logits, torch.stack([reverse, drafts]), bonus, is_greedy=greedy, draft_probs=proposal)[0]
        matched = int((likeliest[:-1] == reverse).int().cumprod(0).sum())
        found, wanted = out[0][out[0] >= 0].tolist(), likeliest[: matched + 1].tolist()
        if found != wanted:
            raise RuntimeError(f"greedy request: got {found}, expected {wanted}")
        return out[1][out[1] >= 0]

    return adapter(lmdeploy_beside_greedy, arrays="torch", races=False)


def setting(name: str) -> Any:
    settings = beside(__file__, "_lmdeploy_settings.py")
    step = settings.step_of(ENGINE.root(), _implementation())
    if name == "least_length":
        return settings.least_length(step, beside(__file__, "_least_length.py"))
    return settings.settings(step, name)


ENGINE = Engine(
    packages=("lmdeploy==0.18.0",),
    replaces="the base class of its backends, by an empty one; in the adapters of settings the model, by its logits",
    adapters=(
        EngineAdapter("rejection_sampling", lambda: rejection_sampling(True), models=40, instances=(EQUAL,)),
        EngineAdapter(
            "without_draft_probs",
            lambda: rejection_sampling(False),
            models=40,
            note="drafts are taken as certain: the rule is exact whatever distribution drew them",
        ),
        EngineAdapter(
            "beside_greedy",
            beside_greedy,
            models=8,
            predictions=64,
            tiers=("proof",),
            note="a batch of a greedy and a random request; the greedy one must follow the argmax",
        ),
        on_one("bad_words", lambda: setting("bad_words"), OF_TWO, "the whole step, temperature 0.7"),
        on_one("top_p", lambda: setting("top_p"), WITH_ZERO, "the same; top-p removes the tokens with p = 0"),
        on_one("min_p", lambda: setting("min_p"), WITH_ZERO),
        on_one("repetition_penalty", lambda: setting("repetition_penalty"), OF_TWO),
        on_one("least_length", lambda: setting("least_length"), OF_TWO, "the end of the text is inside the step"),
    ),
)
