"""Runs every command with streams and files that fail: closed standard streams, a full device, a pipe without a
reader, files that cannot be written, and text arguments that are neither a file nor a name. No run may crash, fail
without a reason, or leave a partial file.

    outputs_test.py PROGRAM [nightly]     nightly: all texts for all options, and the slow commands too
"""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile

from program import CODES, NIGHTLY, PROGRAM, Ran, every_command, finish, in_parallel, run, usual_words

LIMIT = 64  # limit of file sizes in bytes (RLIMIT_FSIZE), which simulates a full disk
TEXTS = ["", "x" * 5000, b"\xff\xfe.npz", "\u00e9\n\t", "a:b:c", "../..", "--", "%s%n", "{}", "1/0", ":", "/dev/null", "exec:"]
#: Commands whose shortest run takes long, so that they get fewer runs.
SLOW = set() if NIGHTLY else {"mutants", "demo"}
SERVES = {"serve"}  # commands that write frames of the protocol, not a result

#: Objects at an output path that a run must not replace, with the function that makes each. A run may refuse them or
#: write into them.
PLACES = {"fifo": os.mkfifo, "folder": os.mkdir, "link_to_nothing": lambda path: os.symlink("gone", path),
          "socket": lambda path: socket.socket(socket.AF_UNIX).bind(path),
          "full": lambda path: os.mknod(path, 0o20666, os.makedev(1, 7)),
          "link": lambda path: (open(path + "_of", "w").write("earlier"), os.symlink(path + "_of", path))}


def full_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


def closing(descriptor):
    return lambda: os.close(descriptor)


def explained(ran):
    """Whether a run that could not write states the reason."""
    return ran.code == 4 and re.search(rb"cannot be (written|created|renamed)", ran.err) or ran.code == 2 and b"got" in ran.err


def same(usual, out):
    """Whether two runs have equal output or, if it contains measured times, complete output of the same schema."""
    return out == usual.out or (usual.measured and json.loads(out)["schema"] == json.loads(usual.out)["schema"])


def streams(words, usual):
    """Yields runs with broken standard streams, and whether each is right. `usual` is the same run with intact
    streams."""
    writes = usual.code in (0, 1, 3)
    with open("/dev/full", "wb") as full:
        ran = run(words, stdout=full)
        yield ran, explained(ran) if writes else ran.code == usual.code
    ran = run(words, preexec_fn=closing(1))
    yield ran, explained(ran) if writes else ran.code == usual.code
    for descriptor in (0, 2):
        ran = run(words, preexec_fn=closing(descriptor))
        yield ran, ran.code == usual.code and same(usual, ran.out)
    if not writes:
        return
    reader, writer = os.pipe()
    os.close(reader)  # as `| head -0` does; Python's children ignore SIGPIPE unless it is restored
    for restore in (True, False):
        ran = run(words, stdout=writer, restore_signals=restore)
        yield ran, ran.code == -13 if restore else explained(ran)
    os.close(writer)


def files(words, usual, folder):
    """Yields runs with --output, and whether each is right: on a new file, on files that cannot be written, and on a
    name that is not valid UTF-8."""
    kept, good = os.path.join(folder, "kept"), os.path.join(folder, "good")
    ran = run([*words, "--output", good])
    with open(good, "rb") as file:
        yield ran, same(usual, file.read()) and not ran.out and ran.code == usual.code
    with open(kept, "wb") as file:
        file.write(b"earlier")
    if len(usual.out) > LIMIT:
        ran = run([*words, "--output", kept], preexec_fn=full_disk)
        with open(kept, "rb") as file:
            whole = file.read() == b"earlier"
        # With this limit clang's OpenMP cannot start: it prints an error or, under the thread sanitizer, ends by SIGBUS.
        unstarted = ran.code == -signal.SIGBUS and run(words, preexec_fn=full_disk).code == ran.code
        if not unstarted and b"OMP: Error" not in ran.err:
            yield ran, whole and explained(ran) and b"too large" in ran.err and same(usual, ran.out)
    for bad in (folder, os.path.join(folder, "none", "x"), os.path.join(folder, "n" * 300), "/proc/none", os.path.join(kept, "x")):
        ran = run([*words, "--output", bad])
        yield ran, explained(ran)
    name = os.path.join(os.fsencode(folder), b"\xff\xfe")
    ran = run([*words, "--output", name])
    yield ran, ran.code == usual.code and os.path.isfile(name)
    # If two runs write the same file at once, it has the complete result of one of them.
    both = [subprocess.Popen([PROGRAM, *words, "--output", good], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL) for _ in range(2)]
    codes = [child.wait() for child in both]
    with open(good, "rb") as file:
        yield ran, same(usual, file.read()) and codes == [usual.code] * 2
    yield ran, not [name for name in os.listdir(folder) if name.endswith(".part")]


