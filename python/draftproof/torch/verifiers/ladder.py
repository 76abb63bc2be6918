"""The ladder: selects one of K i.i.d. drafts such that its distribution is the best possible, then verifies it as a
single draft.

The breaks of ladder_plan.py that are up cut the bins into groups. The group of the draft with the highest p / q is
taken, one of the drafts in it is chosen uniformly, and accepted with probability min(1, p / p_I), p_I being its
distribution.
Correctness: p_I is the distribution of the selected draft, and verifying one draft of known distribution is lossless.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..inputs import Options, position, want_count, want_tensors
from ..kernels import verified
from ..ladder_choice import choose, number_distribution, verify_selected
from ..ladder_plan import plan
from ..rows import Temperature


def ladder(
    p: Tensor,
    q: Tensor,
    drafts: Tensor,
    *,
    lengths: Tensor | None = None,
    logits: bool = False,
    temperature: Temperature = None,
    generator: torch.Generator | None = None,
    uniforms: Tensor | None = None,
    check: bool = True,
    buckets: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The ladder for K i.i.d. drafts of one proposal. No lossless rule for such drafts accepts more often.

    Rows of p and q are normalised in float64.

    Where the library of CUDA kernels is built, rows on a device are decided by a kernel (docs/python-verifiers.md).

    Args:
        p: target [B, V]. Any floating type.
        q: proposal [B, V] that each draft was drawn from.
        drafts: [B, K], any integer type, drawn with replacement (`draft_iid`); -1 after the drafts of a row,
            which must not depend on the tokens.
        lengths: [B], number of drafts of each row. By default drafts end before the first -1.
        logits: whether p and q are logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, 4] of [0, 1) instead of a generator. A row reads one for the levels, one for the choice if its
            group has several drafts, one for the test, and one for its token if the test fails.
        check: whether to check values, by two passes over all rows.
        buckets: bins of equal log p / q from 2^8 to 2^-8 instead of a sort: lossless, slightly below the optimum
            (docs/python-verifiers.md). By default single tokens.

    Returns:
        token [B] int64; index [B] of the accepted draft, -1 for none.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: a sort of V tokens a row, or a pass with buckets; then some 10 + 5 K passes, on n bins.
    Source: derived here, docs/ladder.md; same optimum as Global Resolution, Thomas and Pal, arXiv:2511.15898.
    """
    if buckets is not None:
        want_count("buckets", buckets, 1)
    given = Options(lengths, logits, temperature, generator, uniforms, check)
    if buckets is None and (found := verified("ladder", p, q, drafts, given)) is not None:
        return found
    want_tensors(drafts=drafts)
    at = position(p, q, drafts, 4 - drafts.shape[-1], given)
    made = plan(at.p.single(), at.q.single(), number_distribution(at.lengths, drafts.shape[1]), buckets)
    return verify_selected(at, made, *choose(made, at.drafts, at.there, at.uniforms)[:2])
