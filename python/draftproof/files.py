"""Where a file is to be written: a regular file may be replaced, and nothing else ever is."""

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
    """The file to write where `path` is named: itself, or what a symbolic link leads to, so that the link stays.

    Raises: FileExistsError if a directory, a device, a FIFO, a socket or a link to nothing is there.
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
    """A new file that takes the place of `path` once it is whole and on the disk. Raises: as `replaceable`."""
    path = replaceable(path)
    fresh = replaceable(path.with_name(path.name + ".new"))
    with fresh.open(mode, encoding=None if "b" in mode else "utf-8") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
