"""Right verifiers made from a seed: source texts composed of parts in usual styles.

All of them draw from p if the residual has no mass, because rows next to p = q may round so that a draft is rejected
although p > q at no token.

In the parts `@g` stands for the argument that passes a generator on, and `@a` for its name after other arguments.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

HALF = ("float16", "bfloat16")


@dataclass(frozen=True)
class Written:
    """A function as text, and its declaration."""

    style: str
    text: str
    declared: dict[str, Any] = field(hash=False)
    parts: frozenset[str] = frozenset()

    @property
    def fn(self) -> Callable[..., Any]:
        """The function `verify` of the text. Messages show its lines."""
        file, names = f"<{self.style} {hash(self.text)}>", {}
        linecache.cache[file] = len(self.text), None, self.text.splitlines(True), file
        exec(compile(self.text, file, "exec"), names)
        return names["verify"]


# Parts in each of the three libraries (torch, numpy, lists). accepts(p, q) has probability min(1, p / q); pick draws by
# weights that have mass.

COINS = {
    "torch": [
        "torch.rand(()@g) * q < p",
        "torch.rand((), dtype=torch.float64@g) * q < p",
        "torch.rand(1, dtype=torch.float64@g).item() < p / q",
        "torch.empty(()).uniform_(@u) * q < p",
        "torch.bernoulli((p / q).clamp(max=1)@g) == 1",
        "(torch.stack([torch.minimum(p, q), (q - p).clamp(min=0)]) / torch.empty(2).exponential_(@u)).argmax() == 0",
    ],
    "numpy": [
        "@n.random() * q < p",
        "@n.random() < p / q",
        "@n.uniform(0, q) < p",
    ],
    "list": [
        "random.random() * q < p",
        "random.random() < p / q",
        "random.uniform(0, q) < p",
    ],
}
PICKS = {
    "torch": [
        "return int(torch.multinomial(w, 1@g))",
        "return int((w / w.sum()).multinomial(1@g))",
        "return int((w / torch.empty_like(w).exponential_(@u)).argmax())",
        "return int((w.log() - torch.empty_like(w).exponential_(@u).log()).argmax())",
        "live = w.nonzero()[:, 0]\n"
        "    noise = torch.empty(len(w), dtype=torch.float64).exponential_(@u)\n"
        "    return int(live[(noise[live] / w[live]).argmin()])",
        "u = torch.rand(len(w), dtype=torch.float64@g).clamp(min=2.0**-54)\n"
        "    return int((w.double().log() - (-u.log()).log()).argmax())",
        "sums = w.double().cumsum(0)\n"
        "    at = torch.searchsorted(sums, torch.rand(1, dtype=torch.float64@g) * sums[-1], right=True)\n"
        "    return min(int(at), int(w.nonzero()[-1]))",
        "sums = w.double().cumsum(0)\n    return int((torch.rand(()@g) * sums[-1] < sums).int().argmax())",
    ],
    "numpy": [
        "return int(@n.choice(len(w), p=w / w.sum()))",
        "live = np.flatnonzero(w)\n    return int(live[(@n.exponential(size=len(w))[live] / w[live]).argmin()])",
        "live = np.flatnonzero(w)\n    return int(live[(np.log(w[live]) + @n.gumbel(size=len(w))[live]).argmax()])",
        "sums = np.cumsum(w)\n"
        '    return min(int(np.searchsorted(sums, @n.random() * sums[-1], side="right")), int(np.flatnonzero(w)[-1]))',
    ],
    "list": [
        "return random.choices(range(len(w)), w)[0]",
        "return random.choices(range(len(w)), cum_weights=list(itertools.accumulate(w)))[0]",
        "clocks = [random.expovariate(1.0) for _ in w]\n"
        "    return min((x for x in range(len(w)) if w[x] > 0), key=lambda x: clocks[x] / w[x])",
        "reached, u = 0.0, random.random() * sum(w)\n"
        "    for x, weight in enumerate(w):\n"
        "        reached += weight\n"
        "        if u < reached:\n"
        "            return x\n"
        "    return max(x for x, weight in enumerate(w) if weight > 0)",
    ],
}
RESTS = {
    "torch": ["(p - q).clamp(min=0)", "torch.relu(p - q)", "torch.where(p > q, p - q, 0.0)", "p - torch.minimum(p, q)"],
    "numpy": ["np.maximum(p - q, 0)", "np.where(p > q, p - q, 0.0)", "(p - q).clip(0)", "p - np.minimum(p, q)"],
    "list": ["[max(a - b, 0.0) for a, b in zip(p, q)]", "[a - min(a, b) for a, b in zip(p, q)]"],
}
MASSES = {
    "torch": ["rest.sum() > 0", "rest.max() > 0", "(rest > 0).any()", "bool(rest.any())"],
    "numpy": ["rest.sum() > 0", "rest.max() > 0", "(rest > 0).any()"],
    "list": ["sum(rest) > 0", "max(rest) > 0", "any(rest)"],
}
SHARED = {"torch": "torch.minimum(q, p / k)", "numpy": "np.minimum(q, p / k)"}
SHARED["list"] = "[min(b, a / k) for a, b in zip(p, q)]"
LESS = {"torch": "(p - held * n).clamp(min=0)", "numpy": "np.maximum(p - held * n, 0)"}
LESS["list"] = "[max(a - b * n, 0.0) for a, b in zip(p, held)]"
NORMAL = dict.fromkeys(("torch", "numpy"), "w / w.sum()") | {"list": "[x / total for total in [sum(w)] for x in w]"}
SUM = dict.fromkeys(("torch", "numpy"), "float(held.sum())") | {"list": "sum(held)"}
WITHOUT = {"torch": "w * (torch.arange(len(w)) != x)", "numpy": "np.where(np.arange(len(w)) == x, 0.0, w)"}
WITHOUT["list"] = "[0.0 if y == x else w[y] for y in range(len(w))]"
IMPORTS = {
    "torch": "import torch",
    "numpy": "import numpy as np",
    "list": "import itertools\nimport math\nimport random",
}

# Decisions that call the parts above. Their texts are the same for the three libraries.

CHAINS = [
    """    for i, x in enumerate(drafts):
        if not accepts(p[i][x], q[i][x]@a):
            return [*drafts[:i], pick(left(p[i], q[i])@a)]
    return [*drafts, pick(p[len(drafts)]@a)]
