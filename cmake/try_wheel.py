"""Installs a wheel of draftproof into a fresh environment without compilers and tries it. A library without a licence
in the wheel is an error.

    try_wheel.py WHEEL [--seconds N]     exit code 1 if a step fails, or takes longer than N s (10)

PATH has only the environment, so that neither a compiler nor CMake is found. The limit applies to the installation of
the wheel; numpy, which comes from the package index, is installed before.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from add_licences import without_licence

SMOKE = '''
import numpy as np, draftproof

def verify(p, q, drafts, wrong=False):
    for i, x in enumerate(drafts):
        if np.random.random() * q[i, x] < p[i, x]:
            continue
        rest = np.abs(p[i] - q[i]) if wrong else np.maximum(p[i] - q[i], 0)
        rest = (rest if rest.any() else p[i]).astype(float)
        return [*drafts[:i], int(np.random.choice(len(rest), p=rest / rest.sum()))]
    last = p[-1].astype(float)
    return [*drafts, int(np.random.choice(len(last), p=last / last.sum()))]

def wrong(p, q, drafts):
    return verify(p, q, drafts, wrong=True)

right = draftproof.check(verify, arrays="numpy", tier="proof", keep=False)
assert right.status == "passed", right
refuted = draftproof.check(wrong, arrays="numpy", tier="proof", keep=False, raises=False)
assert refuted.status == "failed" and refuted.failures[0].check == "exact_distribution", refuted
print("check: the right verifier passed, the wrong one failed on", refuted.failures[0].counterexample)
'''


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0)
    asked = parser.parse_args()
    lacking = without_licence(asked.wheel)
    if lacking:
        print(f"{asked.wheel.name}: got no licence of {', '.join(lacking)}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="wheel") as scratch:
        folder = Path(scratch) / "env"
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DRAFTPROOF", "PYTHON"))}
        environment = {**kept, "PATH": str(folder / "bin")}

        def call(*words: str) -> float:
            began = time.monotonic()
            subprocess.run([str(folder / "bin" / words[0]), *words[1:]], check=True, cwd=scratch, env=environment)
            return time.monotonic() - began

        pip = ("python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
        call(*pip, "numpy")
        seconds = call(*pip, "--no-index", str(asked.wheel.resolve()))
        print(f"installed in {seconds:.1f} s", flush=True)
        call("draftproof", "--version")
        call("draftproof", "prove", "k_seq", "--instances", "20")
        call("draftproof", "--quiet", "demo", "zipf:vocabulary=64,positions=2")
        print(f"program and package answer, {call('python', '-c', SMOKE):.1f} s")
    if seconds > asked.seconds:
        print(f"got {seconds:.1f} s for the installation, expected at most {asked.seconds:g} s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
