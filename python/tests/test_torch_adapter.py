"""draftproof.torch against the C++ verifiers: the same rows and numbers through the adapter."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from test_torch_verifiers import numbers_of, random_rows  # noqa: E402

import draftproof.torch as verifiers  # noqa: E402
from draftproof import program  # noqa: E402

HOST = Path(__file__).parents[2] / "examples" / "adapter" / "adapter_host.py"


@pytest.fixture
def host():
    """The module adapter_host.py, the host's side of the protocol, and the path of the program."""
    try:
        path = program.find()
    except program.ProgramNotFound as error:
        pytest.skip(str(error))
    spec = importlib.util.spec_from_file_location("adapter_host", HOST)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, str(path)


def ask(host, name, p, q, drafts, lengths, tape):
    """Tokens of the C++ verifier `name`, a list for each row."""
    module, path = host
    child = module.Child([path, "serve", name])
    arrays = {
        "p": ("F64", p.tolist()),
        "q": ("F64", q.tolist()),
        "drafts": ("I32", drafts.tolist()),
        "lengths": ("I32", lengths.tolist()),
        "tape": ("F64", tape.tolist()),
    }
    fields = {"type": "verify", "vocabulary": p.shape[2], "kind": "probabilities", "randomness": "scripted"}
    _, reply = child.ask(fields, arrays, name)
    child.bye()
    assert set(reply.get("status", [0])) == {0}
    return [row[:count] for row, count in zip(reply["tokens"], reply["counts"], strict=True)]


@pytest.mark.parametrize(
    ("own", "name"),
    [
        ("recursive_rejection", "recursive_rejection"),
        ("recursive_rejection_wor", "recursive_rejection_without_replacement"),
        ("ladder", "ladder"),
    ],
)
@pytest.mark.parametrize("v", [3, 30])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_tokens_of_cpp_at_a_position(host, own, name, v, k):
    b, generator = 400, torch.Generator().manual_seed(v + k)
    p, q = random_rows((b, v), 1), random_rows((b, v), 2, zeros=0.0)
    q = (q + p) / 2  # q > 0 everywhere, so that all k drafts without replacement exist
    draw = verifiers.draft_gumbel_top_k if own == "recursive_rejection_wor" else verifiers.draft_iid
    drafts = draw(q, min(k, v), generator=generator)
    u = torch.rand(b, numbers_of(name, drafts.shape[1]), generator=generator, dtype=torch.float64)
    token, _ = getattr(verifiers, name)(p, q, drafts, uniforms=u)
    lengths = torch.full((b,), drafts.shape[1])
    assert ask(host, own, p[:, None], q[:, None], drafts, lengths, u) == [[x] for x in token.tolist()]


@pytest.mark.parametrize(("own", "name"), [("token_path", "single_draft"), ("block", "block_verification")])
def test_tokens_of_cpp_on_chains(host, own, name):
    b, v, length, generator = 400, 12, 5, torch.Generator().manual_seed(3)
    p, q = random_rows((b, length + 1, v), 4), random_rows((b, length, v), 5)
    q = (q + 2 * p[:, :-1]) / 3
    drafts = verifiers.draft_iid(q.flatten(0, 1), 1, generator=generator).reshape(b, length)
    lengths = 1 + torch.arange(b) % length
    u = torch.rand(b, length + 1, generator=generator, dtype=torch.float64)
    tokens, counts = getattr(verifiers, name)(p, q, drafts, lengths=lengths, uniforms=u)
    padded = torch.where(torch.arange(length) < lengths[:, None], drafts, -1)
    wanted = ask(host, own, p, q, padded, lengths, u)
    assert [t[:n] for t, n in zip(tokens.tolist(), counts.tolist(), strict=True)] == wanted
    assert set(counts.tolist()) == set(range(1, length + 2))