""",
    """    n = 0
    while n < len(drafts) and accepts(p[n][drafts[n]], q[n][drafts[n]]@a):
        n += 1
    return [*drafts[:n], pick(left(p[n], q[n]) if n < len(drafts) else p[n]@a)]
""",
    """    kept = [accepts(p[i][x], q[i][x]@a) for i, x in enumerate(drafts)]
    n = next((i for i, one in enumerate(kept) if not one), len(drafts))
    weights = p[n] if all(kept) else left(p[n], q[n])
    return [*drafts[:n], pick(weights@a)]
""",
    """    tokens = []
    for i, x in enumerate(drafts):
        if accepts(p[i][x], q[i][x]@a):
            tokens.append(x)
        else:
            tokens.append(pick(left(p[i], q[i])@a))
            break
    else:
        tokens.append(pick(p[len(drafts)]@a))
    return tokens
""",
    """    def go_on(i):
        if i == len(drafts):
            return [pick(p[i]@a)]
        if accepts(p[i][drafts[i]], q[i][drafts[i]]@a):
            return [drafts[i], *go_on(i + 1)]
        return [pick(left(p[i], q[i])@a)]
    return go_on(0)
""",
    """    for i, x in enumerate(drafts):
        y = pick(p[i]@a)
        if y != x:
            return [*drafts[:i], y]
    return [*drafts, pick(p[len(drafts)]@a)]
""",
    """    last = [pick(left(p[i], q[i])@a) for i in range(len(drafts))]
    for i, x in enumerate(drafts):
        if not accepts(p[i][x], q[i][x]@a):
            return [*drafts[:i], last[i]]
    return [*drafts, pick(p[len(drafts)]@a)]
""",
]
TREES = [
    """    node, tokens = -1, []
    while True:
        row = p[node + 1]
        for child in [i for i in range(len(drafts)) if parents[i] == node]:
            x = drafts[child]
            if accepts(row[x], q[child][x]@a):
                tokens.append(x)
                node = child
                break
            row = normal(left(row, q[child]))
        else:
            return [*tokens, pick(row@a)]
""",
    """    node, tokens = -1, []
    while node is not None:
        tokens.append(pick(p[node + 1]@a))
        same = [i for i, x in enumerate(drafts) if parents[i] == node and x == tokens[-1]]
        node = same[0] if same else None
    return tokens
""",
]
RECURSIVE = [
    """    for x in drafts:
        if accepts(p[x], q[x]@a):
            return x
        p = normal(left(p, q))
    return pick(p@a)
