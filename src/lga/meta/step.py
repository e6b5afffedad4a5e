"""One meta-generation: ask, try every candidate on every task, tell. The candidates are spread over all devices."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float, Int, Key, UInt32

from lga.meta.config import MetaConfig, Scale
from lga.meta.objective import Trial, candidate_verdicts, meta_fitness, sample_trials
from lga.meta.optimizers import MetaOptimizer
from lga.tasks import bbob
from lga.tasks.family import Family

# Candidates that are worked on at once: enough to fill the vector lanes, few enough to stay in the cache.
LARGEST_CHUNK = 64
# Chunks are at most a quarter of the meta-population, so that four devices share it without a change of the arithmetic.
SMALLEST_SHARE = 4


def candidates_at_once(config: MetaConfig, memory_gib: float) -> int:
    """The chunk size: it depends on the settings alone, so the number of devices does not change a single bit."""
    chunk = 1
    while (
        config.meta_population % (2 * chunk) == 0
        and 2 * chunk <= min(LARGEST_CHUNK, config.meta_population // SMALLEST_SHARE)
        and 2 * chunk * bytes_per_candidate(config) <= memory_gib * 2**30
    ):
        chunk *= 2
    return chunk


def bytes_per_candidate(config: MetaConfig) -> int:
    """A generous estimate of what one search holds: archives and children, their copies, and the attention matrices."""

    def size(scale: Scale) -> int:
        d, n = scale.num_dims, scale.num_children
        per_dimension = n * n * config.num_heads * d if "cross" in config.learned else 0
        matrix = d * d if "shape" in config.learned else 0
        return 4 * (12 * n * d + 6 * n * n * config.num_heads + 3 * per_dimension + 8 * matrix)

    return max(map(size, config.largest_scales))


def member_mesh(config: MetaConfig, chunk: int) -> Mesh:
    """All devices, or as many of them as divide the chunks evenly."""
    devices = jax.devices()
    num_chunks = config.meta_population // chunk
    count = max(n for n in range(1, len(devices) + 1) if num_chunks % n == 0)
    return Mesh(np.asarray(devices[:count]), ("members",))


def population_verdicts(
    config: MetaConfig, mesh: Mesh, chunk: int, num_children: int, family: Family | None = None
) -> Callable[[Float[Array, "m w"], Trial, Int[Array, ""]], Float[Array, "m j"]]:
    """Verdicts on all candidates from all trials."""
    verdicts = candidate_verdicts(config, num_children, family)

    def local_verdicts(weights: Float[Array, "k w"], trials: Trial, num_generations: Int[Array, ""]):
        chunks = weights.reshape(-1, chunk, weights.shape[1])

        def on_trial(trial: Trial) -> Float[Array, " k"]:
            return jax.lax.map(lambda some: verdicts(some, trial, num_generations), chunks).reshape(-1)

        return jax.lax.map(on_trial, trials).T

    members, everywhere = PartitionSpec("members"), PartitionSpec()
    return jax.shard_map(
        local_verdicts, mesh=mesh, in_specs=(members, everywhere, everywhere), out_specs=members, check_vma=False
    )


def as_saved(state: Any) -> Any:
    """The state as a checkpoint holds it: a step compiles to the same program for a loaded state as for its own."""
    return jax.tree.map(lambda leaf: np.asarray(jnp.asarray(leaf)), state)


def meta_step(
    config: MetaConfig, optimizer: MetaOptimizer, mesh: Mesh, chunk: int, family: Family | None = None
) -> Callable[[Any, int, Sequence[Scale]], tuple[Any, dict[str, Float[Array, ""]]]]:
    """The function (state, meta_generation, scales) -> (state, figures).

    Only the searches are spread over the mesh. Sampling and updating are programs of one device, run alike in every
    process, so their sums have one order whatever the number of devices.
    """

    @jax.jit
    def generation_keys(seed: UInt32[Array, ""], meta_generation: Int[Array, ""]) -> Key[Array, "3"]:
        return jax.random.split(jax.random.fold_in(jax.random.key(seed), meta_generation), 3)

    @jax.jit
    def before(key: Key[Array, ""], state: Any):
        return optimizer.ask(key, state)

    @partial(jax.jit, static_argnums=(1, 2))
    def draw(key: Key[Array, ""], position: int, num_dims: int | None) -> Trial:
        return sample_trials(jax.random.fold_in(key, position), config, num_dims, family)

    @partial(jax.jit, static_argnums=0, out_shardings=NamedSharding(mesh, PartitionSpec()))
    def try_out(num_children: int, candidates, trials: Trial, num_generations) -> Float[Array, "m j"]:
        return population_verdicts(config, mesh, chunk, num_children, family)(candidates, trials, num_generations)

    @jax.jit
    def after(key: Key[Array, ""], state: Any, candidates, verdicts):
        fitness = meta_fitness(verdicts, config.normalization, config.aggregation)
        state = optimizer.tell(key, state, candidates, fitness)
        figures = {
            "median_log10_outcome": jnp.nanmedian(bbob.log10_gap(verdicts)),
            "failed_outcomes": jnp.mean(~jnp.isfinite(verdicts)),
            "spread_of_fitness": jnp.std(fitness),
            "norm_of_centre": jnp.linalg.norm(optimizer.centre(state)),
        }
        return state, figures

    def step(state: Any, meta_generation: int, scales: Sequence[Scale]):
        # The seed is no constant of the programs: runs that differ in nothing else share what is compiled.
        key_ask, key_trials, key_tell = generation_keys(np.uint32(config.seed), meta_generation)
        candidates, state = before(key_ask, state)
        verdicts = []
        for position, scale in enumerate(scales):
            trials = draw(key_trials, position, scale.num_dims if config.scales else None)
            # As host arrays, which every process may hand to a program of all processes.
            shared = jax.tree.map(np.asarray, (candidates, trials))
            verdicts.append(np.asarray(try_out(scale.num_children, *shared, np.int32(scale.num_generations))))
        state, figures = after(key_tell, state, candidates, np.concatenate(verdicts, axis=1))
        return as_saved(state), figures

    return step
