"""Checks the arguments of the verifiers and converts them to one form."""

from __future__ import annotations

import numbers
import operator
from dataclasses import dataclass

import torch
from torch import Tensor

from .draws import Uniforms
from .rows import Rows, Temperature

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclass
class Inputs:
    """The inputs of a verifier."""

    p: Rows
    q: Rows
    drafts: Tensor  # [B, n] int64; 0 after the length, so that every entry is a valid index
    lengths: Tensor  # [B] int64, number of drafts
    uniforms: Uniforms

    @property
    def device(self) -> torch.device:
        return self.drafts.device

    @property
    def there(self) -> Tensor:
        """Whether draft i is below the length of its row, [B, n]."""
        return torch.arange(self.drafts.shape[1], device=self.device) < self.lengths[:, None]


@dataclass
class Options:
    """Keywords that all verifiers share."""

    lengths: Tensor | None
    logits: bool
    temperature: Temperature
    generator: torch.Generator | None
    uniforms: Tensor | None
    check: bool

    def __post_init__(self) -> None:
        """Raises: ValueError for a keyword of another type, or for both a generator and uniforms."""
        want_tensors(
            **{name: getattr(self, name) for name in ("lengths", "uniforms") if getattr(self, name) is not None}
        )
        source = self.generator
        kind = type(source).__name__
        want(source is None or isinstance(source, torch.Generator), "generator", kind, "a torch.Generator or None")
        want(
            source is None or self.uniforms is None,
            "generator",
            "a generator and uniforms",
            "one source of random numbers",
        )
        if self.lengths is not None:
            want_integers("lengths", self.lengths)
        given = self.temperature
        number = isinstance(given, (Tensor, numbers.Real)) and not isinstance(given, bool)
        want(given is None or number, "temperature", given, "a number above 0, or a tensor")


def want(good: bool, place: str, found: object, wanted: object) -> None:
    if not good:
        raise ValueError(f"{place}: got {found}, expected {wanted}")


def want_count(place: str, value: object, least: int) -> None:
    """Raises: ValueError unless `value` is a whole number of at least `least`."""
    try:
        number = operator.index(value) if not isinstance(value, bool) else least - 1  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    want(number >= least, place, value, f"a whole number of at least {least}")


def want_tensors(**values: object) -> None:
    """Raises: ValueError unless every value is a dense tensor."""
    for name, value in values.items():
        want(isinstance(value, Tensor), name, type(value).__name__, "a torch.Tensor")
        layout = value.layout  # type: ignore[attr-defined]
        want(layout == torch.strided, f"{name}: layout", layout, torch.strided)
        want(value.dim() > 0, f"{name}: shape", (), "at least one dimension")  # type: ignore[attr-defined]


def want_integers(name: str, values: Tensor) -> None:
    whole = not (values.is_floating_point() or values.is_complex() or values.dtype == torch.bool)
    want(whole, f"{name}: dtype", values.dtype, "an integer type")


def want_rows(name: str, values: Tensor, shape: tuple[int | str, ...], device: torch.device) -> None:
    """Raises: ValueError unless `values` is floating point of this shape; a string stands for any size."""
    given = tuple(values.shape)
    fits = len(given) == len(shape) and all(isinstance(b, str) or a == b for a, b in zip(given, shape, strict=True))
    want(fits, f"{name}: shape", given, "(" + ", ".join(map(str, shape)) + ")")
    want(values.dtype in FLOATS, f"{name}: dtype", values.dtype, "float16, bfloat16, float32 or float64")
    want(values.device == device, f"{name}: device", values.device, device)
    want(given[-1] > 0, f"{name}: vocabulary", given[-1], "at least 1")


def want_temperature(options_logits: bool, temperature: Temperature, batch: int) -> None:
    if temperature is None:
        return
    want(options_logits, "temperature", "probabilities", "logits=True")
    if isinstance(temperature, Tensor):
        want(temperature.numel() in (1, batch), "temperature: shape", tuple(temperature.shape), f"() or ({batch},)")
        want(not temperature.is_complex(), "temperature: type", temperature.dtype, "real numbers")
        good = (temperature.double() >= 1e-308) & (temperature.double() <= 1e308)
        want(bool(good.all()), "temperature", temperature.tolist(), "numbers above 0, 1e-308 to 1e308")
    else:
        want(1e-308 <= temperature <= 1e308, "temperature", temperature, "a number above 0, 1e-308 to 1e308")


