"""The gate on functions of CUDA tensors, and draftproof.torch on a device. Without a device all tests are skipped."""

from __future__ import annotations

import re

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from intercepted import kinds, run  # noqa: E402
from test_torch_verifiers import CHAINS, POSITIONS, numbers_of, random_rows  # noqa: E402

import draftproof  # noqa: E402
import draftproof.torch as verifiers  # noqa: E402
from draftproof.tape import CLOCK, COIN, PICK, UnknownRandomness  # noqa: E402

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
    pytest.mark.usefixtures("one_thread"),
]

DEVICE = "cuda"
TINY = 2.0**-126
ONE = "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1"
TWO = "L=1 K=1 [] p=(1 3)/4 q=(2 2)/4"


def chain(p, q, drafts, coin, pick, rest=None, on=None):
    """Verifies a chain on the device: coin() draws a uniform, pick(weights) a token; p, q and drafts come from the
    CPU."""
    p, q, drafts = (x.to(on or DEVICE) for x in (p, q, drafts))
    for i, x in enumerate(drafts):
        if coin() * q[i, x] < p[i, x]:
            continue
        left = rest(p[i], q[i]) if rest else (p[i] - q[i]).clamp(min=0)
        return torch.cat([drafts[:i], pick(left if left.any() else p[i]).reshape(1)])
    return torch.cat([drafts, pick(p[-1]).reshape(1)])


def uniform():
    return torch.rand((), device=DEVICE)


def pick(weights):
    return torch.multinomial(weights, 1)


def usual(p, q, drafts):
    return chain(p, q, drafts, uniform, pick)


def races(p, q, drafts):
    def race(weights):
        return (weights / torch.empty_like(weights).exponential_().clamp_(min=TINY)).argmax()

    return chain(p, q, drafts, lambda: torch.empty((), device=DEVICE).uniform_(), race)


def doubles(p, q, drafts):
    def inverted(weights):
        ends = weights.double().cumsum(0)
        return (ends <= torch.rand((), device=DEVICE, dtype=torch.float64) * ends[-1]).sum()

    return chain(p, q, drafts, lambda: torch.rand((), dtype=torch.float64, device=f"{DEVICE}:0"), inverted)


def default_device(p, q, drafts):
    with torch.device(DEVICE):
        return chain(p, q, drafts, lambda: torch.rand(()), pick)


def given_generator(p, q, drafts, generator):
    def coin():
        return torch.rand((), device=DEVICE, generator=generator)

    return chain(p, q, drafts, coin, lambda weights: torch.multinomial(weights, 1, generator=generator))


def own_generator(p, q, drafts):
    return given_generator(p, q, drafts, torch.Generator(DEVICE).manual_seed(int(torch.randint(2**31, ()))))


def global_generator(p, q, drafts):
    return given_generator(p, q, drafts, torch.cuda.default_generators[0])


def seeded_by_a_draw(p, q, drafts):
    torch.cuda.manual_seed(int(torch.randint(2**31, (), device=DEVICE)))
    return usual(p, q, drafts)


def absolute_rest(p, q, drafts):
    return chain(p, q, drafts, uniform, pick, rest=lambda p, q: (p - q).abs())


def seeded_by_a_constant(p, q, drafts):
    torch.cuda.manual_seed(7)
    return usual(p, q, drafts)


def restored_state(p, q, drafts):
    """Restores the generator's state before each coin, so that all tests of a call get the same coin."""
    before = torch.cuda.get_rng_state()

    def coin():
        torch.cuda.set_rng_state(before)
        return uniform()

    return chain(p, q, drafts, coin, pick)


def at_most(p, q, drafts):
    p, q, drafts = p.to(DEVICE), q.to(DEVICE), drafts.to(DEVICE)
    for i, x in enumerate(drafts):
        if uniform() * q[i, x] <= p[i, x]:
            continue
        left = (p[i] - q[i]).clamp(min=0)
        return [*drafts[:i].tolist(), int(pick(left if left.any() else p[i]))]
    return [*drafts.tolist(), int(pick(p[-1]))]


def judged(fn, *instances, tier="proof", **declared):
    """Returns the verdict on one random model and on these instances."""
    asked = {"models": 1, "predictions": 16, "raises": False, "keep": False}
    return draftproof.check(fn, tier=tier, instance=instances or (ONE, TWO), **asked, **declared)


RIGHT = [usual, races, doubles, default_device, own_generator, global_generator, seeded_by_a_draw]


