"""A gate that needs only one copied file in the repository: python -m draftproof vendor tests/draftproof_gate.py"""

from draftproof_gate import gate
from mine import verify


def test_verify_is_lossless():
    gate(verify, arrays="numpy")
