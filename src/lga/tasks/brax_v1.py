"""`brax.v1` on today's JAX.

Brax 0.12.3 is the last release with the first generation of its environments, which the paper used. Their code asks
whether a value is a `jax.interpreters.batching.BatchTracer`, a name that JAX no longer exports. It is put back here,
where it is missing, before `brax.v1` is imported; where JAX has it, nothing is touched.
"""

from contextlib import redirect_stderr
from io import StringIO
from typing import Any

from jax.interpreters import batching


def restore_batch_tracer() -> None:
    if hasattr(batching, "BatchTracer"):
        return
    from jax._src.interpreters.batching import BatchTracer

    batching.BatchTracer = BatchTracer  # pyright: ignore[reportAttributeAccessIssue]


def environments() -> Any:
    """The module `brax.v1.envs`."""
    restore_batch_tracer()
    # Its import of gym prints a page about gym's end.
    with redirect_stderr(StringIO()):
        from brax.v1 import envs

    return envs
