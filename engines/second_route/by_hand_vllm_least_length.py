"""vLLM's min_tokens without the gate: which rows of a step lose the stop token, by the engine's own processor.

    python engines/second_route/by_hand_vllm_least_length.py

As read: the rows of drafts go through `apply_with_spec_decode`, which counts the drafts before a row, the row of the
bonus token through `apply`, which counts committed tokens alone. The second runner's kernel compares positions.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from draftproof.engines import discover

discover()["vllm"].enter()
import torch  # noqa: E402
from vllm import SamplingParams  # noqa: E402
from vllm.utils import torch_utils  # noqa: E402
from vllm.v1.sample.logits_processor import BatchUpdate, MinTokensLogitsProcessor  # noqa: E402
from vllm.v1.worker.gpu.sample.logit_bias import apply_logit_bias  # noqa: E402

torch_utils.PIN_MEMORY = False
STOP, SIZE, DRAFTS = 0, 3, 3


def held(written: int, least: int) -> list[bool]:
    """Whether the stop token is held back in the rows of DRAFTS drafts and in that of the bonus token."""
    settings = SamplingParams(min_tokens=least, stop_token_ids=[STOP])
    processor = MinTokensLogitsProcessor(None, torch.device("cpu"), False)
    processor.update_state(BatchUpdate(1, [], [(0, settings, None, [1] * written)], []))
    rows = torch.zeros(DRAFTS + 1, SIZE)
    processor.apply_with_spec_decode(rows[:DRAFTS], [DRAFTS])
    processor.apply(rows[DRAFTS:])
    return torch.isneginf(rows[:, STOP]).tolist()


def held_by_second(written: int, least: int) -> list[bool]:
    """The same by the kernel of the second runner, without a prompt."""

    def ints(*values: int) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.int32)

    rows, none = torch.zeros(DRAFTS + 1, SIZE), ints(0)
    positions = torch.arange(DRAFTS + 1) + written - 1  # of the token before each row
    bias, stops = torch.zeros(1, 1), ints(STOP)[None]
    owners = none.repeat(DRAFTS + 1)
    apply_logit_bias(
        rows, owners, positions, none, none[None], none, none[None], bias, ints(least), ints(1), none, stops
    )
    return torch.isneginf(rows[:, STOP]).tolist()


for written, least in ((0, 1), (3, 4), (3, 5), (3, 6), (3, 7), (3, 12)):
    wanted = [written + i < least for i in range(DRAFTS + 1)]
    for runner, found in (("first", held(written, least)), ("second", held_by_second(written, least))):
        told = "as wanted" if found == wanted else f"wanted {wanted}"
        print(f"{runner} runner, {written} tokens written, min_tokens {least}: held back in rows {found}, {told}")
