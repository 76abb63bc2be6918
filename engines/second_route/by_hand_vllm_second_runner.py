"""vLLM's second model runner without the gate: its ratio test in float32, step by step in numpy.

    python engines/second_route/by_hand_vllm_second_runner.py

As read: the draft is kept if log p > log u + log q, where log p and log q are a logit minus the logarithm of a sum of
exponentials, all in float32. With p = q both are the same number, and the test is x > x + log u.
"""

from __future__ import annotations

import numpy as np

f = np.float32


def kept(probability: float, steps: int) -> bool:
    """Whether a draft with p = q = `probability` is kept by the coin 1 - steps 2^-24."""
    log_q = np.log(f(probability))
    log_u = np.log1p(f(-steps * 2.0**-24))
    return bool(log_q > f(log_u + log_q))


for probability in (0.5, 0.08, 1e-2, 1e-4, 2e-9):
    refused = [steps for steps in range(1, 4096) if not kept(probability, steps)]
    print(
        f"p = q = {probability:g}: {len(refused)} of 2^24 coins refuse, 1 - k 2^-24 with k <= {max(refused, default=0)}"
    )
