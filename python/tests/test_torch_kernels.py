"""Tests of the library of CUDA kernels as torch operators: its host form everywhere, its kernels if there is a device.

Both forms of a verifier decide on the same rows, drafts, seed and trials, so their tokens must be equal.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from intercepted import run  # noqa: E402
from test_torch_verifiers import POSITIONS, chi_square, numbers_of, random_rows  # noqa: E402

import draftproof  # noqa: E402
import draftproof.torch as verifiers  # noqa: E402
from draftproof.tape import UnknownRandomness  # noqa: E402
from draftproof.torch import kernel_library, kernels  # noqa: E402

# The mean 11 of chi-square with 11 degrees of freedom (12 tokens) plus six standard deviations (2 * 11)^0.5.
CHI_SQUARE_OF_TWELVE = 11 + 6 * 22**0.5

NAMES = {
    "recursive_rejection": "recursive_rejection",
    "recursive_rejection_without_replacement": "recursive_rejection_wor",
    "ladder": "ladder",
    "ladder_without_replacement": "ladder_wor",
}
needs_device = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.fixture
def ops():
    """Returns the operators. Skips the test if the library is not built."""
    found = kernels.operators()
    if found is None:
        pytest.skip(f"{kernel_library.FILE} is not built (./dev build device), or torch is older than 2.4")
    return found


def drawn(name, b, v, k, seed=1, dtype=torch.float32, equal=False):
    """Returns p, q, drafts and numbers of drafts for the verifier `name` of the library. The numbers of drafts range
    from the fewest that the verifier takes to k; if `equal`, all are k."""
    fewest, most, _, distributions = kernel_library.kernels()[name]
    k = min(k, most or k)
    fewest = min(fewest, k)
    several = distributions == ("independent",)
    p, q = random_rows((b, v), seed, dtype), random_rows((b, k, v) if several else (b, v), seed + 1, dtype)
    q = ((q.double() + 2 * (p[:, None] if several else p).double()) / 3).to(dtype)
    generator = torch.Generator().manual_seed(seed + 2)
    if several:
        drafts = verifiers.draft_iid(q.flatten(0, 1), 1, generator=generator, check=False).reshape(b, k)
    elif any("without" in distribution for distribution in distributions) or name.endswith("distinct"):
        drafts = verifiers.draft_gumbel_top_k(q, k, generator=generator, check=False)
    else:
        drafts = verifiers.draft_iid(q, k, generator=generator, check=False)
    counts = torch.full((b,), k) if equal else fewest + torch.arange(b) % (k - fewest + 1)
    counts = torch.minimum(counts, (drafts >= 0).sum(1).clamp(min=1))
    return p, q, drafts.clamp(min=0).int(), counts.int()


def form_of(p, q, logits):
    return (p.double().log().to(p.dtype), q.double().log().to(q.dtype)) if logits else (p, q)


# Tests without a device.


def test_the_seed_is_hashed_by_splitmix64():
    assert kernels.hashed(0) & (1 << 64) - 1 == 0xE220A8397B1DCDAF  # first number of the published program
    assert len({kernels.hashed(seed) for seed in range(1000)}) == 1000


def test_numbers_are_reserved_in_fours():
    class Counter:
        at = 8

        def get_offset(self):
            return self.at

        def set_offset(self, offset):
            self.at = offset

        def initial_seed(self):
            return 7

    one = Counter()
    assert kernels.reserve(one, 5) == (kernels.hashed(7), 8) and one.at == 16
    assert kernels.reserve(one, 4) == (kernels.hashed(7), 16) and one.at == 20


def test_a_library_that_is_named_and_absent_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("DRAFTPROOF_KERNELS", str(tmp_path / "none.so"))
    with pytest.raises(FileNotFoundError, match=r"DRAFTPROOF_KERNELS=.*none\.so"):
        kernel_library.library.__wrapped__()


def test_positions_are_trials(ops):
    p, q, drafts, counts = drawn("ladder", 200, 30, 4)
    whole, faults = ops.verify_rows("ladder", p, q, drafts, counts, False, 1.0, False, 5, 100)
    part, _ = ops.verify_rows("ladder", p[50:], q[50:], drafts[50:], counts[50:], False, 1.0, False, 5, 150)
    assert torch.equal(whole[50:], part) and bool((faults == -1).all())
    other, _ = ops.verify_rows("ladder", p, q, drafts, counts, False, 1.0, False, 6, 100)
    assert not torch.equal(whole, other)
    one = ops.verify_rows("ladder", p[:1].expand(9, 30), q[:1].expand(9, 30), drafts[:1].expand(9, 4),
                          counts[:1].expand(9).contiguous(), False, 1.0, False, 5, 100)[0]  # fmt: skip
    assert one[0].tolist() == whole[0].tolist()


@pytest.mark.parametrize("name", POSITIONS)
def test_the_library_has_the_distribution_of_the_torch_form(ops, name):
    b, v, k = 20_000, 12, 3
    p, q = (random_rows((1, v), seed, torch.float32, zeros=0.0).expand(b, v) for seed in (3, 4))
    draw = verifiers.draft_gumbel_top_k if name.endswith("without_replacement") else verifiers.draft_iid
    drafts = draw(q, k, generator=torch.Generator().manual_seed(5))
    counts = torch.full((b,), k, dtype=torch.int32)
    verdicts, _ = ops.verify_rows(NAMES[name], p, q, drafts.int(), counts, False, 1.0, False, 9, 0)
    token, accepted = verdicts.long().unbind(1)
    assert chi_square(token, p[0].double()) < CHI_SQUARE_OF_TWELVE
    own, index = getattr(verifiers, name)(p, q, drafts, generator=torch.Generator().manual_seed(6))
    assert chi_square(own, p[0].double()) < CHI_SQUARE_OF_TWELVE
    rates = [float((x >= 0).double().mean()) for x in (accepted, index)]
    # The bound is six standard deviations: a rate has variance at most 1 / (4 b), the difference at most 1 / (2 b).
    assert abs(rates[0] - rates[1]) < 6 * (0.5 / b) ** 0.5
    there = accepted >= 0
    assert torch.equal(drafts[there].gather(1, accepted[there, None]).squeeze(1), token[there])


def test_what_the_library_refuses(ops):
    p, q, drafts, counts = drawn("ladder", 4, 10, 3)
    call = lambda *rows, name="ladder", logits=False: ops.verify_rows(name, *rows, logits, 1.0, False, 1, 0)  # noqa: E731
    with pytest.raises(ValueError, match=r"got nothing, expected one of .*ladder_wor"):
        call(p, q, drafts, counts, name="nothing")
    with pytest.raises(ValueError, match="position 0: got 0 drafts, expected 1"):
        call(p, q, drafts, counts * 0)
    with pytest.raises(ValueError, match="position 0: draft 0: got 10, expected a token below 10"):
        call(p, q, drafts * 0 + 10, counts)
    with pytest.raises(ValueError, match="dtype"):
        call(p.double(), q.double(), drafts, counts)
    with pytest.raises(ValueError, match=r"torch\.int32"):
        call(p, q, drafts.long(), counts)
    with pytest.raises(ValueError, match="logits"):
        call(p * torch.nan, q, drafts, counts, logits=True)
    assert kernel_library.fault_of(3, (1 << 36) | (5 << 4)).startswith("position 3: proposal 0 logits: token 5: got")
    assert kernel_library.fault_of(3, -1) == ""


def test_the_operator_is_traced(ops):
    p, q, drafts, counts = drawn("ladder", 16, 10, 3)
    meta = ops.verify_rows("ladder", *(x.to("meta") for x in (p, q, drafts, counts)), False, 1.0, False, 1, 0)
    assert meta[0].shape == (16, 2) and meta[0].device.type == "meta"
    torch.library.opcheck(ops.verify_rows, ("ladder", p, q, drafts, counts, False, 1.0, False, 1, 0))


def test_rows_on_the_cpu_take_the_torch_form(ops):
    p, q, drafts, _ = drawn("ladder", 4, 10, 3)
    result, tape = run(lambda: verifiers.ladder(p[:1], q[:1], drafts[:1].long()), [0.5] * 8, vocabulary=10)
    assert tape.draw_log[0].operator == "aten::rand" and result[0].shape == (1,)


# Tests on a device.

CASES = [
    (torch.float32, False, 512, 7),
    (torch.float32, False, 512, 300),
    (torch.float32, False, 200, 5000),
    (torch.float32, False, 6, 40_000),
    (torch.bfloat16, True, 200, 300),
    (torch.bfloat16, True, 100, 5000),
    (torch.float16, True, 200, 300),
    (torch.float32, True, 200, 3000),
    (torch.bfloat16, False, 200, 300),
    (torch.float16, False, 200, 3000),
]


@needs_device
@pytest.mark.parametrize(("dtype", "logits", "b", "v"), CASES)
def test_every_kernel_gives_the_tokens_of_the_host(ops, dtype, logits, b, v):
    compared = 0
    for name in kernel_library.kernels():
        p, q, drafts, counts = drawn(name, b, v, 4, dtype=dtype)
        p, q = form_of(p, q, logits)
        numbers = logits, 0.75 if logits else 1.0, False, kernels.hashed(3), 1 << 33
        wanted, _ = ops.verify_rows(name, p, q, drafts, counts, *numbers)
        found, faults = ops.verify_rows(name, *(x.cuda() for x in (p, q, drafts, counts)), *numbers)
        assert torch.equal(wanted, found.cpu()), name
        assert bool((faults == -1).all()), name
        compared += b
    assert compared >= 12 * b


@needs_device
@pytest.mark.parametrize("name", POSITIONS)
def test_functions_call_the_kernel_on_a_device(ops, name):
    p, q, drafts, counts = (x.cuda() for x in drawn(NAMES[name], 101, 300, 4, equal=True))
    drafts[:, 3:][::5] = -1
    counts = (drafts >= 0).sum(1).int()
    function, generator = getattr(verifiers, name), torch.Generator("cuda").manual_seed(5)
    first = function(p, q, drafts.long(), generator=generator)
    assert generator.get_offset() == 104
    wanted, _ = ops.verify_rows(NAMES[name], p, q, drafts.clamp(min=0), counts, False, 1.0, False, kernels.hashed(5), 0)
    assert all(torch.equal(a, b) for a, b in zip(first, wanted.long().unbind(1), strict=True))
    second = function(p, q, drafts, generator=generator, check=False)
    assert not torch.equal(first[0], second[0])
    generator.set_offset(104)
    again = function(p, q, drafts, lengths=counts, generator=generator)
    assert all(torch.equal(a, b) for a, b in zip(second, again, strict=True))
    torch.cuda.manual_seed(5)  # the device's default generator
    torch.cuda.default_generators[p.device.index].set_offset(0)
    assert torch.equal(function(p, q, drafts)[0], first[0])


@needs_device
@pytest.mark.parametrize("name", POSITIONS)
def test_where_the_torch_form_runs_on_a_device(ops, name):
    p, q, drafts, _ = drawn(NAMES[name], 40, 50, 4, equal=True)
    function, u = getattr(verifiers, name), torch.rand(40, numbers_of(name, 4), dtype=torch.float64)
    wanted = function(p, q, drafts, uniforms=u)
    p, q, drafts = p.cuda(), q.cuda(), drafts.cuda()
    found = function(p, q, drafts, uniforms=u.cuda())
    assert all(torch.equal(a, b.cpu()) for a, b in zip(wanted, found, strict=True))
    _, tape = run(lambda: function(p[:1], q[:1], drafts[:1]), [0.5] * 12, vocabulary=50)
    assert tape.draw_log[0].operator == "aten::rand"
    generator = torch.Generator("cuda").manual_seed(1)
    temperature = torch.full((40,), 0.7, device="cuda")
    function(p.log(), q.log(), drafts, logits=True, temperature=temperature, generator=generator)
    function(p.double(), q.double(), drafts, generator=generator)
    assert generator.get_offset() % 4 == 0 and generator.get_offset() > 0
    lengths = torch.full((40,), 4, device="cuda")
    lengths[::2] = 0
    token, accepted = function(p, q, drafts, lengths=lengths, generator=generator)
    assert bool((token >= 0).all()) and bool((accepted[::2] == -1).all())


@needs_device
@pytest.mark.parametrize("name", POSITIONS)
def test_values_are_checked_on_a_device(ops, name):
    p, q, drafts, _ = (x.cuda() for x in drawn(NAMES[name], 8, 50, 3, equal=True))
    function = getattr(verifiers, name)
    with pytest.raises(ValueError, match=r"drafts\[2, 1\]: got 50, expected 0 .. 49"):
        wrong = drafts.clone()
        wrong[2, 1] = 50
        function(p, q, wrong)
    with pytest.raises(ValueError, match=r"p\[3\]"):
        wrong = p.clone()
        wrong[3, 4] = torch.nan
        function(wrong, q, drafts)
    if name.endswith("without_replacement"):
        with pytest.raises(ValueError, match="which is draft 0 too"):
            function(p, q, drafts[:, :1].expand(8, 3))
    masked = torch.full_like(p, -torch.inf)
    with pytest.raises(ValueError, match=r"p\[0\]"):
        function(masked, q.log(), drafts, logits=True)
    token, _ = function(masked, q.log(), drafts, logits=True, check=False)
    assert token.tolist() == [-1] * 8


@needs_device
@pytest.mark.parametrize("name", POSITIONS)
def test_drafts_end_before_the_first_that_is_none_with_and_without_checks(ops, name):
    p, q, drafts, _ = (x.cuda() for x in drawn(NAMES[name], 64, 50, 4, equal=True))
    drafts[:, 1] = -1
    function, generator = getattr(verifiers, name), torch.Generator("cuda")
    tokens = [function(p, q, drafts, generator=generator.manual_seed(5), check=check)[0] for check in (True, False)]
    assert torch.equal(*tokens)


def test_counts_beyond_the_drafts_are_refused(ops):
    p, q, drafts, counts = drawn("recursive_rejection", 4, 20, 3)
    with pytest.raises(ValueError, match=r"counts: got 8, expected 0 .. 3"):
        ops.verify_rows("recursive_rejection", p, q, drafts, counts.fill_(8), False, 1.0, False, 1, 0)


@needs_device
@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize(("dtype", "logits"), [(torch.float32, False), (torch.bfloat16, True)])
def test_the_distribution_on_a_device(ops, name, dtype, logits):
    b, v, k = 40_000, 12, 3
    p, q = (random_rows((1, v), seed, dtype, zeros=0.0) for seed in (3, 4))
    p, q = (x.cuda().expand(b, v) for x in form_of(p, q, logits))
    draw = verifiers.draft_gumbel_top_k if name.endswith("without_replacement") else verifiers.draft_iid
    generator = torch.Generator("cuda").manual_seed(8)
    drafts = draw(q, k, logits=logits, generator=generator)
    token, _ = getattr(verifiers, name)(p, q, drafts, logits=logits, generator=generator)
    distribution = p[0].double().softmax(0) if logits else p[0].double()
    assert chi_square(token.cpu(), distribution.cpu()) < CHI_SQUARE_OF_TWELVE


@needs_device
def test_numbers_of_the_device_are_an_operator(ops):
    p, q, drafts, counts = (x.cuda() for x in drawn("ladder", 10, 50, 3))
    rows = "ladder", p, q, drafts, counts, False, 1.0, False
    torch.cuda.manual_seed(4)
    eager, _ = ops.draw_rows(*rows)
    assert torch.cuda.default_generators[p.device.index].get_offset() == 12
    compiled = torch.compile(lambda *given: ops.draw_rows("ladder", *given, False, 1.0, False)[0] + 0, fullgraph=True,
                             backend="aot_eager")  # fmt: skip
    torch.cuda.manual_seed(4)
    assert torch.equal(compiled(p, q, drafts, counts), eager)
    with pytest.raises(UnknownRandomness, match="draftproof::draw_rows"):
        run(lambda: ops.draw_rows(*rows), [0.5] * 8)


@needs_device
def test_a_check_on_a_device_asks_the_torch_form(in_a_folder, ops):
    def fn(p, q, drafts):
        return verifiers.ladder(p.cuda(), q.cuda(), drafts.cuda())[0][:, None]

    asked = {"level": "position", "batched": True, "arrays": "torch", "models": 1, "predictions": 16, "keep": False}
    verdict = draftproof.check(fn, tier="proof", raises=False, **asked)
    assert verdict.status == "passed", str(verdict)
    assert {entry.operator for entry, _ in verdict.draws} == {"aten::rand"}
