"""What must be set before JAX starts."""

import os
from pathlib import Path

import jax


def use_cores(count: int | None = None) -> None:
    """One CPU device a core (all cores, if not told), to spread searches over. Accelerators are left alone."""
    jax.config.update("jax_num_cpu_devices", count or len(os.sched_getaffinity(0)))


def use_compilation_cache() -> None:
    """Programs that were compiled once are found again by later processes."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "lga" / "compiled"
    folder.mkdir(parents=True, exist_ok=True)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)
