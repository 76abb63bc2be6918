"""Writes files so that they replace regular files only, and only when they are complete."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
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


@contextmanager
def written(path: Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Opens a new file that replaces `path` after it is complete and synced to disk.

    Raises: as `replaceable`; FileNotFoundError if the folder of `path` does not exist.
    """
    path = replaceable(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: got no folder {path.parent}, expected one")
    fresh = replaceable(path.with_name(path.name + ".new"))
    with fresh.open(mode, encoding=None if "b" in mode else "utf-8") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
