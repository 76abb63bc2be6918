"""SGLang: chain verification by a Triton kernel, token and block, under Triton's interpreter. Coins are arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from draftproof.declare import door
from draftproof.engines import OF_TWO, WITH_ZERO, Engine, EngineDoor, module_of, on_one

# The running sum ends below the sum by another order of additions, before the impossible last token.
SHORT_SUM = "L=1 K=1 [] p=(5 6 1 1 5 6 2 3 0)/29 q=(0 0 0 0 0 0 0 0 1)/1"

# Token 1 is what min-p takes away.


def kernel_of() -> Any:
    path = ENGINE.root() / "sglang" / "kernels" / "ops" / "speculative" / "reject_sampling.py"
    return module_of(path, "dp_sglang_reject_sampling").chain_speculative_sampling_triton


def eagle(setting: str) -> Any:
    shared = module_of(Path(__file__).with_name("_sglang_eagle.py"), "draftproof_sglang_eagle")
    return shared.eagle_sample(shared.step_of(ENGINE.root(), kernel_of()), setting)


def chain(block: bool) -> Any:
    import torch

    torch.set_num_threads(1)
    kernel = kernel_of()

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        b, slots = len(drafts), drafts.shape[1] + 1
        predicts = torch.full((b * slots,), -1, dtype=torch.int32)
        accepted = torch.full((b, slots), -1, dtype=torch.int32)
        count = torch.zeros(b, dtype=torch.int32)
        candidates = torch.cat([torch.zeros(b, 1, dtype=torch.int64), drafts], 1)
        index = torch.arange(b * slots).reshape(b, slots)
        coins = torch.cat([torch.rand(b, slots - 1), torch.zeros(b, 1)], 1)  # as the engine's workers draw them
        last = torch.rand(b)
        kernel(
            predicts,
            accepted,
            count,
            candidates,
            index,
            None,
            None,
            coins,
            last,
            p,
            q,
            1.0,
            1.0,
            True,
            block_verification=block,
        )
        tokens = predicts.reshape(b, slots).to(torch.int64)
        return torch.where(torch.arange(slots)[None] <= count[:, None], tokens, -1)

    name = "sglang_chain_" + ("block" if block else "token")
    return door(verify, arrays="torch", batched=True, races=False, name=name)


ENGINE = Engine(
    packages=("sglang==0.5.23",),
    environment={"CUDA_VISIBLE_DEVICES": "", "TRITON_INTERPRET": "1"},
    replaces="around eagle_sample the softmax kernel, by torch's; tensor parallelism, by one rank; probes, by none",
    doors=(
        EngineDoor(
            "chain_token",
            lambda: chain(False),
            models=2,
            predictions=16,
            instances=(SHORT_SUM,),
            shrinks=False,
            note="one kernel file; its package loads libraries of a device",
        ),
        EngineDoor("chain_block", lambda: chain(True), models=2, predictions=16),
        on_one(
            "eagle_sample",
            lambda: eagle("bias"),
            OF_TWO,
            "the step around the kernel: two temperatures and a bias",
        ),
        on_one("eagle_sample_min_p", lambda: eagle("min_p"), WITH_ZERO),
        on_one(
            "eagle_sample_frequency_penalty",
            lambda: eagle("frequency_penalty"),
            OF_TWO,
            "relaxed, as its source says: drafts of the step are not counted",
        ),
    ),
)
