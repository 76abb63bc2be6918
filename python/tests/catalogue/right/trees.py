"""Right walks through a tree of drafts."""

from __future__ import annotations

import torch
from catalogue import correct


@correct("Recursive rejection among the children of each node, in draw order.", level="tree", drafts="iid_paths")
def tree_walk(p, q, drafts, parents):
    node, tokens = -1, []
    while True:
        law = p[node + 1]
        for child in (parents == node).nonzero()[:, 0].tolist():
            x = int(drafts[child])
            if torch.rand(()) * q[child, x] < law[x]:
                tokens.append(x)
                node = child
                break
            rest = (law - q[child]).clamp(min=0)
            law = rest / rest.sum() if rest.sum() > 0 else law
        else:
            return [*tokens, int(torch.multinomial(law, 1))]


@correct("Draws from p are followed through the tree as long as they were drafted.", level="tree", drafts="iid_paths")
def tree_match(p, q, drafts, parents):
    node, tokens = -1, []
    while True:
        token = int(torch.multinomial(p[node + 1], 1))
        tokens.append(token)
        matches = ((parents == node) & (drafts == token)).nonzero()
        if len(matches) == 0:
            return tokens
        node = int(matches[0])


@correct(
    "Children without replacement: each rejection takes the token out of the proposal.",
    level="tree",
    drafts="without_replacement_tree",
)
def tree_without_replacement(p, q, drafts, parents):
    node, tokens = -1, []
    while True:
        law, used, found = p[node + 1], [], False
        for child in torch.where(parents == node)[0].tolist():
            x = int(drafts[child])
            proposal = q[child].index_fill(0, torch.tensor(used, dtype=torch.long), 0.0)
            proposal = proposal / proposal.sum()
            if torch.rand(()) * proposal[x] < law[x]:
                node, found = child, True
                tokens.append(x)
                break
            rest = (law - proposal).clamp(min=0)
            law = rest / rest.sum() if rest.sum() > 0 else law
            used.append(x)
        if not found:
            return [*tokens, int(torch.multinomial(law, 1))]
