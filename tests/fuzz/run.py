"""Runs fuzz targets for a time or a number of inputs each, and prints how many inputs each has read.

    run.py FOLDER SECONDS [NAME...]             all targets of the build folder if none is named
    run.py FOLDER NUMBER [NAME...] --inputs     so many inputs instead of seconds
    run.py FOLDER ... --longest BYTES           inputs of at most so many bytes (65536)

Inputs start from tests/fuzz/corpus/NAME; inputs that reach new code are kept in FOLDER/corpus/NAME for the next run.
A target ends with a crash, an error of a sanitizer, an input that takes more than a second of processor time, or an
allocation of more than 64 times the largest input; its input is then FOLDER/bad/NAME-... Exit codes: 0 no target
failed, 1 some target failed, 2 usage.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 1 << 16  # largest size of an input in bytes
MEMORY = 64 * LARGEST >> 20  # largest size of one allocation in MiB


def slow(target, artifact):
    """Whether an input that libFuzzer reported fails or takes more than a second of processor time. libFuzzer limits
    elapsed time, so it also reports inputs that were slow because the machine was busy."""
    child = subprocess.Popen([target, artifact], stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode != 0 or used.ru_utime + used.ru_stime > 1


def run(target, number, inputs, longest):
    """Runs one target. Returns the number of inputs, the number of edges of the code's control flow that they reached,
    and the output of a failure or "".
    """
    name = target.name.removeprefix("fuzz_")
    folders = target.parent / "corpus" / name, target.parent / "bad"
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    taken = edges = 0
    end = time.monotonic() + number
    while (left := number - taken if inputs else int(end - time.monotonic())) > 0:
        command = [target, folders[0], ROOT / "tests/fuzz/corpus" / name, f"-artifact_prefix={folders[1]}/{name}-"]
        command += [f"-{'runs' if inputs else 'max_total_time'}={left}", f"-max_len={longest}"]
        command += [f"-malloc_limit_mb={MEMORY}", "-timeout=1", "-print_final_stats=1"]
        said = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace").stderr
        done = re.search(r"number_of_executed_units: (\d+)", said)
        taken += int(done[1]) if done else 0
        edges = max([edges, *map(int, re.findall(r"cov: (\d+)", said))])
        if re.search(r"^Done \d+ runs", said, re.M):
            break
        late = re.search(r"Test unit written to (\S+-timeout-\w+)", said)
        if not late or slow(target, late[1]):
            return taken, edges, said[-4000:]
        os.unlink(late[1])
    return taken, edges, ""


def main():
    parser = argparse.ArgumentParser(description="Runs fuzz targets, and says how many inputs they took.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("number", type=int, help="seconds of each target, or inputs with --inputs")
    parser.add_argument("names", nargs="*", metavar="NAME", help="targets (all)")
    parser.add_argument("--inputs", action="store_true", help="the number is of inputs")
    parser.add_argument("--longest", type=int, default=LARGEST, metavar="BYTES", help=f"bytes of an input ({LARGEST})")
    chosen = parser.parse_intermixed_args()
    targets = {target.name.removeprefix("fuzz_"): target for target in sorted(chosen.folder.resolve().glob("fuzz_*"))}
    for name in chosen.names:
        if name not in targets:
            parser.error(f"got {name}, expected one of {', '.join(targets)}")
    if chosen.number < 1 or not 1 <= chosen.longest <= LARGEST or not targets:
        parser.error(f"got {chosen.number} {'inputs' if chosen.inputs else 'seconds'} of {chosen.longest} bytes and "
                     f"{len(targets)} targets, expected a number of each and at most {LARGEST} bytes")
    names = chosen.names or list(targets)
    bad = []
    print(f"{'reader':16}{'inputs':>12}{'edges':>8}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda name: run(targets[name], chosen.number, chosen.inputs, chosen.longest), names)
        for name, (inputs, edges, found) in zip(names, results):
            print(f"{name:16}{inputs:12,}{edges:8,}{'  FOUND' if found else ''}", flush=True)
            bad += [found] if found else []
    print("\n".join(bad), end="")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
