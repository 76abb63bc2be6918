"""Commands that would run for years get signals at random times: one of SIGINT, SIGTERM and SIGHUP, or two of them.
They must end soon with a documented code; their output is valid and marked as incomplete, and no partial file
remains.

    signals_test.py PROGRAM [nightly]     each signal once for each command; nightly 20 times
"""

import json
import os
import random
import signal
import subprocess
import tempfile
import time

from program import NIGHTLY, PROGRAM, SHORT, every_command, finish, in_parallel, run, usual_words

LONG = {"--tuples": "1e15", "--instances": "1000000", "--steps": "1e15", "--controls": "1000000", "--effort": "1e15",
        "--repetitions": "10000"}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SOON = 120  # seconds that a loaded machine may take to finish the current part of the work


def long_words(command):
    words = usual_words(command)
    return [LONG.get(words[i - 1], word) if i and words[i - 1] in SHORT else word for i, word in enumerate(words)]


def wait_for_handlers(child):
    """Waits until the program has installed its signal handlers, because earlier signals would just end the process."""
    wanted = sum(1 << number - 1 for number in SIGNALS)
    while child.poll() is None:
        with open(f"/proc/{child.pid}/status") as status:
            caught = [line.split()[1] for line in status if line.startswith("SigCgt:")]
        if caught and int(caught[0], 16) & wanted == wanted:
            return
        time.sleep(0.001)


def signalled(words, numbers, wait, folder):
    """Starts the program, sends the signals after `wait` seconds, and waits for its end. Returns (exit code, standard
    output, standard error).
    """
    child = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, start_new_session=True)
    wait_for_handlers(child)
    time.sleep(wait)
    running = child.poll() is None
    for number in numbers:
        if running:
            os.kill(child.pid, number)
            time.sleep(random.random() * 0.05)
            running = child.poll() is None
    try:
        out, err = child.communicate(timeout=SOON)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
    return child.returncode, out, err


def fault(code, data, err, to_file):
    """Returns what is wrong with the exit code or the output of an interrupted run, or None."""
    if code == -9:
        return f"did not end within {SOON} seconds"
    if code not in (0, 1, 2, 3):
        return "undocumented end"
    if code == 2:
        return None if err else "no reason"
    if not data:
        return None if to_file and b"stopped" in err else "nothing was written"
    try:
        complete = json.loads(data)["complete"]
    except (ValueError, KeyError, TypeError):
        return "half a result, or one that does not say whether it is complete"
    return "exit code 3 of a complete result" if code == 3 and complete and b"stopped" not in err else \
        "a stopped run that reads as complete" if code == 0 and not complete else None


def of_case(case):
    words, numbers, wait, to_file = case
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        code, out, err = signalled([*words, "--json"] + (["--output", path] if to_file else []), numbers, wait, folder)
        if to_file and out:
            return f"{words}: standard output beside a file"
        data = out
        if to_file:
            data = open(path, "rb").read() if os.path.exists(path) else b""
        left = [name for name in os.listdir(folder) if name.endswith(".part")]
    told = "half a file is left" if left else fault(code, data, err, to_file)
    if told:
        print(f"{' '.join(words)}: exit code {code}, {told}", flush=True)
    return told and f"{' '.join(words)}, signals {[number.name for number in numbers]} after {wait:.3f} s: exit code {code}, " \
                    f"{told}\n  out: {data[:200]!r}\n  err: {err[:300]!r}"


def is_long(command):
    """Whether a run with the values of LONG takes more than one second, or three in a nightly run. A shorter run could
    end before a signal."""
    ran = run([*long_words(command), "--quiet"], limit=3 if NIGHTLY else 1)
    return ran.code == -9


if __name__ == "__main__":
    times, longest = (20, 1.5) if NIGHTLY else (1, 0.4)  # longest: largest delay of the first signal in seconds
    random.seed(1)
    commands = [command for command in every_command() if command.words and not command.commands]
    commands = [command for command, long in zip(commands, in_parallel(is_long, commands)) if long]
    cases = []
    for command in commands:
        for number in SIGNALS:
            for _ in range(times):
                cases.append((long_words(command), [number], random.random() * longest, random.random() < 0.5))
        for _ in range(times):
            cases.append((long_words(command), random.choices(SIGNALS, k=2), random.random() * longest, random.random() < 0.5))
    assert len(commands) > 4, "no command takes long"
    wrong = [told for told in in_parallel(of_case, cases) if told]
    finish(f"{len(cases)} runs of {', '.join(command.words[0] for command in commands)}", wrong)
