"""In generators that a function seeds, equal seeds give equal numbers, within a call and across calls."""

from __future__ import annotations

import copy
import importlib
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_subject import request

import draftproof
from draftproof import intercept
from draftproof.declare import adapter
from draftproof.seeds import ENOUGH, SeedBook
from draftproof.tape import Tape

torch = pytest.importorskip("torch")


def twice(draw: Callable[[], float], seed: Callable[[], Any]) -> Callable[[], list[float]]:
    def fn() -> list[float]:
        drawn = []
        for _ in range(2):
            seed()
            drawn.append(draw())
        return [*drawn, draw()]

    return fn


def restored(draw: Callable[[], float], save: Callable[[], Any], restore: Callable[[Any], Any]) -> Any:
    def fn() -> list[float]:
        state = save()
        first = draw()
        restore(state)
        return [first, draw(), draw()]

    return fn


def of_numpy() -> list[float]:
    return [np.random.default_rng(5).random(), np.random.default_rng(5).random(), np.random.default_rng(6).random()]


def of_random() -> list[float]:
    return [random.Random(5).random(), random.Random(5).random(), random.Random(6).random()]


def of_torch() -> list[float]:
    made = [torch.Generator().manual_seed(seed) for seed in (5, 5, 6)]
    return [float(torch.rand((), generator=generator)) for generator in made]


SAME_TWICE = {
    "numpy.random.seed": twice(lambda: np.random.random(), lambda: np.random.seed(5)),
    "random.seed": twice(lambda: random.random(), lambda: random.seed(5)),
    "torch.manual_seed": twice(lambda: float(torch.rand(())), lambda: torch.manual_seed(5)),
    "numpy state": restored(
        lambda: np.random.random(), lambda: np.random.get_state(), lambda s: np.random.set_state(s)
    ),
    "random state": restored(lambda: random.random(), lambda: random.getstate(), lambda s: random.setstate(s)),
    "torch state": restored(
        lambda: float(torch.rand(())), lambda: torch.get_rng_state(), lambda s: torch.set_rng_state(s)
    ),
    "default_rng": of_numpy,
    "Random": of_random,
    "Generator": of_torch,
}


@pytest.mark.parametrize("fn", SAME_TWICE.values(), ids=SAME_TWICE)
def test_equal_seeds_take_one_place(fn: Callable[[], list[float]]) -> None:
    tape = Tape([[0.5, 0.25, 0.75]], 3)
    with intercept.intercepting(tape):
        drawn = fn()
    assert drawn == [0.5, 0.5, 0.25]
    assert tape.log()[0].tolist() == [2]


def test_a_number_that_was_a_pick_is_a_uniform_of_its_cell() -> None:
    tape = Tape([[-2.0, 0.9]], 3)

    def fn() -> tuple[int, float]:
        np.random.seed(3)
        cell = np.random.choice(2, p=[0.5, 0.5])
        np.random.seed(3)
        return int(cell), np.random.random()

    with intercept.intercepting(tape):
        assert fn() == (1, 0.75)  # the middle of 0.5 .. 1


@pytest.mark.parametrize("fn", SAME_TWICE.values(), ids=SAME_TWICE)
def test_seeds_that_are_the_same_in_every_call_give_their_own_numbers(fn: Callable[[], list[float]]) -> None:
    if "state" in fn.__qualname__ or fn.__qualname__.startswith("restored"):
        pytest.skip("a state is of its own call")
    book = SeedBook()
    for _ in range(ENOUGH):
        with book.rehearsal(), intercept.intercepting(Tape([[0.5, 0.25, 0.75]], 3, book=book)):
            fn()
    assert book.fixed()
    found = []
    for values in ([0.5, 0.25, 0.75], [0.1, 0.2, 0.3]):
        with intercept.intercepting(Tape([values], 3, book=book)):
            found.append(fn())
    assert found[0] == found[1] == fn()


