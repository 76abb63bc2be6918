"""Records the rejection sampler of vLLM's first model runner while it runs, as a trace for `draftproof audit`.

    with Recorder("run.safetensors", vocabulary=32000, draft_sampling="iid") as record, recording(record):
        engine.generate(...)                          # in the process of the model runner

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
    """Records every verification of a request's drafts until the context ends, each as a block.

    record: takes probabilities, which is its default.
    engine: the module that has the sampler; `vllm.v1.sample.rejection_sampler` if None.

    Rows are recorded after temperature and filters. Bonus tokens are not recorded, because they are drawn elsewhere,
    from rows that the sampler does not get; nor are greedy requests, and requests without drafts. Drafts without a
    proposal count as certain. The number of a block's request is its index in the batch, which changes as requests end.

    Raises: ImportError without vLLM; CaptureError if rows do not fit the recorder.
    """
    module = engine or importlib.import_module("vllm.v1.sample.rejection_sampler")
    original = module.rejection_sample

    def recorded(
        ids: Any, counts: Any, most: Any, ends: Any, proposal: Any, logits: Any, bonus: Any, sampling: Any, **more: Any
    ) -> Any:
        p = logits.double().softmax(-1)  # copied now, because the call may write into its arguments
        drafts = ids.long().clone()
        q = p.new_zeros(p.shape).scatter_(1, drafts.clamp(min=0)[:, None], 1) if proposal is None else proposal.clone()
        out = original(ids, counts, most, ends, proposal, logits, bonus, sampling, **more)
        first = 0
        for request, count in enumerate(counts):
            rows, first = slice(first, first + count), first + count
            drawn = not sampling.all_greedy and (sampling.all_random or float(sampling.temperature[request]) > 0)
            emitted = out[request][out[request] >= 0][:count]
            if count == 0 or not drawn or len(emitted) == 0 or bool((drafts[rows] < 0).any()):
                continue
            whole = int((out[request] >= 0).sum()) > count
            accepted = len(emitted) if whole else len(emitted) - 1
            record.block(p[rows], q[rows], drafts[rows], emitted, accepted=accepted, request=request)
        return out

    module.rejection_sample = recorded
    try:
        yield
    finally:
        module.rejection_sample = original
