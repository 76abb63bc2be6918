#!/usr/bin/env python3
"""Counts false alarms of the gate through adapters, on correct registered verifiers; each gate has another seed.

    tests/adapters/null_gates.py --program build/default/draftproof --gates 10000 --jobs 2

Each gate is one run of `check --adapter built-in:NAME --profile quick` at the tiers that the verifier has. Prints the
numbers of gates, models and alarms, and each alarm with its seed; exit code 1 if there is an alarm.
"""
import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

RIGHT = ("single_draft", "recursive_rejection", "recursive_rejection_wor", "k_seq", "ladder", "token_path", "block", "traversal")


def one_gate(program, number, tiers):
    name = RIGHT[number % len(RIGHT)]
    command = [program, "check", "--adapter", f"built-in:{name}", "--profile", "quick", "--seed", str(number), "--json", "-q"]
    run = subprocess.run(command + ["--tier", tiers], capture_output=True, text=True, check=False)
    document = json.loads(run.stdout) if run.stdout else {"gates": []}
    alarm = "" if run.returncode == 0 and document["gates"] else f"{name}, seed {number}: exit code {run.returncode}\n"
    if alarm:
        alarm += run.stdout + run.stderr
    return len(document["gates"]), sum(gate.get("models", 0) for gate in document["gates"]), alarm


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/default/draftproof")
    parser.add_argument("--gates", type=int, default=10000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tier", default="proof,edge,sampled")
    options = parser.parse_args()
    tiers = options.tier.count(",") + 1
    runs = -(-options.gates // tiers)
    gates = models = alarms = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for done, asked, alarm in pool.map(lambda n: one_gate(options.program, n, options.tier), range(1, runs + 1)):
            gates, models, alarms = gates + done, models + asked, alarms + bool(alarm)
            if alarm:
                print(alarm, file=sys.stderr)
            if gates // 500 != (gates - done) // 500:
                print(f"{gates} gates, {alarms} alarms", file=sys.stderr)
    print(f"{gates} gates on {len(RIGHT)} verifiers, {models} models, {alarms} alarms")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
