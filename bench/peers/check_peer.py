#!/usr/bin/env python3
"""Measures the time of checking a Python function, and of only calling it, for the benchmarks `python/`.

  check_peer.py --pq FILE --function right|wrong|draft --measure check|bare

Needs python3, torch, numpy and the package draftproof; DRAFTPROOF_PROGRAM names its program. --pq is not used.
Prints one JSON object: the number of calls, and processor seconds. With --measure check they include the program and
exclude one second for its start; with --measure bare they are of as many calls on the same rows as the check makes.
"""
import argparse
import json
import os
import sys
import time

import torch

import draftproof


def right(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if torch.rand(()) * q[i, x] < p[i, x]:
            continue
        rest = (p[i] - q[i]).clamp(min=0)
        return [*drafts[:i].tolist(), int(torch.multinomial(rest if rest.any() else p[i], 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))]


def wrong(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if torch.rand(()) * q[i, x] < p[i, x]:
            continue
        return [*drafts[:i].tolist(), int(torch.multinomial(p[i], 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))]


def draft(q, k):
    return torch.multinomial(q, k, replacement=True)


class Recorded:
    """Calls a function and keeps the arguments of every call."""

    def __init__(self, fn):
        self.fn, self.calls = fn, []

    def __call__(self, *arguments):
        self.calls.append(arguments)
        return self.fn(*arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pq")
    parser.add_argument("--function", choices=("right", "wrong", "draft"), required=True)
    parser.add_argument("--measure", choices=("check", "bare"), required=True)
    given = parser.parse_args()
    torch.set_num_threads(1)
    fn = {"right": right, "wrong": wrong, "draft": draft}[given.function]
    recorded = Recorded(fn) if given.measure == "bare" else fn
    declared = {"arrays": "torch", "keep": False, "raises": False, "name": given.function}
    start = sum(os.times()[:4])
    if given.function == "draft":
        verdict = draftproof.check(None, draft=recorded, **declared)
    else:
        verdict = draftproof.check(recorded, **declared)
    whole = sum(os.times()[:4]) - start
    seconds = whole if given.function == "wrong" else max(0.0, whole - 1)
    wanted = "failed" if given.function == "wrong" else "passed"
    if verdict.status != wanted:
        sys.exit("the check of %s says %s, expected %s" % (given.function, verdict.status, wanted))
    calls = verdict.calls
    if given.measure == "bare":
        calls = len(recorded.calls)
        start = time.process_time()
        for arguments in recorded.calls:
            fn(*arguments)
        seconds = time.process_time() - start
    json.dump({"seconds": seconds, "calls": calls}, sys.stdout)


if __name__ == "__main__":
    main()