def verify_with(seed: Callable[[Any], Any]) -> Callable[..., list[int]]:
    def verify(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        own = np.random.default_rng(seed(rng))
        return [int(own.random() >= p[0, 0])]

    return verify


TAPES = [[v, w, *[0.5] * 8] for v in (0.125, 0.375, 0.625, 0.875) for w in (0.25, 0.75)]


def test_a_seed_of_every_call_makes_the_tape_idle() -> None:
    subject = adapter(verify_with(lambda rng: 7))
    _, reply = subject.answer(*request(8, TAPES))
    assert len(set(reply["tokens"][:, 0].tolist())) == 1
    assert reply["draw_counts"].tolist() == [0] * 8
    assert subject.book.fixed() == ["numpy seed 7"]


def test_a_seed_from_the_tape_is_a_place_of_the_tape() -> None:
    subject = adapter(verify_with(lambda rng: int(rng.integers(2**31))))
    _, reply = subject.answer(*request(8, TAPES))
    assert reply["tokens"][:, 0].tolist() == [0, 1] * 4
    assert reply["draw_counts"].tolist() == [2] * 8
    assert subject.book.fixed() == []


def test_a_seed_of_the_input_makes_the_tape_idle() -> None:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        return [int(np.random.default_rng([int(drafts[0]), 3]).random() * 2)]

    _, reply = adapter(verify).answer(*request(8, TAPES))
    assert len(set(reply["tokens"][:, 0].tolist())) == 1


def test_a_generator_that_outlives_its_call_is_of_the_tape() -> None:
    kept: list[Any] = []

    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        if not kept:
            kept.append(torch.Generator().manual_seed(0))
        return [int(torch.rand((), generator=kept[0]) * 2)]

    subject = adapter(verify, arrays="numpy")
    subject.answer(*request(1, [[0.5] * 9]))  # makes the generator
    _, reply = subject.answer(*request(2, [[0.25] * 9, [0.75] * 9]))
    assert reply["tokens"][:, 0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("draw", "every"),
    [
        (lambda g: torch.rand((), generator=g), False),
        (lambda g: 1 - (-torch.empty(1, dtype=torch.float64).exponential_(generator=g)).exp(), False),
        (lambda g: torch.multinomial(torch.tensor([0.5, 0.5]), 1, generator=g) * 0.5, False),
        (lambda g: torch.rand((), generator=g.manual_seed(int(g.initial_seed()) ^ 1)), False),
        (lambda g: torch.ops.aten.rand.generator([], generator=g), True),  # this operator is not replaced
    ],
)
def test_draws_from_the_generator_of_a_call_are_of_the_tape(draw: Any, every: bool) -> None:
    def verify(p: Any, q: Any, drafts: Any, generator: Any) -> list[int]:
        return [int(draw(generator) * 2)]

    subject = adapter(verify, arrays="numpy")
    _, reply = subject.answer(*request(2, [[0.25] * 9, [0.75] * 9]))
    assert reply["tokens"][:, 0].tolist() == [0, 1]
    assert subject.every_operator == every


def test_generators_of_the_process_are_as_they_were() -> None:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        torch.manual_seed(7)
        np.random.seed(7)
        random.seed(7)
        return [int(torch.rand(()) + np.random.random() + random.random() < 1.5)]

    before = torch.get_rng_state(), repr(np.random.get_state()), random.getstate()
    for tape in (TAPES, None):
        adapter(verify, arrays="numpy").answer(*request(8, tape))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (repr(np.random.get_state()), random.getstate()) == before[1:]


@pytest.mark.parametrize("seed", [0, -1, 2**62 + 5, 2**64 - 1])
def test_every_seed_of_torch_shows(seed: int) -> None:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        torch.manual_seed(seed)
        return [int(torch.rand(()) * 2)]

    torch.manual_seed(seed)  # so that the call sets the state that torch already has
    _, reply = adapter(verify, arrays="numpy").answer(*request(8, TAPES))
    assert len(set(reply["tokens"][:, 0].tolist())) == 1
    assert reply["draw_counts"].tolist() == [0] * 8


def drawn_from(fn: Callable[[], list[float]], *values: float) -> list[float]:
    with intercept.intercepting(Tape([list(values)], 3)):
        return fn()


def test_copies_and_children_of_generators_have_the_numbers_that_numpy_gives_them() -> None:
    def copied() -> list[float]:
        rng = np.random.default_rng()
        other = copy.deepcopy(rng)
        return [rng.random(), other.random(), other.random()]

    def spawned() -> list[float]:
        rng = np.random.default_rng(3)
        return [child.random() for child in (*rng.spawn(1), *rng.spawn(1), *np.random.default_rng(3).spawn(1))]

    assert drawn_from(copied, 0.5, 0.25, 0.75) == [0.5, 0.5, 0.25]
    assert drawn_from(spawned, 0.5, 0.25, 0.75) == [0.5, 0.25, 0.5]


def test_equal_seeds_of_other_types_are_equal() -> None:
    assert drawn_from(lambda: [np.random.default_rng(s).random() for s in (np.int64(7), 7)], 0.5, 0.25) == [0.5, 0.5]
    assert drawn_from(lambda: [random.Random(s).random() for s in (-5, 5)], 0.5, 0.25) == [0.5, 0.5]


def test_sizes_are_refused_as_by_their_libraries() -> None:
    for fn in (lambda: torch.rand(-1), lambda: np.random.random(-1)):
        with pytest.raises((ValueError, RuntimeError)):
            drawn_from(fn, 0.5, 0.25)
    assert drawn_from(lambda: torch.rand(np.int64(1)).tolist(), 0.5) == [0.5]


def test_a_call_within_an_import_draws_from_its_tape(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "checks_itself.py").write_text(
        "import numpy as np\n"
        "from draftproof.declare import adapter\n"
        "from test_seeds import TAPES, request\n"
        "subject = adapter(lambda p, q, drafts: [int(np.random.random() * 2)])\n"
        "reply = subject.answer(*request(8, TAPES))[1]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = importlib.import_module("checks_itself").reply
    assert found["tokens"][:, 0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert found["draw_counts"].tolist() == [1] * 8


def test_equal_numbers_by_two_routes_have_one_source() -> None:
    """Two generators with the same seed and algorithm have equal numbers. Two generators of different algorithms, or
    two generators that share a bit generator, have different numbers.
    """

    def drawn(make: Any) -> list[int]:
        def verify(p: Any, q: Any, drafts: Any) -> list[int]:
            a, b = make(int(np.random.default_rng().integers(2**31)))
            return [int(a() * 2), int(b() * 2)]

        tapes = [[0.5, *numbers, *[0.5] * 6] for numbers in ((0.25, 0.75), (0.75, 0.25))]
        _, reply = adapter(verify, arrays="numpy").answer(*request(2, tapes))
        return [int(2 * a + b) for a, b in reply["tokens"]]

    def legacy(seed: int) -> Any:
        np.random.seed(seed)
        return np.random.random, np.random.RandomState(seed).random_sample

    def module(seed: int) -> Any:
        random.seed(seed)
        return random.random, random.Random(seed).random

    def shared(seed: int) -> Any:
        bits = np.random.PCG64(seed)
        return np.random.Generator(bits).random, np.random.Generator(bits).random

    equal = [
        legacy,
        module,
        lambda seed: (np.random.default_rng(seed).random, np.random.default_rng(np.random.SeedSequence(seed)).random),
        lambda seed: (np.random.default_rng(seed).random, np.random.Generator(np.random.PCG64(seed)).random),
    ]
    assert [drawn(make) for make in equal] == [[0, 3]] * len(equal)
    others = [shared, lambda seed: (np.random.default_rng(seed).random, np.random.RandomState(seed).random_sample)]
    assert [drawn(make) for make in others] == [[1, 2]] * len(others)


def test_seeds_of_wide_ranges_are_drawn() -> None:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        seeds = [int(torch.randint(2**62, ())) >> 61, random.getrandbits(64) >> 63, random.randrange(2**63 - 1) >> 62]
        return seeds

    _, reply = adapter(verify, arrays="numpy").answer(*request(2, [[0.25] * 9, [0.75] * 9], drafts=2))
    assert reply["tokens"].tolist() == [[0, 0, 0], [1, 1, 1]]


def test_sources_of_one_call_are_independent() -> None:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        for i, x in enumerate(drafts):
            if random.random() * q[i, x] < p[i, x]:
                continue
            residual = np.maximum(p[i].astype(float) - q[i], 0)
            weights = residual if residual.any() else p[i].astype(float)
            return [*drafts[:i], int(np.random.choice(len(weights), p=weights / weights.sum()))]
        last = p[len(drafts)].astype(float)
        return [*drafts, int(np.random.choice(len(last), p=last / last.sum()))]

    def generate(target: Any, proposal: Any, length: int, drafts: int, rng: Any) -> list[int]:
        other, text = np.random.default_rng(), [0]
        while len(text) <= length:
            p, q = target[text[-1]], proposal[text[-1]]
            x = int(rng.choice(len(q), p=q))
            if other.random() * q[x] >= p[x]:
                residual = np.maximum(p - q, 0)
                x = int(rng.choice(len(p), p=residual / residual.sum()))
            text.append(x)
        return text[1:]

    assert draftproof.check(verify, tier="sampled", keep=False, raises=False).status == "passed"
    assert draftproof.check(None, generate=generate, keep=False, raises=False).status == "passed"
