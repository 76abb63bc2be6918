#!/usr/bin/env python3
"""Computes the efficiency of a plan on many ranks of one processor each, from the plan's measured block times.

    draftproof plan check --tier sampled --profile nightly --json > plan.json
    python3 examples/scale/ranks.py plan.json 1 100 1000

The blocks of a group take the times that the plan measured in the group, in turn. Blocks are divided as the program
divides them: with --balance by the mean times of their groups, the longest first to the rank with the least work, else
block b to rank b mod n. Efficiency is the mean load of a rank divided by the largest load.
"""

import heapq
import json
import sys


def in_turn(groups: list[dict], ranks: int) -> list[float]:
    load = [0.0] * ranks
    block = 0
    for group in groups:
        for b in range(group["blocks"]):
            load[block % ranks] += seconds_of(group, b)
            block += 1
    return load


def dealt(groups: list[dict], ranks: int) -> list[float]:
    planned = [(0.0, rank) for rank in range(ranks)]
    load = [0.0] * ranks
    for group in sorted(groups, key=lambda g: -g["seconds"]):
        for b in range(group["blocks"]):
            work, rank = planned[0]
            heapq.heapreplace(planned, (work + group["seconds"], rank))
            load[rank] += seconds_of(group, b)
    return load


def seconds_of(group: dict, block: int) -> float:
    measured = group["measured"]
    return measured[block % len(measured)] if measured else 0.0


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        plan = json.load(file)["groups"]
    total = sum(in_turn(plan, 1))
    longest = max(max(g["measured"], default=0.0) for g in plan)
    print(f"{sum(g['blocks'] for g in plan)} blocks, {total:.1f} s on one rank, the longest {longest:.2f} s")
    for ranks in map(int, sys.argv[2:]):
        for name, divide in (("in turn", in_turn), ("--balance", dealt)):
            load = divide(plan, ranks)
            print(f"{ranks:5d} ranks, {name:7s}: {max(load):8.2f} s, efficiency {100 * total / ranks / max(load):5.1f} %")
