"""nunspark: the decision of its loop on a tree of drafts, each drawn from q."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, beside, functions_of, judged


def sample_accepted_path() -> Any:
    mx = beside(__file__, "_mlx_by_torch.py").Mlx
    path = ENGINE.root() / "nunspark" / "tree_spec.py"
    accept, _ = functions_of(path, ["sample_accepted_path", "_categorical_from_probs"], {"mx": mx})

    def nunspark_path(p: Any, q: Any, drafts: Any, parents: Any) -> Any:
        below: dict[int, list[int]] = {}
        for node, above in enumerate(parents.tolist()):
            below.setdefault(above + 1, []).append(node + 1)
        token = {node + 1: int(x) for node, x in enumerate(drafts)}
        proposals = {above: q[nodes[0] - 1] for above, nodes in below.items()}
        kept, last, _ = accept(SimpleNamespace(children=below), token, proposals, dict(enumerate(p)), temp=1.0)
        return [*kept, last]

    return adapter(nunspark_path, "iid_paths", level="tree", logits=True, arrays="torch", races=False)


ENGINE = Engine(
    packages=("nunspark==0.13.0",),
    replaces="mlx, by torch",
    adapters=(judged("sample_accepted_path", sample_accepted_path, instances=()),),
)
