"""Files that several programs share: read only if nobody else can, replaced as a whole, locked as the command line does."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import ProfileError


def make_private(folder: Path) -> None:
    if not folder.is_dir():
        make_private(folder.parent)
        try:
            folder.mkdir(0o700)
        except FileExistsError:
            pass


def read_secret(path: Path, size_max: int = 64 * 1024) -> str | None:
    """The text of a file that only its owner can read; None if there is none."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except FileNotFoundError:
        return None
    with open(opened, "rb") as file:
        if os.fstat(opened).st_mode & 0o077:
            raise ProfileError(f"{path} contains a secret, but others can read it; say `chmod 600` on it")
        data = file.read(size_max + 1)
    if len(data) > size_max:
        raise ProfileError(f"{path} has more than {size_max} bytes")
    return data.decode()


def replace(path: Path, text: str) -> None:
    """Writes a new version beside the file and renames it: a reader sees the old or the new one. The command line removes
    such drafts if nobody has them locked."""
    make_private(path.parent)
    draft = path.with_name(f"{path.name}.tandem-new-{secrets.token_hex(8)}")
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(opened, "wb") as file:
            fcntl.flock(opened, fcntl.LOCK_EX)
            file.write(text.encode())
            file.flush()
            os.fsync(opened)
            os.rename(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def try_lock(path: Path) -> int | None:
    """A descriptor that holds the lock of a file until it is closed; None if another program has it."""
    make_private(path.parent)
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        return None
    return opened


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Waits for other programs, which need the file for a moment only."""
    make_private(path.parent)
    opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield opened
    finally:
        os.close(opened)
