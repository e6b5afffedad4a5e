"""Compiled programs on disk, for later processes. Nothing is set by importing; who compiles much asks for it.

`LGA_COMPILE_CACHE=0` switches it off. A cache that JAX was told of before is left as it is.
"""

import os
from pathlib import Path

import jax

SWITCH = "LGA_COMPILE_CACHE"
# Programs that compile faster than this are not worth a file.
LEAST_SECONDS = 0.1


def use_compilation_cache() -> None:
    """JAX keeps compiled programs in the user's cache folder, for this process as a whole."""
    if os.environ.get(SWITCH, "1") == "0" or getattr(jax.config, "jax_compilation_cache_dir", None):
        return
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lga" / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    # Programs are run as they are found: a folder that somebody else may have filled is not used.
    is_own = not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    if is_own and os.access(folder, os.W_OK):
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)
