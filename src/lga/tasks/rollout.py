"""Episodes of a policy in an environment: masked where they have ended, never stacked, left early when all are over."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from lga.core.tree import tree_dataclass
from lga.lanes import LanesUnavailableError, lanes_of
from lga.tasks.networks import Network

# As in EvoJAX: a feature that has hardly varied so far must not flood the network when it does.
LARGEST_NORMALISED = 5.0


class Environment(NamedTuple):
    """Functions of one episode."""

    reset: Callable[[Key[Array, ""]], tuple[Any, Float[Array, "*shape"]]]
    """(key) -> (env_state, observation)"""
    step: Callable[[Key[Array, ""], Any, Array], tuple[Any, Float[Array, "*shape"], Float[Array, ""], Array]]
    """(key, env_state, action) -> (env_state, observation, reward, done)"""
    observation_shape: tuple[int, ...]
    num_actions: int
    """Choices, or numbers that are chosen."""


class Policy(NamedTuple):
    network: Network
    act: Callable[[Key[Array, ""], Float[Array, " o"]], Array]
    """(key, outputs of the network) -> action"""
    normalise: bool = False
    """Whether the network sees observations normalised by their running statistics."""


@tree_dataclass
class Statistics:
    """Mean and sum of squared deviations of all observations that were acted on."""

    count: Float[Array, ""]
    mean: Float[Array, "*shape"]
    squares: Float[Array, "*shape"]


def no_statistics(shape: tuple[int, ...]) -> Statistics:
    return Statistics(jnp.zeros(()), jnp.zeros(shape), jnp.zeros(shape))


def normalised(statistics: Statistics, observation: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """With mean 0 and deviation 1 in what was seen so far; as it is before anything was seen."""
    seen = statistics.count > 0
    deviation = jnp.sqrt(statistics.squares / jnp.maximum(statistics.count, 1.0))
    scale = jnp.where(seen, jnp.maximum(deviation, 1e-2), 1.0)
    return jnp.clip((observation - statistics.mean) / scale, -LARGEST_NORMALISED, LARGEST_NORMALISED)


def merged(statistics: Statistics, parts: Statistics) -> Statistics:
    """The statistics of all, where `parts` has a leading axis and sums of deviations from the mean so far.

    Deviations from a mean near the true one keep their digits, which sums of squares of raw values would lose.
    """
    count, offset, squares = (jnp.sum(leaf, axis=0) for leaf in (parts.count, parts.mean, parts.squares))
    total = statistics.count + count
    shift = offset / jnp.maximum(total, 1.0)
    # Of a feature that never varies, rounding can leave a little less than nothing.
    spread = jnp.maximum(statistics.squares + squares - total * shift**2, 0.0)
    return Statistics(total, statistics.mean + shift, spread)


@tree_dataclass
class Lanes:
    """K episodes side by side."""

    step: Int[Array, ""]
    keys: Key[Array, " k"]
    """Of all steps."""
    env_state: Any
    observation: Float[Array, "k *shape"]
    total: Float[Array, " k"]
    alive: Bool[Array, " k"]
    seen: Statistics


def begin(episode_keys: Key[Array, " k"], environment: Environment) -> Lanes:
    num_episodes = episode_keys.shape[0]
    reset_keys, step_keys = jax.vmap(jax.random.split, out_axes=1)(episode_keys)
    env_state, observation = jax.vmap(environment.reset)(reset_keys)
    nothing = no_statistics(environment.observation_shape)
    alive = jnp.ones(num_episodes, bool)
    return Lanes(jnp.zeros((), jnp.int32), step_keys, env_state, observation, jnp.zeros(num_episodes), alive, nothing)


def advance(
    lanes: Lanes,
    environment: Environment,
    policy: Policy,
    statistics: Statistics,
    genome: Float[Array, " d"],
    full_episode_sum: bool,
) -> Lanes:
    # Episode and step decide all luck, so that every member of a generation meets the same.
    keys = jax.vmap(lambda key: jax.random.split(jax.random.fold_in(key, lanes.step)))(lanes.keys)
    inputs, seen = lanes.observation, lanes.seen
    if policy.normalise:
        seen = observed(seen, statistics.mean, inputs, lanes.alive)
        inputs = jax.vmap(lambda observation: normalised(statistics, observation))(inputs)
    actions = jax.vmap(policy.act)(keys[:, 0], policy.network.apply(genome, inputs))
    env_state, observation, reward, done = jax.vmap(environment.step)(keys[:, 1], lanes.env_state, actions)
    return Lanes(
        step=lanes.step + 1,
        keys=lanes.keys,
        env_state=env_state,
        observation=observation,
        total=lanes.total + jnp.where(lanes.alive, reward, 0.0),
        alive=lanes.alive if full_episode_sum else lanes.alive & ~done,
        seen=seen,
    )


def play(
    episode_keys: Key[Array, " k"],
    environment: Environment,
    policy: Policy,
    statistics: Statistics,
    genome: Float[Array, " d"],
    *,
    num_steps: int,
    full_episode_sum: bool = False,
) -> tuple[Float[Array, " k"], Statistics]:
    """The return of each episode, and the sums of what was observed (deviations from the given mean)."""

    def unfinished(lanes: Lanes) -> Bool[Array, ""]:
        return (lanes.step < num_steps) & jnp.any(lanes.alive)

    def following(lanes: Lanes) -> Lanes:
        return advance(lanes, environment, policy, statistics, genome, full_episode_sum)

    played = jax.lax.while_loop(unfinished, following, begin(episode_keys, environment))
    return played.total, played.seen


Play = Callable[
    [Key[Array, " k"], Statistics, Float[Array, "n d"]],
    tuple[Float[Array, "n k"], Statistics],
]
"""(keys of the episodes, statistics, genomes) -> (returns, sums of what each member observed)"""


@lru_cache(maxsize=8)
def play_in_lanes(environment: Environment, policy: Policy, num_steps: int, full_episode_sum: bool) -> Play | None:
    """`play` of all members as a program of its own, in which an episode is a lane; None where there cannot be one.

    The very same functions are compiled, each for one episode, so the results differ by rounding only.
    """

    def following(lanes: Lanes, genome: Float[Array, " d"], statistics: Statistics) -> Lanes:
        return advance(lanes, environment, policy, statistics, genome, full_episode_sum)

    def begin_one(key: Key[Array, ""]) -> Lanes:
        return begin(key[None], environment)

    statistics = no_statistics(environment.observation_shape)
    genome = jnp.zeros(policy.network.num_weights)
    try:
        program = lanes_of(
            following,
            jax.eval_shape(begin_one, jax.random.key(0)),
            genome,
            statistics,
            alive=lambda lanes: lanes.alive,
            results=lambda lanes: (lanes.total, lanes.seen),
        )
    except LanesUnavailableError:
        return None

    def play_all(
        episode_keys: Key[Array, " k"], statistics: Statistics, genomes: Float[Array, "n d"]
    ) -> tuple[Float[Array, "n k"], Statistics]:
        starts = jax.vmap(begin_one)(episode_keys)
        total, seen = program(starts, genomes, statistics, num_steps)
        return total[..., 0], jax.tree.map(lambda leaf: jnp.sum(leaf, axis=1), seen)

    return play_all


def recorded(
    key: Key[Array, ""],
    environment: Environment,
    policy: Policy,
    statistics: Statistics,
    genome: Float[Array, " d"],
    num_steps: int,
) -> tuple[Float[Array, "t *shape"], Any, Float[Array, " t"], Bool[Array, " t"]]:
    """One episode as it would be played, kept whole: observations, states, rewards, and whether it went on."""
    key_reset, key_steps = jax.random.split(key)

    def step(carry: tuple[Any, Array, Array], number: Int[Array, ""]) -> tuple[Any, Any]:
        env_state, observation, alive = carry
        key_act, key_step = jax.random.split(jax.random.fold_in(key_steps, number))
        inputs = normalised(statistics, observation) if policy.normalise else observation
        action = policy.act(key_act, policy.network.apply(genome, inputs[None])[0])
        following, seen, reward, done = environment.step(key_step, env_state, action)
        return (following, seen, alive & ~done), (observation, env_state, reward, alive)

    start = (*environment.reset(key_reset), jnp.ones((), bool))
    return jax.lax.scan(step, start, jnp.arange(num_steps))[1]


def observed(
    seen: Statistics, mean: Float[Array, "*shape"], observation: Float[Array, "k *shape"], alive: Bool[Array, " k"]
) -> Statistics:
    """Sums over the living episodes. An observation that is not finite would spoil the statistics for good."""
    axes = tuple(range(1, observation.ndim))
    counted = alive & jnp.all(jnp.isfinite(observation), axis=axes)
    masked = counted.reshape(-1, *(1 for _ in axes))
    deviation = jnp.where(masked, observation - mean[None], 0.0)
    return Statistics(
        seen.count + jnp.sum(counted, dtype=seen.count.dtype),
        seen.mean + jnp.sum(deviation, axis=0),
        seen.squares + jnp.sum(deviation**2, axis=0),
    )
