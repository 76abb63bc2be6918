"""autodraft-sd: its decision on a tree of drafts, which follows a token drawn at each node."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, functions_of, judged


def verify_tree() -> Any:
    import torch

    quiet = SimpleNamespace(**vars(torch) | {"cuda": SimpleNamespace(synchronize=lambda: None)})
    (decide,) = functions_of(ENGINE.root() / "opt_classic" / "utils.py", ["verify"], {"torch": quiet, "time": time})

    def autodraft_verify(p: Any, q: Any, drafts: Any, parents: Any) -> Any:
        depths = [0]
        for above in parents.tolist():
            depths.append(depths[above + 1] + 1)
        above = torch.where(
            parents < 0, torch.arange(len(drafts)), parents
        )  # a child of the root has itself as its parent
        nothing = (torch.zeros(1, 0, dtype=torch.int64), torch.tensor([1]), torch.zeros(1, 1))
        model = SimpleNamespace(draft=lambda *given: (*nothing, above, 0))
        tree = torch.cat([torch.zeros(1, dtype=torch.int64), drafts])[None]
        given = (torch.tensor(depths), None, [], torch.tensor([len(drafts) + 1]), above, model, 0, 0, 0)
        _, path, _, following, *_ = decide(torch.zeros(1, 0, dtype=torch.int64), p[None], tree, *given, lambda _, z: z)
        return [*path[1:], int(following[0, 0])]

    return adapter(autodraft_verify, "iid_paths", level="tree", logits=True, arrays="torch", races=False)


ENGINE = Engine(
    packages=("autodraft-sd==1.1.1",),
    replaces="the model and its cache, by nothing; the waits for a device, by nothing",
    adapters=(judged("verify", verify_tree, instances=()),),
)
