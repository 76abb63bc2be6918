"""SGLang: chain verification by a Triton kernel, token and block, under Triton's interpreter. Coins are arguments."""

from __future__ import annotations

from typing import Any

from draftproof.engines import OF_TWO, SHORT_SUM, TWO_DRAFTS, WITH_ZERO, Engine, EngineAdapter, beside, on_one


def eagle(setting: str, block: bool = False) -> Any:
    beside(__file__, "_triton_interpreter.py").hasten()
    root, shared = ENGINE.root(), beside(__file__, "_sglang_eagle.py")
    step = shared.step_of(root, beside(__file__, "_sglang_chain.py").kernel_of(root), block)
    return shared.eagle_sample(step, setting, "block" if block else "")


def chain(block: bool) -> Any:
    import torch

    torch.set_num_threads(1)
    beside(__file__, "_triton_interpreter.py").hasten()
    return beside(__file__, "_sglang_chain.py").chain(ENGINE.root(), block, "cpu")


ENGINE = Engine(
    packages=("sglang==0.5.23",),
    environment={"CUDA_VISIBLE_DEVICES": "", "TRITON_INTERPRET": "1"},
    replaces="around eagle_sample the softmax kernel, by torch's; tensor parallelism, by one rank; probes, by nothing",
    adapters=(
        EngineAdapter(
            "chain_token",
            lambda: chain(False),
            models=2,
            predictions=16,
            instances=(SHORT_SUM,),
            shrinks=False,
            note="one kernel file; its package loads libraries of a device",
        ),
        EngineAdapter("chain_block", lambda: chain(True), models=2, predictions=16, instances=(TWO_DRAFTS,)),
        on_one(
            "eagle_sample",
            lambda: eagle("bias"),
            OF_TWO,
            "the step around the kernel: two temperatures and a bias",
        ),
        on_one("eagle_sample_block", lambda: eagle("bias", True), TWO_DRAFTS, "the same with block verification"),
        on_one("eagle_sample_min_p", lambda: eagle("min_p"), WITH_ZERO),
        on_one(
            "eagle_sample_frequency_penalty",
            lambda: eagle("frequency_penalty"),
            OF_TWO,
            "relaxed, as its source says: drafts of the step are not counted",
        ),
    ),
)
