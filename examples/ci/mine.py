"""A verifier in numpy; put your verifier in its place."""

import numpy as np


def verify(p, q, drafts):
    for i, x in enumerate(drafts):
        if not np.random.random() * q[i, x] < p[i, x]:
            rest = np.maximum(p[i] - q[i], 0)
            return [*drafts[:i], drawn(rest if rest.any() else p[i])]
    return [*drafts, drawn(p[-1])]


def drawn(weights):
    weights = weights.astype(np.float64)
    return int(np.random.choice(len(weights), p=weights / weights.sum()))
