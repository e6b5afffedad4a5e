"""Files that are written whole or not at all, and folders in which one process works at a time."""

import json
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:
    fcntl = None  # Windows: there nothing is locked, and nothing swept.

from lga.core.checks import require

PARTIAL = re.compile(r"\..*\.[0-9a-f]{16}\.partial")
# A link that somebody has put there is not followed, and no such name is guessed before.
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


def write_atomically(path: Path, content: bytes) -> None:
    """All of the content or, if anything fails, the file as it was. A link stays one: what it leads to is replaced."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial, descriptor = create_partial(path)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_report(path: Path, report: Any) -> None:
    """As JSON, and atomically. What a killed process has left of an earlier try is removed."""
    sweep(path.parent, path.name)
    write_atomically(path, (json.dumps(report, indent=1) + "\n").encode())


def require_writable(path: Path) -> None:
    """Before the work whose outcome is to be written there: a folder is made, and nothing else is left behind."""
    path = path.resolve()
    require(not path.is_dir(), f"{path} is a folder, but must be a file to write to.")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial, descriptor = create_partial(path)
    os.close(descriptor)
    partial.unlink()


def create_partial(path: Path) -> tuple[Path, int]:
    """A new file beside, of a name that nobody can foresee, and locked as long as it is open."""
    while True:
        partial = path.with_name(f".{path.name[:40]}.{secrets.token_hex(8)}.partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS, 0o666)
        # Whoever sweeps may have come between its creation and its lock.
        if lock(descriptor) and os.fstat(descriptor).st_nlink:
            return partial, descriptor
        os.close(descriptor)


def sweep(folder: Path, name: str = "") -> None:
    """Removes what killed processes have left half-written in a folder, of all files or of one."""
    if fcntl is None or not folder.is_dir():
        return
    for partial in folder.iterdir():
        if PARTIAL.fullmatch(partial.name) and partial.name.startswith(f".{name[:40]}"):
            with suppress(OSError):
                remove_if_nobodys(partial)


def remove_if_nobodys(partial: Path) -> None:
    descriptor = os.open(partial, os.O_RDONLY | NO_LINKS)
    try:
        if lock(descriptor):
            partial.unlink()
    finally:
        os.close(descriptor)


def lock(descriptor: int) -> bool:
    """Whether it is ours now. A file system that knows no locks has none to refuse."""
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
    return True


class Lock:
    """A file that one process holds at a time; it goes with the process, however that ends, or when it is closed."""

    def __init__(self, path: Path, sentence: str):
        self.path = path
        self.descriptor: int | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        while self.descriptor is None:
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINKS, 0o666)
            except PermissionError:
                # Where nothing can be written there is nothing to protect.
                return
            if not lock(descriptor):
                os.close(descriptor)
                raise ValueError(sentence)
            # Its holder may have removed it between the opening and the lock.
            if os.fstat(descriptor).st_nlink:
                self.descriptor = descriptor
            else:
                os.close(descriptor)

    def close(self) -> None:
        if self.descriptor is not None:
            self.path.unlink(missing_ok=True)
            os.close(self.descriptor)
            self.descriptor = None
