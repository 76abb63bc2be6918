"""Compares draftproof.torch with the C++ verifiers, which get the same rows and numbers through the adapter."""

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
    """Returns the module adapter_host.py, the host's side of the protocol, and the path of the program."""
    try:
        path = program.find()
    except program.ProgramNotFound as error:
        pytest.skip(str(error))
    spec = importlib.util.spec_from_file_location("adapter_host", HOST)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, str(path)


def ask(host, name, p, q, drafts, lengths, tape, parents=None):
    """Returns the tokens of the C++ verifier `name`, a list for each row; with `parents`, which are the same for all
    rows, also the number of draws of each row.
    """
    module, path = host
    child = module.Child([path, "serve", name])
    arrays = {
        "p": ("F64", p.tolist()),
        "q": ("F64", q.tolist()),
        "drafts": ("I32", drafts.tolist()),
        "lengths": ("I32", lengths.tolist()),
        "tape": ("F64", tape.tolist()),
    }
    if parents is not None:
        arrays["parents"] = ("I32", [parents] * len(p))
    fields = {"type": "verify", "vocabulary": p.shape[2], "kind": "probabilities", "randomness": "scripted"}
    _, reply = child.ask(fields, arrays, name)
    child.bye()
    assert set(reply.get("status", [0])) == {0}
    tokens = [row[:count] for row, count in zip(reply["tokens"], reply["counts"], strict=True)]
    return tokens if parents is None else (tokens, reply["draw_counts"])


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


def emitted_by(result):
    return [t[:n] for t, n in zip(result[0].tolist(), result[1].tolist(), strict=True)]


@pytest.mark.parametrize("branching", [(3,), (3, 2), (2, 2, 2), (1, 1, 1)])
def test_tokens_of_cpp_on_trees(host, branching):
    b, v, generator = 200, 9, torch.Generator().manual_seed(len(branching))
    parents, level = [], [-1]
    for k in branching:
        children = [(u, i) for u in level for i in range(k)]
        level = list(range(len(parents), len(parents) + len(children)))
        parents += [u for u, _ in children]
    n = len(parents)
    p = random_rows((b, n + 1, v), 1)
    nodes = (random_rows((b, n + 1, v), 2, zeros=0.0) + 2 * p) / 3  # q after each node
    q = nodes[:, torch.tensor(parents) + 1]
    drafts = torch.zeros(b, n, dtype=torch.int64)
    for u in sorted(set(parents)):
        siblings = [i for i in range(n) if parents[i] == u]
        drafts[:, siblings] = verifiers.draft_gumbel_top_k(nodes[:, u + 1], len(siblings), generator=generator)
    numbers = torch.rand(b, n + 1, generator=generator, dtype=torch.float64)
    result = verifiers.traversal(p, q, drafts, torch.tensor(parents), uniforms=numbers)
    wanted, _ = ask(host, "traversal", p, q, drafts, torch.full((b,), n), numbers, parents)
    assert emitted_by(result) == wanted


@pytest.mark.parametrize(("name", "options"), [("greedy_multipath_block", {}), ("ladder_block", {"average": True})])
@pytest.mark.parametrize(("v", "k", "length", "stem"), [(3, 2, 1, 0), (9, 3, 2, 0), (30, 2, 3, 0), (9, 3, 3, 1)])
def test_tokens_of_cpp_on_paths(host, name, options, v, k, length, stem):
    """Compares tokens on paths with a common stem. If p equals the chosen path's q up to rounding, the C++ ladder may
    read a number for a test that is certain here; from there on the two verifiers read different numbers.
    """
    b, generator = 150, torch.Generator().manual_seed(v)
    parents = [-1 if i == 0 else i - 1 for i in range(stem)]
    for i in range(stem, length):
        parents += [stem - 1 if i == stem else len(parents) - k + j for j in range(k)]
    n = len(parents)
    p, q = random_rows((b, n + 1, v), 3, zeros=0.0), random_rows((b, n + 1, v), 4, zeros=0.0)
    p_rows, q_rows, drafts = p.clone(), torch.zeros(b, n, v, dtype=torch.float64), torch.zeros(b, n, dtype=torch.int64)
    for row in range(b):  # makes rows equal after equal prefixes
        node, seen = {-1: 0}, {}
        for i, u in enumerate(parents):
            q_rows[row, i] = (q[row, node[u]] + p[row, node[u]]) / 2
            drafts[row, i] = int(torch.multinomial(q_rows[row, i], 1, generator=generator))
            node[i] = seen.setdefault((node[u], int(drafts[row, i])), i + 1)
            p_rows[row, i + 1] = p[row, node[i]]
    more = 3 if name == "ladder_block" else 1
    numbers = torch.rand(b, more * n + 1, generator=generator, dtype=torch.float64)
    result = getattr(verifiers, name)(p_rows, q_rows, drafts, torch.tensor(parents), uniforms=numbers, **options)
    wanted, _ = ask(host, name, p_rows, q_rows, drafts, torch.full((b,), n), numbers, parents)
    differ = sum(a != b for a, b in zip(emitted_by(result), wanted, strict=True))
    assert differ <= (b // 10 if name == "ladder_block" else 0)