""",
    """    token = -1
    for x in drafts:
        keep = accepts(p[x], q[x]@a)
        token = x if keep and token < 0 else token
        p = normal(left(p, q))
    return token if token >= 0 else pick(p@a)
""",
]
WITHOUT_REPLACEMENT = """    for x in drafts:
        row = normal(q)
        if accepts(p[x], row[x]@a):
            return x
        p, q = normal(left(p, row)), without(q, x)
    return pick(p@a)
"""
K_SEQ = """    k = len(drafts)
    for x in drafts:
        if accepts(p[x], k * q[x]@a):
            return x
    held = shared(p, q, k)
    b = mass(held)
    return pick(after(p, held, sum((1 - b) ** n for n in range(k)))@a)
"""
VECTORS = [
    """    at = torch.arange(len(drafts))
    keep = @v
    n = int(keep.long().cumprod(0).sum())
    weights = left(p[n], q[n]) if n < len(drafts) else p[n]
    return torch.cat([drafts[:n], torch.tensor([pick(weights@a)])])
""",
    """    at = torch.arange(len(drafts))
    keep = @v
    rest = (p[:-1] - q).clamp(min=0)
    rest = torch.where(rest.sum(1, keepdim=True) > 0, rest, p[:-1])
    weights = torch.cat([rest, p[-1:]])
    n = torch.where(keep.all(), len(drafts), (~keep).long().argmax())
    return torch.cat([drafts[:n], torch.tensor([pick(weights[n]@a)])])
""",
]
VECTOR_COINS = [
    "torch.rand(len(drafts)@g) * q[at, drafts] < p[at, drafts]",
    "torch.rand(len(drafts), dtype=torch.float64@g) * q[at, drafts] < p[at, drafts]",
    "torch.rand(drafts.shape@g) < p[at, drafts] / q[at, drafts]",
    "torch.bernoulli((p[at, drafts] / q[at, drafts]).clamp(max=1)@g) == 1",
]

# Functions of batches. `coins` are [B, L], or one column for each depth.

TORCH_BATCH = """    count, longest = drafts.shape
    rows, places = torch.arange(count), torch.arange(longest + 1)
@l    inside = places[:longest] < lengths[:, None]
    index = drafts.clamp(min=0)[:, :, None]
    own, other = p[:, :longest].gather(2, index)[:, :, 0], q.gather(2, index)[:, :, 0]
@c    row = p[rows, n]
    rest = (row - q[rows, n.clamp(max=longest - 1)]).clamp(min=0)
    w = torch.where(((n < lengths) & (rest.sum(1) > 0))[:, None], rest, row)
    @w
    tokens = torch.cat([drafts, torch.full((count, 1), -1)], 1)
    tokens[rows, n] = last
    return torch.where(places <= n[:, None], tokens, -1)
"""
NUMPY_BATCH = """    count, longest = drafts.shape
    rows, places = np.arange(count), np.arange(longest + 1)
@l    inside = places[:longest] < lengths[:, None]
    index = drafts.clip(0)[:, :, None]
    own, other = (np.take_along_axis(r, index, 2)[:, :, 0] for r in (p[:, :longest], q))
@c    row = p[rows, n]
    rest = np.maximum(row - q[rows, n.clip(max=longest - 1)], 0)
    w = np.where(((n < lengths) & (rest.sum(1) > 0))[:, None], rest, row)
    @w
    tokens = np.full((count, longest + 1), -1)
    tokens[:, :longest] = drafts
    tokens[rows, n] = last
    return np.where(places <= n[:, None], tokens, -1)
