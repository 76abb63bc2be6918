"""The gate of a repository that has copied one file: python -m draftproof vendor tests/draftproof_gate.py"""

from draftproof_gate import gate
from mine import verify


def test_verify_is_lossless():
    gate(verify, arrays="numpy")
