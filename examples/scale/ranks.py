#!/usr/bin/env python3
"""Efficiency of a plan on many ranks, from its measured block times.

    draftproof plan check --tier sampled --profile nightly --json > plan.json
    python3 examples/scale/ranks.py plan.json 1 100 1000

Block b goes to rank b mod n, as in the program. Efficiency is the mean load of a rank over the largest one.
"""

import json
import sys


def efficiency(groups: list[dict], ranks: int) -> tuple[float, float]:
    load = [0.0] * ranks
    block = 0
    for group in groups:
        for _ in range(group["blocks"]):
            load[block % ranks] += group["seconds"]
            block += 1
    return sum(load) / ranks / max(load), max(load)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        plan = json.load(file)["groups"]
    total = sum(g["blocks"] * g["seconds"] for g in plan)
    print(f"{sum(g['blocks'] for g in plan)} blocks, {total:.1f} s on one rank")
    for ranks in map(int, sys.argv[2:]):
        share, longest = efficiency(plan, ranks)
        print(f"{ranks:5d} ranks: {longest:.2f} s, efficiency {100 * share:.1f} %")
