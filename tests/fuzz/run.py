"""Runs fuzz targets for a time each, and says how many inputs they took.

    run.py FOLDER SECONDS [NAME...]     all targets of the build folder if none is named

Inputs start from tests/fuzz/corpus/NAME; what reaches new code is kept in FOLDER/corpus/NAME for the next run. A crash,
an error of a sanitizer, an input that takes more than a second, or memory of more than 64 times the largest input ends a
target; its input is then FOLDER/found/NAME-... Exit codes: 0 nothing was found, 1 something was, 2 usage.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 1 << 16  # bytes of an input
MEMORY = 64 * LARGEST >> 20  # MiB of one allocation


def run(target, seconds):
    """(inputs, edges of code reached, what was found) of one target."""
    name = target.name.removeprefix("fuzz_")
    folders = target.parent / "corpus" / name, target.parent / "found"
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    command = [target, folders[0], ROOT / "tests/fuzz/corpus" / name, f"-artifact_prefix={folders[1]}/{name}-"]
    command += [f"-max_total_time={seconds}", f"-max_len={LARGEST}", f"-malloc_limit_mb={MEMORY}", "-timeout=1"]
    said = subprocess.run(command + ["-print_final_stats=1"], stderr=subprocess.PIPE, text=True, errors="replace").stderr
    inputs = re.search(r"number_of_executed_units: (\d+)", said)
    edges = re.findall(r"cov: (\d+)", said)
    found = "" if re.search(r"^Done \d+ runs", said, re.M) else said[-4000:]
    return int(inputs[1]) if inputs else 0, int(edges[-1]) if edges else 0, found


def main(folder, seconds, *names):
    targets = sorted(pathlib.Path(folder).resolve().glob("fuzz_*"))
    known = [target.name.removeprefix("fuzz_") for target in targets]
    for name in names:
        if name not in known:
            print(f"fuzz: found {name}, wanted one of {', '.join(known)}", file=sys.stderr)
            return 2
    if not seconds.isdigit() or int(seconds) == 0 or not targets:
        print(f"fuzz: found {seconds} seconds and {len(targets)} targets, wanted a number of each", file=sys.stderr)
        return 2
    chosen = [target for target, name in zip(targets, known) if not names or name in names]
    bad = []
    print(f"{'reader':16}{'inputs':>12}{'edges':>8}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for target, (inputs, edges, found) in zip(chosen, pool.map(lambda one: run(one, seconds), chosen)):
            print(f"{target.name.removeprefix('fuzz_'):16}{inputs:12,}{edges:8,}{'  FOUND' if found else ''}", flush=True)
            bad += [found] if found else []
    print("\n".join(bad), end="")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else 2)
