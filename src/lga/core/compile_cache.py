"""Compiled programs on disk, for later processes. Nothing is set by importing; who compiles much asks for it.

`LGA_COMPILE_CACHE=0` switches it off. A cache that JAX was told of before is left as it is.
"""

import os
import stat
from pathlib import Path

import jax

SWITCH = "LGA_COMPILE_CACHE"
# Programs that compile faster than this are not worth a file.
LEAST_SECONDS = 0.03


def use_compilation_cache() -> None:
    """JAX keeps compiled programs in the user's cache folder, for this process as a whole."""
    if getattr(jax.config, "jax_compilation_cache_dir", None):
        return
    folder = own_folder("compiled")
    if folder is not None:
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)


def own_folder(name: str) -> Path | None:
    """A folder in the user's cache that nobody else may fill; None if there is none, or none is wanted."""
    if os.environ.get(SWITCH, "1") == "0":
        return None
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lga" / name
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        is_safe = all(map(is_own, (folder, folder.parent))) and os.access(folder, os.W_OK)
    except (OSError, RuntimeError):
        # It cannot be made, or there is no home: users without one have no cache.
        return None
    return folder if is_safe else None


def is_own(folder: Path) -> bool:
    """Programs are run as they are found: a folder that somebody else may fill is not used, nor is a link to one."""
    if not hasattr(os, "getuid"):
        return True
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & stat.S_IWOTH