"""
EQUAL = {"torch": "    lengths = torch.full((count,), longest)\n", "numpy": "    lengths = np.full(count, longest)\n"}
TYPES = ["", ", dtype=torch.float64"]
BATCH_COINS = {
    "padded": "    n = (inside & (torch.rand(count, longest@d@g) * other < own)).long().cumprod(1).sum(1)\n",
    "packed": "    coins = torch.zeros(count, longest@d)\n"
    "    coins[inside] = torch.rand(int(lengths.sum())@d@g)\n"
    "    n = (inside & (coins * other < own)).long().cumprod(1).sum(1)\n",
    "depths": "    n, alive = torch.zeros(count, dtype=torch.long), torch.ones(count, dtype=torch.bool)\n"
    "    for i in range(longest):\n"
    "        alive = alive & inside[:, i] & (torch.rand(count@d@g) * other[:, i] < own[:, i])\n"
    "        n += alive\n@e",
    "numpy": "    n = np.cumprod(inside & (@n.random((count, longest)) * other < own), 1).sum(1)\n",
}
EARLY = ["", "        if not alive.any():\n            break\n"]
BATCH_PICKS = {
    "torch": [
        "last = torch.multinomial(w, 1@g)[:, 0]",
        "last = (w / w.sum(1, keepdim=True)).multinomial(1@g)[:, 0]",
        "last = (w / torch.empty_like(w).exponential_(@u)).argmax(1)",
        "last = (w.log() - torch.empty_like(w).exponential_(@u).log()).argmax(1)",
        "sums = w.double().cumsum(1)\n"
        "    at = (sums <= torch.rand(count, 1, dtype=torch.float64@g) * sums[:, -1:]).sum(1)\n"
        "    last = torch.minimum(at, ((w > 0) * torch.arange(w.shape[1])).argmax(1))",
    ],
    "numpy": [
        "sums = w.cumsum(1)\n"
        "    at = (sums <= @n.random((count, 1)) * sums[:, -1:]).sum(1)\n"
        "    last = np.minimum(at, ((w > 0) * np.arange(w.shape[1])).argmax(1))",
        "with np.errstate(divide='ignore'):\n        last = (@n.exponential(size=w.shape) / w).argmin(1)",
    ],
}


class _Writer:
    """Chooses parts by a seed."""

    def __init__(self, seed: int) -> None:
        self.of = random.Random(seed)
        self.declared: dict[str, Any] = {}
        self.chosen: set[str] = set()

    def one(self, parts: list[str]) -> str:
        chosen = self.of.choice(parts)
        self.chosen.add(chosen)
        return chosen

    def start(self, library: str, *, halves: bool = True) -> str:
        """Chooses the form of the rows, and whether a generator is passed. Returns the lines of source that convert p
        and q to the probabilities that a decision reads."""
        self.library, self.given = library, library != "list" and self.of.random() < 0.3
        types = (
            ["float32", "float64", "float16", "bfloat16"] if library == "torch" else ["float32", "float64", "float16"]
        )
        dtype = self.of.choices(types, [4, 2, 1, 1][: len(types)])[0] if halves else "float32"
        logits, renormalised = self.of.random() < 0.25, self.of.random() < 0.25
        self.declared |= {"arrays": library, "dtype": dtype, "logits": logits}
        lines = []
        if library == "torch":
            if dtype in HALF or self.of.random() < 0.4:
                wide = self.of.choice([".float()", ".double()"]) if dtype != "float64" else ".double()"
                lines.append(f"p, q = p{wide}, q{wide}")
            lines += ["p, q = p.softmax(-1), q.softmax(-1)"] * logits
            lines += ["p, q = p / p.sum(-1, keepdim=True), q / q.sum(-1, keepdim=True)"] * (renormalised and not logits)
        elif library == "numpy":
            lines.append("p, q = p.astype(np.float64), q.astype(np.float64)")
            lines += ["p, q = np.exp(p), np.exp(q)"] * logits
            lines += ["p, q = (r / r.sum(-1, keepdims=True) for r in (p, q))"] * (renormalised or logits)
        elif logits and self.declared.get("level") == "position":
            lines.append("p, q = ([math.exp(x) for x in row] for row in (p, q))")
        elif logits:
            lines.append("p, q = ([[math.exp(x) for x in row] for row in rows] for rows in (p, q))")
        return "".join(f"    {line}\n" for line in lines)

    def filled(self, text: str) -> str:
        """Returns the text with its placeholders replaced by the arguments that pass a generator."""
        named = {"torch": "generator", "numpy": "rng", "list": ""}[self.library] if self.given else ""
        text = text.replace("@g", ", generator=generator" if named else "")
        text = text.replace("@u", "generator=generator" if named else "").replace("@n", named or "np.random")
        return text.replace("@a", f", {named}" if named else "")

    def parts(self, *names: str) -> str:
        """Returns the definitions of the parts that a decision calls."""
        one, library = self.one, self.library
        rest = one(RESTS[library])
        known = {
            "accepts": f"def accepts(p, q@a):\n    return bool({one(COINS[library])})",
            "pick": f"def pick(w@a):\n    {one(PICKS[library])}",
            "left": f"def left(p, q):\n    rest = {rest}\n    return rest if {one(MASSES[library])} else p",
            "normal": f"def normal(w):\n    return {NORMAL[library]}",
            "without": f"def without(w, x):\n    return {WITHOUT[library]}",
            "shared": f"def shared(p, q, k):\n    return {SHARED[library]}",
            "mass": f"def mass(held):\n    return {SUM[library]}",
            "after": f"def after(p, held, n):\n    rest = {LESS[library]}\n"
            + f"    return rest if {one(MASSES[library])} else p",
        }
        return "\n\n".join([IMPORTS[library], *(known[name] for name in names)]) + "\n\n"

    def whole(self, style: str, rows: str, body: str, *names: str, head: str = "p, q, drafts") -> Written:
        text = self.parts(*names) + f"def verify({head}@a):\n{rows}{body}"
        return Written(style, self.filled(text), self.declared, frozenset({style, *self.chosen}))

    def scalar(self, style: str, library: str, bodies: list[str], *names: str, head: str = "p, q, drafts") -> Written:
        rows = self.start(library) + "    drafts = [int(x) for x in drafts]\n"
        body = self.one(bodies)
        used = [name for name in names if f"{name}(" in body]
        return self.whole(style, rows, body, *used, head=head)

    def batch(self, style: str, library: str, body: str, coins: str, *, ragged: bool) -> Written:
        rows = self.start(library, halves=False)
        self.declared |= {"batched": True}
        body = body.replace("@l", "" if ragged else EQUAL[library]).replace("@c", coins)
        body = body.replace("@e", self.one(EARLY)).replace("@d", self.one(TYPES))
        body = body.replace("@w", self.one(BATCH_PICKS[library]))
        return self.whole(style, rows, body, head="p, q, drafts, lengths" if ragged else "p, q, drafts")


def _chain(library: str) -> Callable[[_Writer], Written]:
    return lambda w: w.scalar(f"{library} chain", library, CHAINS, "accepts", "pick", "left")


def _vectors(w: _Writer) -> Written:
    rows = w.start("torch")
    body = w.one(VECTORS).replace("@v", w.one(VECTOR_COINS))
    return w.whole("vectors", rows, body, *(name for name in ("pick", "left") if f"{name}(" in body))


def _tree(w: _Writer) -> Written:
    w.declared |= {"level": "tree", "drafts": "iid_paths"}
    names = "accepts", "pick", "left", "normal"
    return w.scalar("tree", w.of.choice(list(COINS)), TREES, *names, head="p, q, drafts, parents")


def _position(style: str, drafts: str, bodies: list[str]) -> Callable[[_Writer], Written]:
    def write(w: _Writer) -> Written:
        w.declared |= {"level": "position", "drafts": drafts}
        names = "accepts", "pick", "left", "normal", "without", "shared", "mass", "after"
        return w.scalar(style, w.of.choice(list(COINS)), bodies, *names)

    return write


def _batch(style: str, library: str, coins: str, ragged: float) -> Callable[[_Writer], Written]:
    body = TORCH_BATCH if library == "torch" else NUMPY_BATCH
    return lambda w: w.batch(style, library, body, BATCH_COINS[coins], ragged=w.of.random() < ragged)


STYLES: tuple[Callable[[_Writer], Written], ...] = (
    _chain("torch"),
    _chain("numpy"),
    _chain("list"),
    _vectors,
    _tree,
    _position("recursive rejection", "iid", RECURSIVE),
    _position("without replacement", "without_replacement", [WITHOUT_REPLACEMENT]),
    _position("k-seq", "iid", [K_SEQ]),
    _batch("padded batch", "torch", "padded", 0.5),
    _batch("packed batch", "torch", "packed", 1.0),
    _batch("batch by depths", "torch", "depths", 0.5),
    _batch("numpy batch", "numpy", "numpy", 0.5),
)


def right_functions(seed: int = 1) -> Iterator[Written]:
    """Yields distinct right functions without end, one style after another."""
    seen: set[str] = set()
    turn = 0
    while True:
        made = STYLES[turn % len(STYLES)](_Writer(hash((seed, turn))))
        turn += 1
        key = made.text + str(made.declared)
        if key not in seen:
            seen.add(key)
            yield made


RACES = "expo", "gumbel", ".log()"  # parts with noise, for which the gate takes many seconds each


def covering(libraries: tuple[str, ...] = ("torch", "numpy", "list"), count: int = 400) -> list[Written]:
    """Returns, of the first `count` functions, the functions that have no race but a part or a style which no earlier
    function in the result has."""
    seen: set[str] = set()
    found = []
    for written in islice(right_functions(), count):
        new = written.parts - seen
        if new and written.declared["arrays"] in libraries and not any(word in written.text for word in RACES):
            found.append(written)
            seen |= new
    return found