@pytest.mark.parametrize("fn", RIGHT, ids=lambda fn: fn.__name__)
def test_a_right_function_on_cuda_tensors_holds(in_a_folder, fn):
    verdict = judged(fn)
    assert verdict.status == "passed", str(verdict)
    assert verdict.draws and verdict.findings


def test_a_generator_of_the_device_is_given(in_a_folder):
    verdict = judged(given_generator, device=DEVICE)
    assert verdict.status == "passed", str(verdict)
    assert {entry.generator for entry, _ in verdict.draws} == {"given"}


def test_arguments_come_on_the_device(in_a_folder):
    def fn(p, q, drafts):
        if {p.device.type, q.device.type, drafts.device.type} != {DEVICE}:
            raise TypeError(f"got {p.device}, {q.device}, {drafts.device}")
        return usual(p, q, drafts)

    assert judged(fn, device=DEVICE).status == "passed"


@pytest.mark.parametrize("fn", [absolute_rest, seeded_by_a_constant, restored_state], ids=lambda fn: fn.__name__)
def test_a_wrong_function_on_cuda_tensors_is_refuted_with_an_instance(in_a_folder, fn):
    longer = "L=2 K=1 [] p=(1 3)/4 q=(2 2)/4 [0] p=(1 3)/4 q=(2 2)/4 [1] p=(1 3)/4 q=(2 2)/4"
    verdict = judged(fn, ONE, TWO, longer)
    assert verdict.status == "failed", str(verdict)
    assert any(finding.counterexample for finding in verdict.failures)
    if fn is seeded_by_a_constant:
        assert any("constant seeds" in note and "7" in note for note in verdict.notes), verdict.notes


def test_the_end_of_the_grid_is_asked_on_the_device(in_a_folder):
    verdict = judged(at_most, ONE)
    assert "zero_support" in {finding.check for finding in verdict.failures}, str(verdict)
    assert "0 of 2^24" in str(verdict)


def batched(wrong=False):
    def verify(p, q, drafts):
        p, q, drafts = (x.to(DEVICE) for x in (p, q, drafts))
        rows, steps = torch.arange(len(p), device=DEVICE), torch.arange(drafts.shape[1], device=DEVICE)
        at = (rows[:, None], steps, drafts)
        accepted = (torch.rand(drafts.shape, device=DEVICE) * q[at] < p[at]).long().cumprod(1).sum(1)
        rest = p - torch.nn.functional.pad(q, (0, 0, 0, 1))
        rest = (rest.abs() if wrong else rest.clamp(min=0))[rows, accepted]
        rest = torch.where(rest.any(1, keepdim=True), rest, p[rows, accepted])
        tokens = torch.nn.functional.pad(drafts, (0, 1), value=-1)
        tokens[rows, accepted] = torch.multinomial(rest, 1)[:, 0]
        return torch.where(torch.arange(tokens.shape[1], device=DEVICE) <= accepted[:, None], tokens, -1)

    return verify


def test_batches_on_the_device_are_judged(in_a_folder):
    verdict = judged(batched(), batched=True, tier=["proof", "edge"])
    assert verdict.status == "passed", str(verdict)
    assert judged(batched(wrong=True), batched=True).status == "failed"


def test_a_compiled_function_is_judged_as_the_function_it_was_made_from(in_a_folder):
    verdict = judged(torch.compile(usual))
    assert verdict.status == "passed", str(verdict)
    assert any("torch.compile" in note for note in verdict.notes)


def test_numbers_that_no_operator_drew_are_refused(in_a_folder):
    def fn(p, q, drafts):
        own = torch.cuda.default_generators[0]
        own.set_offset(own.get_offset() + 4)  # other libraries' kernels reserve random numbers like this
        return usual(p, q, drafts)

    with pytest.raises(UnknownRandomness, match="the generator of cuda:0"):
        judged(fn)


# Tests that draws on the device take their values from a tape.