def drafts_of(drafts: Tensor, shape: tuple[int | str, ...], vocabulary: int, given: Options) -> tuple[Tensor, Tensor]:
    """Returns drafts as int64, with token 0 in place of padding by -1 along the last dimension, and lengths [B]."""
    fits = drafts.dim() == len(shape) and all(
        isinstance(b, str) or a == b for a, b in zip(drafts.shape, shape, strict=True)
    )
    want(fits, "drafts: shape", tuple(drafts.shape), "(" + ", ".join(map(str, shape)) + ")")
    want_integers("drafts", drafts)
    drafts = drafts.long()
    batch, n = drafts.shape[0], drafts.shape[-1]
    if given.lengths is None:
        ahead = (drafts >= 0).long().cumprod(-1).sum(-1)
        lengths = ahead if drafts.dim() == 2 else ahead.amin(1)
    else:
        want(tuple(given.lengths.shape) == (batch,), "lengths: shape", tuple(given.lengths.shape), f"({batch},)")
        want(given.lengths.device == drafts.device, "lengths: device", given.lengths.device, drafts.device)
        lengths = given.lengths.long()
    if given.check:
        bad = ((lengths < 0) | (lengths > n)).nonzero()
        if len(bad) > 0:
            want(False, f"lengths[{int(bad[0])}]", int(lengths[bad[0]]), f"0 .. {n}")
        there = torch.arange(n, device=drafts.device) < lengths.reshape(-1, *[1] * (drafts.dim() - 1))
        bad = (there & ((drafts < 0) | (drafts >= vocabulary))).nonzero()
        wanted = f"0 .. {vocabulary - 1}"
        if len(bad) == 0 and given.lengths is None:
            bad = ((drafts != -1) & ((drafts >= 0).long().cumprod(-1) == 0)).nonzero()
            wanted = "-1 after the drafts"
        if len(bad) > 0:
            place = tuple(int(i) for i in bad[0])
            want(False, f"drafts{list(place)}", int(drafts[place]), wanted)
    return drafts.clamp(0, vocabulary - 1), lengths


def inputs_of(p: Tensor, q: Tensor, drafts: Tensor, places: int, given: Options, proposals: int) -> Inputs:
    """Returns the checked inputs. `places`: largest number of random numbers that a row reads. `proposals`: number of
    rows of q for each batch row; a chain has one row of p more."""
    p_rows, q_rows = Rows("p", p, given.logits, given.temperature), Rows("q", q, given.logits, given.temperature)
    tokens, lengths = drafts_of(drafts, (p.shape[0], "K" if proposals == 1 else proposals), p.shape[2], given)
    uniforms = Uniforms(p.shape[0], places, p.device, given.generator, given.uniforms)
    if given.check:
        chain = p.shape[1] != q.shape[1]
        p_rows.check(lengths + 1)
        q_rows.check(lengths if chain else lengths.clamp(max=1))
        uniforms.check()
    return Inputs(p_rows, q_rows, tokens, lengths, uniforms)


def chain(p: Tensor, q: Tensor, drafts: Tensor, given: Options) -> Inputs:
    """Returns the inputs of a chain: p [B, L + 1, V], q [B, L, V], drafts [B, L]; L + 1 random numbers a row."""
    want_tensors(p=p, q=q, drafts=drafts)
    want_rows("p", p, ("B", "L + 1", "V"), p.device)
    b, n, v = p.shape[0], p.shape[1] - 1, p.shape[2]
    want(n >= 0, "p: rows", n + 1, "at least 1")
    want_rows("q", q, (b, n, v), p.device)
    want(drafts.device == p.device, "drafts: device", drafts.device, p.device)
    want(tuple(drafts.shape) == (b, n), "drafts: shape", tuple(drafts.shape), (b, n))
    want_temperature(given.logits, given.temperature, b)
    return inputs_of(p, q, drafts, n + 1, given, n)


def position(p: Tensor, q: Tensor, drafts: Tensor, more_places: int, given: Options) -> Inputs:
    """Returns the inputs of a position: p [B, V], q [B, V], drafts [B, K]; K + more_places random numbers a row."""
    want_tensors(p=p, q=q, drafts=drafts)
    want_rows("p", p, ("B", "V"), p.device)
    b, v = p.shape
    want_rows("q", q, (b, v), p.device)
    want(drafts.device == p.device, "drafts: device", drafts.device, p.device)
    want(drafts.dim() == 2 and drafts.shape[0] == b, "drafts: shape", tuple(drafts.shape), f"({b}, K)")
    want_temperature(given.logits, given.temperature, b)
    return inputs_of(p[:, None], q[:, None], drafts, drafts.shape[1] + more_places, given, 1)
