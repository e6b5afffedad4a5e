"""What must be set before JAX starts."""

import os

import jax


def use_cores(count: int | None = None) -> None:
    """One CPU device a core (all cores, if not told), to spread searches over. Accelerators are left alone."""
    jax.config.update("jax_num_cpu_devices", count or available_cores())


def available_cores() -> int:
    """Those that this process may use, where the system tells; macOS and Windows do not."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