@pytest.mark.parametrize(
    ("fn", "kind", "values", "wanted"),
    [
        (lambda: torch.rand(2, device=DEVICE), (COIN, 0, 24), [0.25, 0.5], [0.25, 0.5]),
        (lambda: torch.rand(2, device=DEVICE, dtype=torch.float64), (COIN, 0, 53), [0.25, 0.5], [0.25, 0.5]),
        (lambda: torch.empty(2, device=DEVICE).uniform_(1, 3), (COIN, 0, 24), [0.25, 0.5], [1.5, 2.0]),
        (lambda: torch.empty(2, device=DEVICE).exponential_(2.0), (CLOCK, 2, 24), [-1.0, -4.0], [0.5, 2.0]),
        (lambda: torch.multinomial(torch.tensor([[0.0, 1, 3]] * 2, device=DEVICE), 1), (PICK, 3, 0), [0.2, 0.3],
         [[1], [2]]),
        (lambda: torch.ones(3, device=DEVICE).multinomial(2), (PICK, 3, 0), [-1.0, -3.0], [0, 2]),
        (lambda: torch.bernoulli(torch.full((2,), 0.5, device=DEVICE)), (COIN, 0, 24), [0.25, 0.5], [1.0, 0.0]),
        (lambda: torch.rand_like(torch.ones(2, device=DEVICE)), (COIN, 0, 24), [0.25, 0.5], [0.25, 0.5]),
    ],
)  # fmt: skip
def test_numbers_of_the_tape_come_on_the_device(fn, kind, values, wanted):
    result, tape = run(fn, values)
    assert result.device.type == DEVICE and result.tolist() == wanted
    assert kinds(tape)[0] == kind


def test_a_default_device_gets_the_numbers():
    with torch.device(DEVICE):
        result, _ = run(lambda: torch.rand(2), [0.25, 0.5])
    assert result.device.type == DEVICE and result.tolist() == [0.25, 0.5]


def test_the_device_draws_as_ever_afterwards():
    torch.cuda.manual_seed(3)
    wanted = torch.rand(4, device=DEVICE)
    torch.cuda.manual_seed(3)
    run(lambda: torch.rand(2, device=DEVICE), [0.25, 0.5])
    assert torch.equal(torch.rand(4, device=DEVICE), wanted)
    from draftproof import intercept

    with intercept.seeded(5):
        first = torch.rand(4, device=DEVICE)
    with intercept.seeded(5):
        assert torch.equal(torch.rand(4, device=DEVICE), first)


def test_uniforms_of_the_device_lie_on_the_grid_or_below_it():
    """On CUDA, (x + 1/2) 2^-32 is rounded to a float, so only small uniforms lie off the grid of 2^-24."""
    from draftproof.intercept._torch_numbers import uniform_bits

    generator = torch.Generator(DEVICE).manual_seed(1)
    scaled = torch.rand(1 << 20, device=DEVICE, generator=generator).double() * 2.0**24
    assert bool((scaled < 2.0**24).all()) and not bool((scaled / 2 == (scaled / 2).floor()).all())
    assert bool((scaled == scaled.floor())[scaled >= 2.0**23].all())
    assert uniform_bits(torch.float32, torch.device(DEVICE)) == 24
    assert uniform_bits(torch.float64, torch.device(DEVICE)) == 53
    for dtype in (torch.float16, torch.bfloat16):
        assert uniform_bits(dtype, torch.device(DEVICE)) <= 24


# Tests of kernels of Triton, which are compiled and not interpreted.

if triton is not None:

    @triton.jit
    def verify_chain(p, q, drafts, coins, out, length, size, WRONG: tl.constexpr, BLOCK: tl.constexpr):
        cell = tl.arange(0, BLOCK)
        accepted, going = 0, 1
        for i in range(length):
            x = tl.load(drafts + i)
            passed = tl.load(coins + i) * tl.load(q + i * size + x) < tl.load(p + i * size + x)
            going = going & passed.to(tl.int32)
            accepted += going
        target = tl.load(p + accepted * size + cell, mask=cell < size, other=0.0)
        proposal = tl.load(q + accepted * size + cell, mask=(cell < size) & (accepted < length), other=0.0)
        rest = tl.abs(target - proposal) if WRONG else tl.maximum(target - proposal, 0.0)
        rest = tl.where(tl.max(rest, 0) > 0, rest, target)
        ends = tl.cumsum(rest, 0)
        goal = tl.load(coins + length) * tl.max(ends, 0)
        tl.store(out, accepted)
        tl.store(out + 1, tl.sum((ends <= goal).to(tl.int32), 0))

    @triton.jit
    def drawing(out, seed):
        tl.store(out, tl.rand(seed, 0))

    tuned = triton.autotune(configs=[triton.Config({}, num_warps=1)], key=[])(drawing)


def by_kernel(wrong):
    def verify(p, q, drafts):
        p, q, drafts = (x.to(DEVICE).contiguous() for x in (p, q, drafts))
        coins, out = torch.rand(len(drafts) + 1, device=DEVICE), torch.empty(2, dtype=torch.int32, device=DEVICE)
        verify_chain[(1,)](p, q, drafts, coins, out, len(drafts), p.shape[1], WRONG=wrong, BLOCK=16)
        accepted, token = out.tolist()
        return [*drafts[:accepted].tolist(), token]

    return verify


