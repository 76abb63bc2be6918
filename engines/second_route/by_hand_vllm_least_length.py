"""vLLM's min_tokens without the gate: which rows of a step lose the stop token, by the engine's own processor.

    python engines/second_route/by_hand_vllm_least_length.py

As read: the rows of drafts go through `apply_with_spec_decode`, which counts the drafts before a row, the row of the
bonus token through `apply`, which counts committed tokens alone.
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


for written, least in ((0, 1), (3, 4), (3, 5), (3, 6), (3, 7), (3, 12)):
    found, wanted = held(written, least), [written + i < least for i in range(DRAFTS + 1)]
    told = "as wanted" if found == wanted else f"wanted {wanted}"
    print(f"{written} tokens written, min_tokens {least}: held back in rows {found}, {told}")
