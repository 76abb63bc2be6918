"""A test for the pull requests of an engine, here transformers: checks the exact distribution that the engine emits,
in half a minute.

    pytest test_speculative_sampling.py          where draftproof and the engine are installed
"""

import pytest

import draftproof

pytest.importorskip("transformers.generation.utils", reason="transformers is not installed")

# Known defects of released transformers, on edge cases of negligible probability:
# docs/findings/engine-transformers-edges.md.
KNOWN = ("after [], which has p = 0, probability 2^-24", "draws from weights that are all zero")


def verify(p, q, drafts):
    from transformers.generation.utils import _speculative_sampling

    tokens, _ = _speculative_sampling(drafts[None], q[None], len(drafts), p[None])
    return tokens[0]


def test_the_verification_is_exact():
    verdict = draftproof.check(
        verify, logits=True, arrays="torch", races=False, tier="proof", models=8, predictions=64, raises=False
    )
    new = [finding for finding in verdict.failures if not any(known in finding.evidence for known in KNOWN)]
    assert not new, f"{verdict}"