@pytest.fixture
def compiling():
    """Skips the test if Triton cannot compile, for which it needs a C compiler and Python's headers."""
    if triton is None:
        pytest.skip("triton is not installed")
    out = torch.zeros(1, device=DEVICE)
    try:
        drawing[(1,)](out, 1)
    except Exception as error:
        pytest.skip(f"Triton compiles no kernel here: {type(error).__name__}: {str(error)[:200]}")
    assert 0 <= float(out) < 1


def test_a_compiled_kernel_that_takes_its_coins_is_judged(in_a_folder, compiling):
    verdict = judged(by_kernel(wrong=False))
    assert verdict.status == "passed", str(verdict)
    verdict = judged(by_kernel(wrong=True))
    assert verdict.status == "failed" and any(finding.counterexample for finding in verdict.failures)


@pytest.mark.parametrize("name", ["drawing", "tuned"])
def test_a_compiled_kernel_that_draws_is_refused_in_words(in_a_folder, name):
    if triton is None:
        pytest.skip("triton is not installed")
    kernel = globals()[name]

    def fn(p, q, drafts):
        kernel[(1,)](torch.empty(1, device=DEVICE), 1)
        return usual(p, q, drafts)

    with pytest.raises(ValueError, match=r"a compiled kernel that draws by rand.*scripted=False"):
        judged(fn)


# draftproof.torch gives the same tokens on the device as on the CPU, where test_torch_verifiers.py tests distributions.


@pytest.mark.parametrize("name", [*POSITIONS, *CHAINS, "ladder_block"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("logits", [False, True])
def test_tokens_are_those_of_the_cpu(name, dtype, logits):
    b, k, v = 128, 4, 500
    length = {"ladder_block": 3}.get(name, 4)
    p, q = random_rows((b, length + 1, v), 1, torch.float64), random_rows((b, length, v), 2, torch.float64)
    q = (q + 3 * p[:, :-1]) / 4
    generator = torch.Generator().manual_seed(3)
    if name in POSITIONS:
        draw = verifiers.draft_gumbel_top_k if name.endswith("without_replacement") else verifiers.draft_iid
        p, q = p[:, 0], q[:, 0]
        drafts, places = draw(q, k, generator=generator), numbers_of(name, k)
    elif name in CHAINS:
        drafts, places = verifiers.draft_iid(q.flatten(0, 1), 1, generator=generator).reshape(b, length), length + 1
    else:
        drafts = verifiers.draft_iid(q.flatten(0, 1), k, generator=generator).reshape(b, length, k).transpose(1, 2)
        p, q = (torch.stack([x] * k, dim=1) for x in (p, q))
        places = numbers_of(name, k, length)
    p, q = ((x.log() if logits else x).to(dtype) for x in (p, q))
    u = torch.rand(b, places, generator=generator, dtype=torch.float64)
    options = {"logits": logits, "temperature": 0.8 if logits else None, "check": dtype != torch.bfloat16}
    wanted = getattr(verifiers, name)(p, q, drafts, uniforms=u, **options)
    found = getattr(verifiers, name)(*(x.to(DEVICE) for x in (p, q, drafts)), uniforms=u.to(DEVICE), **options)
    for own, other in zip(wanted, found, strict=True):
        assert other.device.type == DEVICE and torch.equal(own, other.cpu())


@pytest.mark.parametrize("drafter", [verifiers.draft_iid, verifiers.draft_gumbel_top_k])
def test_drafts_are_those_of_the_cpu(drafter):
    q = random_rows((64, 500), 5, torch.float32)
    u = torch.rand(64, 4 if drafter is verifiers.draft_iid else 500, dtype=torch.float64).clamp(min=2.0**-60)
    assert torch.equal(drafter(q, 4, uniforms=u), drafter(q.to(DEVICE), 4, uniforms=u.to(DEVICE)).cpu())
    drawn = drafter(q.to(DEVICE), 4, generator=torch.Generator(DEVICE).manual_seed(1)).cpu()
    assert bool((q.gather(1, drawn) > 0).all())


def test_replay_on_the_device(in_a_folder):
    assert re.search("exact_distribution +passed", draftproof.replay(usual, TWO))
    assert re.search("exact_distribution +failed", draftproof.replay(absolute_rest, ONE))


def test_a_seeded_call_repeats_on_the_device():
    """The sampled tier gives each call a seed, which also seeds the device's generator."""
    from draftproof import intercept

    drawn = []
    for seed in (1, 1, 2):
        with intercept.replaced(), intercept.seeded_call(seed, True):
            drawn.append(torch.rand(8, device=DEVICE).cpu())
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