def places(command, words, folder, slow):
    """Yields runs, and whether each is right, for every option that names an output file, with each of PLACES at this
    path."""
    names = [option.name for option in command.options if option.kind == "OUT_FILE"] + ["--output"]
    for name, (kind, make) in ((name, place) for name in names for place in PLACES.items()):
        path = os.path.join(folder, kind + name)
        if slow and kind in ("full", "link"):
            continue  # because the program writes to these files only after its work
        try:
            make(path)
        except PermissionError:
            continue  # only root can make devices
        before = os.lstat(path)
        ran = run([*words, name, path])
        after = os.lstat(path)
        stayed = (before.st_mode, before.st_ino, before.st_rdev) == (after.st_mode, after.st_ino, after.st_rdev)
        refused = ran.code == 2 and b"got" in ran.err and not ran.out
        if kind == "link":
            with open(path + "_of") as file:
                refused = refused and file.read() == "earlier"
            yield ran, stayed and (refused if name == "--checkpoint" else ran.code in CODES - {4})
        else:
            yield ran, stayed and (refused or (kind == "full" and name != "--checkpoint" and explained(ran)))


def texts(command, words, folder):
    """Yields runs with texts that are neither a file nor a name, for every option and argument that takes text."""
    some = TEXTS[:3]
    for option in command.options:
        if option.kind == "TEXT" and option.name not in ("--output", "--adapter-dump"):
            for text in TEXTS:
                if NIGHTLY or text in some:
                    yield run([*words, option.name, text], cwd=folder)
    for at, argument in enumerate(command.arguments, len(command.words)):
        for text in TEXTS if NIGHTLY else TEXTS[::2]:
            if argument.name == "filter" and text in ("", "../.."):
                continue  # because these expressions match all benchmarks, which take minutes
            yield run([*words[:at], text, *words[at + 1:]], cwd=folder)


def of_command(command):
    tried, wrong = 0, []
    words = usual_words(command) + ["--json", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        slow = bool(command.words) and command.words[0] in SLOW
        usual = Ran(words, 0, b"", b"") if slow else run(words)
        usual.measured = not slow and run(words).out != usual.out
        found = [(usual, usual.code in CODES - {4})]
        if command.words and not slow and command.words[0] not in SERVES:
            found += streams(words, usual)
            if usual.code in (0, 1, 3):
                found += files(words, usual, folder)
        if command.words and command.words[0] not in SERVES:
            found += places(command, words, folder, slow)
        if command.words and not slow:
            found += [(ran, (ran.code in CODES - {4} or explained(ran)) and (ran.code != 2 or 0 < len(ran.err) < 1200))
                      for ran in texts(command, words, folder)]
    for ran, good in found:
        tried += 1
        if not good:
            wrong.append(ran.told())
    print(f"{' '.join(command.words)}: {tried} runs", *wrong, sep="\n", flush=True)
    return tried, wrong


if __name__ == "__main__":
    commands = [command for command in every_command() if not command.commands or command.words]
    results = in_parallel(of_command, commands)
    finish(f"{sum(tried for tried, _ in results)} runs of {len(commands)} commands", [one for _, wrong in results for one in wrong])
