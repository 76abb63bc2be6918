"""Selection policies: which drafts of a batch are verified."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any

import numpy as np

from draftproof.wire import Fields

CUTS = ("before_verification", "after_with_token", "after")


@dataclass(frozen=True)
class Drafted:
    """The drafts of one request, in a chain or a tree; a parent comes before its children.

    drafts           [n] token ids
    parents          [n] the draft before each, -1 for the context itself
    q                [n, V] the row that each draft was drawn from
    legal            [n, V] whether the grammar allows the token there
    confidence       [n + 1] predicted acceptance of the next draft: before any draft, then after each
    accepted         number of drafts that were accepted one step ago
    past_confidence  [L] confidence before each position, one step ago

    Arrays are of numpy, torch tensors or lists, as `adapter(arrays=...)` declares.
    """

    drafts: Any
    parents: Any
    q: Any
    legal: Any
    confidence: Any
    accepted: int
    past_confidence: Any


@dataclass(frozen=True)
class Selection:
    """The argument of a policy.

    requests  one `Drafted` for each request of the batch
    budget    largest number of drafts that are verified, over all requests
    cost      cost of verifying 0, 1, .. drafts; the last entry applies to larger numbers, too
    """

    requests: tuple[Drafted, ...]
    budget: int
    cost: tuple[float, ...]


def before_drafts(request: Drafted) -> Any:
    """Returns [n]: the confidence before each draft, a prediction that does not depend on the draft's token."""
    return request.confidence[:-1]


def padded(
    view: Selection, values: Callable[[Drafted], Any] = before_drafts, beyond: float = 0.0
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Returns values(request) as one row for each request, float32 [requests, most drafts of a request]. Engines rank
    drafts by such an array. Entries after a request's drafts are `beyond`."""
    rows = np.full((len(view.requests), max(len(request.drafts) for request in view.requests)), beyond, np.float32)
    for row, request in zip(rows, view.requests, strict=True):
        n = len(request.drafts)
        row[:n] = values(request)[:n]
    return rows


Policy = Callable[[Selection], Sequence[Any]]
_TYPES = {"drafts": np.int64, "parents": np.int64, "legal": np.bool_}


def view_of(fields: Fields, arrays: str) -> Selection:
    """Returns the policy's argument for a message `select` of the program."""

    def made(name: str, values: Any) -> Any:
        array: Any = np.array(values, _TYPES.get(name, np.float64))
        if arrays == "torch":
            import torch

            return torch.from_numpy(array)
        return array if arrays == "numpy" else array.tolist()

    def request(one: Fields) -> Drafted:
        names = [field.name for field in fields_of(Drafted)]
        return Drafted(**{name: one[name] if name == "accepted" else made(name, one[name]) for name in names})

    return Selection(tuple(map(request, fields["requests"])), int(fields["budget"]), tuple(fields["cost"]))


def kept_of(chosen: Sequence[Any], fields: Fields) -> list[list[int]]:
    """Returns a list for each request, with 1 for each draft that is kept and 0 for the others. Raises: ValueError if
    `chosen` has another shape, or keeps a draft without its parent."""
    requests = fields["requests"]
    if len(chosen) != len(requests):
        raise ValueError(f"got choices for {len(chosen)} requests, expected {len(requests)}")
    kept = []
    for number, (choice, request) in enumerate(zip(chosen, requests, strict=True)):
        parents, n = request["parents"], len(request["parents"])
        if np.ndim(choice) == 0:
            length = operator.index(choice.item() if hasattr(choice, "item") else choice)
            if not 0 <= length <= n:
                raise ValueError(f"got {length} drafts for request {number}, expected 0 to {n}")
            flags = [int(i < length) for i in range(n)]
        else:
            flags = [int(bool(flag)) for flag in choice]
        if len(flags) != n:
            raise ValueError(f"got {len(flags)} flags for request {number}, expected {n}")
        for i, parent in enumerate(parents):
            if flags[i] and parent >= 0 and not flags[parent]:
                raise ValueError(f"draft {i} of request {number} is kept without draft {parent}, which comes before it")
        kept.append(flags)
    return kept
