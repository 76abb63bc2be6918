"""Compares the rows of a model with its cache with those of passes without a cache, before a run depends on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..capture.errors import CaptureError
from ..capture.hub import TransformersModel
from ..capture.options import Filter
from .context import Context

COPIES = 4
"""Number of passes that show how far the logits move by roundings."""
SIBLINGS = 14
"""Rejected drafts between the two paths of the tree. Attention that counts nodes as positions is then far off."""
FACTOR = 2
"""Logits may differ by this many times the move: both of the passes that are compared round."""


def check(model: TransformersModel, trees: bool, tokens: Iterable[int] = ()) -> None:
    """Checks the rows of chains, of a chain after rejected drafts and, if `trees`, of a tree and after a path of it.

    tokens: the texts that are passed begin with the first different ones of these; others are random.

    The bound is FACTOR times the change of the logits when noise of the size of a rounding is added to the output of
    every module, so it holds for every type and depth of a model. Changes are root mean squares of the row that changes
    most.

    Raises: CaptureError if logits differ by more than the bound, or a pass fails.
    Cost: at most 9 passes, over 154 tokens in all.
    """
    drawn = np.random.default_rng(0).integers(model.vocabulary(), size=12).tolist()
    ids = [min(token, model.vocabulary() - 1) for token in [*dict.fromkeys(tokens), *drawn][:12]]
    first, (a, b, c, d, e, x, y, z) = ids[:4], ids[4:]
    # The last two texts share the first seven tokens: y is fed and rejected, then z is fed.
    texts = [[*first, a, c, e, z], [*first, b, d, x, y], [*first, b, d, x, z]]
    what = "a text"
    try:
        clean = _logits(model, texts)
        with _rounded(model.model):
            moved = _logits(model, texts * COPIES)
        bound = FACTOR * float(_size(moved - clean.repeat(COPIES, 1, 1)).max())
        for what, rows_of in [("a chain", _chain), ("a tree", _tree)][: 1 + trees]:
            differ = max(float(_size(row.float() - clean[text, at])) for row, text, at in rows_of(model, texts))
            if differ > bound:
                found = f"logits of {what} that are off by {differ:.2g} (roundings explain {bound:.2g})"
                raise _refused(model, what, found)
    except CaptureError:
        raise
    except Exception as error:
        reason = (str(error).strip().splitlines() or [""])[0]
        found = f"{type(error).__name__} ({reason[:120]}) in a pass over {what}"
        raise _refused(model, what, found) from error


Rows = list[tuple[Tensor, int, int]]
"""Logits [V] with the number of the text and the index of the token that they follow."""


def _chain(model: TransformersModel, texts: list[list[int]]) -> Rows:
    context = Context(model, Filter(), model.vocabulary())
    rows = [(row, 1, i) for i, row in enumerate(context.logits(texts[1][:4])[0])]
    context.commit(range(4))
    rows += [(row, 1, 4 + i) for i, row in enumerate(context.logits(texts[1][4:])[0])]
    if context.cached != len(texts[1]):
        raise _refused(model, "a chain", f"a cache of {context.cached} tokens after {len(texts[1])}")
    context.commit(range(3))
    return [*rows, (context.logits(texts[2][7:])[0, 0], 2, 7)]


def _tree(model: TransformersModel, texts: list[list[int]]) -> Rows:
    """Feeds two paths, the first level alone, as a draft model does; the last node follows one of the same pass."""
    context = Context(model, Filter(), model.vocabulary())
    context.logits(texts[0][:4])
    context.commit(range(4))
    (a, c, e), (b, d) = texts[0][4:7], texts[1][4:6]
    last = SIBLINGS + 1
    first = context.logits([a, *[c] * SIBLINGS, b], [-1] * (last + 1))[0, [0, last]]
    second = context.logits([c, d, e], [0, last, last + 1])[0]
    context.commit([last, last + 2])
    after = context.logits(texts[1][6:])[0]
    places = [(0, 4), (1, 4), (0, 5), (1, 5), (0, 6), (1, 6), (1, 7)]
    return [(row, *place) for row, place in zip([*first, *second, *after], places, strict=True)]


def _refused(model: TransformersModel, what: str, found: str) -> CaptureError:
    chains = "; chains, as in 1x4, are right for this model" if what == "a tree" else ""
    kind = type(model.model).__name__
    wanted = f"the logits of a pass without cache: the attention or the state of {kind} is not supported{chains}"
    return CaptureError(f"model {model.name}", found, wanted)


def _logits(model: TransformersModel, texts: list[list[int]]) -> Tensor:
    device = next(model.model.parameters()).device
    with torch.inference_mode():
        logits: Tensor = model.model(input_ids=torch.tensor(texts, device=device), use_cache=False).logits.float()
    return logits


def _size(change: Tensor) -> Tensor:
    """Returns the root mean square of each row. Differences of two logits -inf are NaN and count as 0."""
    return change.nan_to_num().square().mean(-1).sqrt()


@contextmanager
def _rounded(model: Any) -> Iterator[None]:
    """Within the block, adds noise of the size of a rounding to the output of every module without submodules."""
    random = torch.Generator().manual_seed(0)
    # In half precision a sum of products rounds once, at its end. In float32 it rounds after each product, unless torch
    # may multiply in a shorter type. Logits of float64 are compared in float32.
    single = {"high": 2.0**-10, "medium": 2.0**-7}.get(torch.get_float32_matmul_precision(), 2.0**-20)

    def hook(module: Any, given: Any, output: Any) -> Any:
        if not (isinstance(output, Tensor) and output.is_floating_point()):
            return output
        rounding = max(torch.finfo(output.dtype).eps, single if output.dtype in (torch.float32, torch.float64) else 0.0)
        noise = torch.randn(output.shape, generator=random).to(output)
        return output + (rounding * output.float().square().mean(-1, keepdim=True).sqrt()).to(output.dtype) * noise

    hooks = [module.register_forward_hook(hook) for module in model.modules() if not list(module.children())]
    try:
        yield
    finally:
        for one in hooks:
            one.remove()
