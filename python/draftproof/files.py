"""Writes files so that they replace regular files only, and only when they are complete."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


def replaceable(path: Path) -> Path:
    """Returns the file to write for `path`: itself, or the target of a symbolic link, so that the link stays.

    Raises: FileExistsError if `path` is a directory, a device, a FIFO, a socket or a dangling link.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if path.is_symlink():
            raise FileExistsError(f"{path}: got a symbolic link to nothing, expected a regular file or none") from None
        return path
    if not stat.S_ISREG(mode):
        found = _KINDS.get(stat.S_IFMT(mode), "a special file")
        raise FileExistsError(f"{path}: got {found}, expected a regular file or none")
    return path.resolve() if path.is_symlink() else path


def writable(path: Path, inputs: Iterable[object] = ()) -> Path:
    """Returns `replaceable(path)`, for a check of an output before the work.

    inputs: what the work reads; entries that are not paths of files are ignored.

    Raises: as `replaceable`; FileNotFoundError if the folder of `path` does not exist; FileExistsError if `path` is one
    of `inputs`, or exists in a folder among them, by any name or link.
    """
    found = replaceable(path)
    if not found.parent.is_dir():
        raise FileNotFoundError(f"{path}: got no folder {found.parent}, expected one")
    for one in inputs:
        if not isinstance(one, str | os.PathLike):
            continue
        try:
            same = os.path.samefile(one, found)
        except (OSError, ValueError):  # no such file, so that nothing is replaced; a null character
            continue
        if same:
            raise FileExistsError(f"{path}: got a file that is read here, expected another name")
        if Path(one).resolve() in found.resolve().parents:
            raise FileExistsError(f"{path}: got a file of the folder {one}, which is read here, expected another name")
    return found


def with_metadata(capture: Path | None) -> list[Path]:
    """Returns the names of a capture and of the files that may hold its metadata: RUN.json for RUN.npz, and for
    RUN_positions.npz and the other names that captures/capture.cpp reads."""
    if capture is None:
        return []
    ends = ("", "_positions", "_topk", "_trees", "_trees_full")
    stems = dict.fromkeys(capture.stem.removesuffix(end) for end in ends)
    return [capture, *(capture.parent / f"{stem}.json" for stem in stems)]


@contextmanager
def written(path: Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Opens a new file that replaces `path` after it is complete and synced to disk. Removes the new file if that
    fails, or if the context ends with an exception.

    Raises: as `writable`.
    """
    path = writable(path)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    with fresh.open(mode.replace("w", "x"), encoding=None if "b" in mode else "utf-8") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(fresh, path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
