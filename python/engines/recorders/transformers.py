"""Records assisted generation of transformers while it runs, as a trace for `draftproof audit`.

    with Recorder("run.safetensors", vocabulary=32000, draft_sampling="iid") as record, recording(record):
        target.generate(ids, assistant_model=assistant, do_sample=True)

The file needs nothing of this folder and may be copied beside a script.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from draftproof.capture import Recorder


@contextlib.contextmanager
def recording(record: Recorder, *, engine: Any = None) -> Iterator[None]:
    """Records every verification of drafts until the context ends, as a block with the rows after all processors.

    record: takes probabilities, which is its default.
    engine: the module that has the verification; `transformers.generation.utils` if None.

    Tokens that the loop cuts off after a limit or a stop token are recorded, as the verification emitted them. Greedy
    generation and prompt lookup verify by comparison and are not recorded.

    Raises: ImportError without transformers; CaptureError if rows do not fit the recorder.
    """
    module = engine or importlib.import_module("transformers.generation.utils")
    original = module._speculative_sampling

    def recorded(ids: Any, candidate_logits: Any, length: int, new_logits: Any, *more: Any, **named: Any) -> Any:
        p = new_logits[0].double().softmax(-1)  # copied now, because the call may write into its arguments
        q = candidate_logits[0].double().softmax(-1)
        drafts = ids[0, -length:].clone()
        tokens, matches = original(ids, candidate_logits, length, new_logits, *more, **named)
        record.block(p, q, drafts, tokens[0], accepted=int(matches))
        return tokens, matches

    module._speculative_sampling = recorded
    try:
        yield
    finally:
        module._speculative_sampling = original
