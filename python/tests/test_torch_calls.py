"""Tests of the drafters, and of inputs of draftproof.torch: types, logits, padding, generators, wrong arguments."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
import test_torch_reference as reference  # noqa: E402
from test_torch_verifiers import CHAINS, POSITIONS, numbers_of, random_rows, table  # noqa: E402

import draftproof.torch as verifiers  # noqa: E402


def call(name, b=40, k=3, v=6, seed=0, dtype=torch.float64, **keywords):
    """Returns (function, p, q, drafts, keywords) of a random call."""
    function, generator = getattr(verifiers, name), torch.Generator().manual_seed(seed)
    if name in LINES:
        p, q = random_rows((b, k + 1, v), seed + 1, dtype), random_rows((b, k, v), seed + 2, dtype)
        drafts = verifiers.draft_iid(q.flatten(0, 1), 1, generator=generator).reshape(b, k)
        if name in TREES:
            fixed = {"fixed": torch.zeros(k, dtype=torch.bool)} if name == "univer" else {}
            function = partial(function, parents=torch.arange(-1, k - 1), **fixed)
    elif name in PATHS:
        p = random_rows((b, 1, k + 1, v), seed + 1, dtype).expand(b, 3, k + 1, v).contiguous()
        q = random_rows((b, 1, k, v), seed + 2, dtype).expand(b, 3, k, v).contiguous()
        drafts = verifiers.draft_iid(q.flatten(0, 2), 1, generator=generator).reshape(b, 3, k)
    else:
        p, q = random_rows((b, v), seed + 1, dtype), random_rows((b, v), seed + 2, dtype)
        draw = verifiers.draft_gumbel_top_k if name.endswith("without_replacement") else verifiers.draft_iid
        drafts = draw(q, k, generator=generator)
    places = numbers_of(name, k, k)
    u = torch.rand(b, places, generator=generator, dtype=torch.float64)
    return function, p, q, drafts, {"uniforms": u, **keywords}


TREES, PATHS = ["traversal", "univer"], ["ladder_block", "greedy_multipath_block"]
LINES = [*CHAINS, *TREES]  # verifiers of chains, and of trees that get chains here
EVERY = [*LINES, *POSITIONS, *PATHS]


def test_functions_are_found():
    folder = Path(verifiers.__file__).parent
    files = {file.stem for sub in ("verifiers", "drafters") for file in (folder / sub).glob("[!_]*.py")}
    assert files == set(verifiers.__all__) and files <= set(dir(verifiers))
    assert all(callable(getattr(verifiers, name)) for name in files)
    with pytest.raises(AttributeError, match="no such function, expected one of block_verification"):
        _ = verifiers.unknown


@pytest.mark.parametrize("name", [*LINES, *POSITIONS, "ladder_block"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("logits", [False, True])
def test_equal_rows_are_accepted(name, dtype, logits):
    function, p, _, drafts, keywords = call(name, b=60, dtype=dtype)
    if logits:
        p = (p.double() + 1e-3).log().to(dtype)
    q = p[..., :-1, :].clone() if name not in POSITIONS else p.clone()
    if not logits:
        drafts = drafts * 0  # token 0 has p > 0 in all rows
        if name.endswith("without_replacement"):
            drafts[:, 1:] = -1
    keywords["uniforms"] = torch.full_like(keywords["uniforms"], 1 - 2.0**-53)
    result = function(p, q, drafts, logits=logits, **keywords)
    if name in POSITIONS:
        assert bool((result[1] == 0).all()) or (name == "ladder" and bool((result[1] >= 0).all()))
    else:
        assert bool((result[1] == drafts.shape[-1] + 1).all())


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("u", [0.0, 1 - 2.0**-53])
def test_tokens_without_probability_are_not_emitted(name, u):
    function, p, q, drafts, keywords = call(name, b=200)
    keywords["uniforms"] = torch.full_like(keywords["uniforms"], u)
    result = function(p, q, drafts, **keywords)
    if name in POSITIONS:
        assert bool((p.gather(1, result[0][:, None]) > 0).all())
    elif name in LINES:
        held = p.gather(2, result[0].clamp(min=0)[:, :, None]).squeeze(2)
        assert bool(((held > 0) | (result[0] < 0)).all())


@pytest.mark.parametrize("name", [*CHAINS, *PATHS, *TREES])
def test_drafts_without_either_probability_are_not_emitted(name):
    p, q = torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.25, 0.75, 0.0])  # as rows in which p and q became 0
    function = getattr(verifiers, name)
    keywords = {"generator": torch.Generator().manual_seed(0)}
    if name in PATHS:
        rows, drafts = (200, 2), torch.full((200, 2, 1), 2)
    else:
        rows, drafts = (200,), torch.full((200, 1), 2)
    if name in TREES:
        keywords["parents"] = torch.tensor([-1])
    if name == "univer":
        keywords["fixed"] = torch.tensor([False])
    tokens = function(p.expand(*rows, 2, 3), q.expand(*rows, 1, 3), drafts, **keywords)[0]
    assert not bool((tokens[:, 0] == 2).any())


@pytest.mark.parametrize("name", EVERY)
def test_rows_do_not_disturb_each_other(name):
    function, p, q, drafts, keywords = call(name)
    whole = function(p, q, drafts, **keywords)
    order = torch.randperm(len(p), generator=torch.Generator().manual_seed(5))
    moved = function(p[order], q[order], drafts[order], uniforms=keywords["uniforms"][order])
    assert all(torch.equal(a[order], b) for a, b in zip(whole, moved, strict=True))
    for i in range(0, len(p), 7):
        row = slice(i, i + 1)
        alone = function(p[row], q[row], drafts[row], uniforms=keywords["uniforms"][row])
        assert all(torch.equal(a[row], b) for a, b in zip(whole, alone, strict=True))


@pytest.mark.parametrize("name", EVERY)
def test_logits_and_temperature(name):
    function, p, q, drafts, keywords = call(name)
    wanted = function(p, q, drafts, **keywords)
    temperature = torch.linspace(0.5, 2, len(p), dtype=torch.float64)
    factor = temperature.reshape(-1, *[1] * (p.dim() - 1))
    got = function(p.log() * factor + 3, q.log() * factor - 1, drafts, logits=True, temperature=temperature, **keywords)
    assert all(torch.equal(a, b) for a, b in zip(wanted, got, strict=True))
    same = function(p.log() * 2, q.log() * 2, drafts, logits=True, temperature=2.0, **keywords)
    assert all(torch.equal(a, b) for a, b in zip(wanted, same, strict=True))


@pytest.mark.parametrize("name", EVERY)
def test_inputs_stay_as_they_are_and_seeds_decide(name):
    function, p, q, drafts, _ = call(name)
    before = p.clone(), q.clone(), drafts.clone()
    results = [function(p, q, drafts, generator=torch.Generator().manual_seed(3)) for _ in range(2)]
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(before, (p, q, drafts), strict=True))


@pytest.mark.parametrize("name", EVERY)
def test_no_drafts(name):
    function, p, q, drafts, keywords = call(name)
    lengths = torch.zeros(len(p), dtype=torch.int64)
    result = function(p, q, drafts, lengths=lengths, **keywords)
    row = p if name in POSITIONS else p[:, 0] if name in LINES else p[:, 0, 0]
    wanted = verifiers.draft_iid(row, 1, uniforms=keywords["uniforms"][:, :1])
    assert torch.equal(result[0] if name in POSITIONS else result[0][:, 0], wanted.squeeze(1))
    assert set(result[1].tolist()) == ({-1} if name in POSITIONS else {1})


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p, q, d: {"q": q[..., :-1]}, r"q: shape: got \(.*5\), expected"),
        (lambda p, q, d: {"drafts": d.double()}, "drafts: dtype: got torch.float64, expected an integer type"),
        (lambda p, q, d: {"drafts": d + 6}, r"drafts\[0, .*\]: got \d+, expected 0 .. 5"),
        (lambda p, q, d: {"p": p.log()}, r"p\[0.*\]: got values from -.* expected probabilities with sum 1"),
        (lambda p, q, d: {"q": q * float("nan")}, r"q\[0.*\]: got values from nan"),
        (lambda p, q, d: {"p": p.log() + torch.inf, "q": q.log(), "logits": True}, "expected finite logits"),
        (lambda p, q, d: {"temperature": 0.5}, "temperature: got probabilities, expected logits=True"),
        (lambda p, q, d: {"temperature": 0.0, "logits": True}, "temperature: got 0.0, expected a number above 0"),
        (lambda p, q, d: {"lengths": torch.full((len(p),), 9)}, r"lengths\[0\]: got 9, expected 0 .. 3"),
        (lambda p, q, d: {"uniforms": torch.rand(2, 2)}, r"uniforms: got shape \(2, 2\), expected"),
        (
            lambda p, q, d: {"uniforms": torch.rand(2, 2), "generator": torch.Generator()},
            "expected one source of random",
        ),
        (lambda p, q, d: {"uniforms": None, "generator": 7}, "generator: got int, expected a torch.Generator or None"),
        (lambda p, q, d: {"p": p.tolist()}, "p: got list, expected a torch.Tensor"),
        (lambda p, q, d: {"q": q.numpy()}, "q: got ndarray, expected a torch.Tensor"),
        (lambda p, q, d: {"p": p.to_sparse()}, "p: layout: got torch.sparse_coo, expected torch.strided"),
        (lambda p, q, d: {"q": q.to(torch.float8_e5m2)}, "q: dtype: got torch.float8_e5m2, expected float16, bfloat16"),
        (lambda p, q, d: {"drafts": d.tolist()}, "drafts: got list, expected a torch.Tensor"),
        (lambda p, q, d: {"lengths": [1] * len(p)}, "lengths: got list, expected a torch.Tensor"),
        (
            lambda p, q, d: {"lengths": torch.ones(len(p))},
            "lengths: dtype: got torch.float32, expected an integer type",
        ),
        (lambda p, q, d: {"temperature": "1", "logits": True}, "temperature: got 1, expected a number above 0, or a"),
        (lambda p, q, d: {"uniforms": "ones"}, r"uniforms\[0, 0\]: got 1.0, expected a number of \[0, 1\)"),
    ],
)
def test_wrong_arguments(name, change, message):
    function, p, q, drafts, keywords = call(name)
    arguments = {"p": p, "q": q, "drafts": drafts, **keywords, **change(p, q, drafts)}
    if isinstance(arguments["uniforms"], str):
        arguments["uniforms"] = torch.ones_like(keywords["uniforms"])
    with pytest.raises(ValueError, match=message):
        function(**arguments)


@pytest.mark.parametrize("name", EVERY)
def test_tokens_below_the_padding_are_refused(name):
    function, p, q, drafts, keywords = call(name)
    keywords.pop("lengths", None)
    for last in ([-5], [-1, 3]):
        wrong = drafts.clone()
        wrong[(0,) * (drafts.dim() - 1) + (slice(-len(last), None),)] = torch.tensor(last)
        with pytest.raises(ValueError, match=rf"drafts\[0, .*\]: got {last[-1]}, expected -1 after the drafts"):
            function(p, q, wrong, **keywords)


@pytest.mark.parametrize("temperature", [float("inf"), 1e-310, torch.tensor([1.0, float("inf")])])
def test_temperatures_without_a_finite_inverse_are_refused(temperature):
    with pytest.raises(ValueError, match=r"temperature: got .*, expected (a number|numbers) above 0, 1e-308"):
        verifiers.draft_iid(torch.zeros(2, 3), 1, logits=True, temperature=temperature)


def test_logits_that_a_temperature_makes_infinite_are_refused():
    with pytest.raises(ValueError, match=r"q\[0\]: got values from 0 to 5 .*, also after division by the temperature"):
        verifiers.draft_iid(torch.tensor([[1.0, 5.0, 0.0]]), 1, logits=True, temperature=1e-308)
    assert verifiers.draft_iid(torch.tensor([[1.0, 5.0, 0.0]]), 2, logits=True, temperature=1e-300).tolist() == [[1, 1]]


@pytest.mark.parametrize("value", [2.5, True, -1, "a"])
def test_counts_are_whole_numbers(value):
    q = torch.full((2, 3), 1 / 3)
    for draw in (verifiers.draft_iid, verifiers.draft_gumbel_top_k):
        with pytest.raises(ValueError, match=r"k: got .*, expected a whole number of at least 0"):
            draw(q, value)
    drafts = torch.zeros(2, 1, dtype=torch.int64)
    for verify in (verifiers.ladder, verifiers.ladder_without_replacement):
        with pytest.raises(ValueError, match=r"buckets: got .*, expected a whole number of at least 1"):
            verify(q, q, drafts, buckets=value)


def test_a_wrong_row_of_a_path_is_named_by_batch_row_path_and_place():
    p, q, drafts = torch.full((2, 2, 3, 4), 0.25), torch.full((2, 2, 2, 4), 0.25), torch.zeros(2, 2, 2).long()
    p[1, 1, 2, 0] = 5
    for verify in (verifiers.ladder_block, verifiers.greedy_multipath_block):
        with pytest.raises(ValueError, match=r"^p\[1, 1, 2\]: got values from 0.25 to 5 with sum 5.75"):
            verify(p, q, drafts)


def test_wrong_drafts_without_replacement():
    q = torch.tensor([[0.5, 0.5, 0.0]])
    with pytest.raises(ValueError, match=r"drafts\[0, 1\]: got 1, which is draft 0 too, expected another token"):
        verifiers.recursive_rejection_without_replacement(q, q, torch.tensor([[1, 1]]))
    with pytest.raises(ValueError, match=r"drafts\[0, 1\]: got 2 with q = 0, expected a token that q can give"):
        verifiers.recursive_rejection_without_replacement(q, q, torch.tensor([[1, 2]]))


def test_draft_iid():
    q = random_rows((50, 33), 1)
    u = torch.rand(50, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    u[:10], u[10:20] = 0, 1 - 2.0**-53
    drafts = verifiers.draft_iid(q, 4, uniforms=u)
    for i in range(50):
        row = reference.fractions(q[i])
        assert drafts[i].tolist() == [reference.Numbers([x]).pick(row) for x in u[i].tolist()]
    assert bool((q.gather(1, drafts) > 0).all())
    assert torch.equal(verifiers.draft_iid(q.log(), 4, logits=True, uniforms=u)[20:], drafts[20:])


def test_draft_iid_compares_strictly():
    """A uniform that equals a prefix sum selects the next token of positive weight, also where blocks of cells end."""
    weights = torch.tensor([0.0, 1.0, 1.0, 0.0] * 32, dtype=torch.float64)[None] / 64
    u = torch.arange(64, dtype=torch.float64)[None] / 64
    assert verifiers.draft_iid(weights, 64, uniforms=u).tolist() == [weights[0].nonzero().squeeze(1).tolist()]


def test_draft_gumbel_top_k():
    q = table([[0.5, 0.2, 0.0, 0.3]])
    u = torch.tensor([[0.6, 0.9, 0.999, 0.2]], dtype=torch.float64)
    clocks = [-float(x.log()) / float(w) if w > 0 else float("inf") for x, w in zip(u[0], q[0], strict=True)]
    order = sorted(range(4), key=clocks.__getitem__)
    assert verifiers.draft_gumbel_top_k(q, 4, uniforms=u).tolist() == [[*order[:3], -1]]
    many = verifiers.draft_gumbel_top_k(q.expand(100_000, 4), 2, generator=torch.Generator().manual_seed(4))
    distribution = torch.zeros(4, 4, dtype=torch.float64)
    for chance, (x, y) in reference.tuples(reference.fractions(q[0]), 2, True):
        distribution[x, y] = float(chance)
    seen = torch.bincount(many[:, 0] * 4 + many[:, 1], minlength=16)[distribution.flatten() > 0].double()
    wanted = distribution.flatten()[distribution.flatten() > 0] * 100_000
    assert float(((seen - wanted) ** 2 / wanted).sum()) < 31  # chi-square, 5 degrees of freedom: probability 1e-5
    with pytest.raises(ValueError, match=r"k: got 5, expected 0 .. 4"):
        verifiers.draft_gumbel_top_k(q, 5)


def test_examples_of_the_docs_run():
    page = (Path(__file__).parents[2] / "docs" / "python-verifiers.md").read_text()
    names: dict[str, object] = {}
    for example in page.split("```python\n")[1:]:
        exec(example.split("```")[0], names)
    assert names["tokens"].shape == (8, 5) and names["token"].shape == (8,)
