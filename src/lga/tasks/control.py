"""Control: a genome is a policy, its fitness minus the mean return of its episodes."""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from lga.tasks import brax_v1
from lga.tasks.network_task import (
    Episode,
    NeuroEntry,
    NeuroTask,
    TaskSize,
    map_members,
    members_at_once,
    require_weights,
)
from lga.tasks.networks import Convolution, cnn, mlp
from lga.tasks.rollout import Environment, Policy, Statistics, merged, no_statistics, play, play_in_lanes, recorded

# What a step needs, in copies of what an episode carries. Compiled programs have 3 (pendulum) to 8 (Breakout) of them.
WORKING_COPIES = 8
PENDULUM_TORQUE = 2.0
PAPER_ROBOTS = ("hopper", "halfcheetah", "walker2d", "fetch", "ur5e")
# For choices that must not be made by the robots of the paper's comparison.
OTHER_ROBOTS = ("ant", "grasp", "reacher", "swimmer")
MISSING = "{task} needs {package}: pip install 'lga[neuro]'."


def control_task(
    environment: Environment, policy: Policy, size: TaskSize, take_turns: bool = False, world: Any = None
) -> NeuroTask:
    """Members that take turns leave the loop when their own episodes are over, not when those of all are."""
    num_weights = policy.network.num_weights
    at_once = members_at_once(bytes_per_member(environment, num_weights, size), size.memory_gib, take_turns)

    def episodes(
        key: Key[Array, ""], statistics: Statistics, genomes: Float[Array, "n d"], num_episodes: int
    ) -> tuple[Float[Array, "n k"], Statistics]:
        keys = jax.random.split(key, num_episodes)
        play_all = play_in_lanes(environment, policy, size.num_steps, size.full_episode_sum)
        if play_all is not None:
            require_weights(genomes, num_weights)
            return play_all(keys, statistics, genomes)

        def of_member(genome: Float[Array, " d"]) -> tuple[Float[Array, " k"], Statistics]:
            return play(
                keys,
                environment,
                policy,
                statistics,
                genome,
                num_steps=size.num_steps,
                full_episode_sum=size.full_episode_sum,
            )

        return map_members(of_member, genomes, num_weights, at_once)

    def evaluate(
        key: Key[Array, ""], statistics: Statistics, genomes: Float[Array, "n d"]
    ) -> tuple[Float[Array, " n"], Statistics]:
        returns, seen = episodes(key, statistics, genomes, size.num_evaluations)
        return -jnp.mean(returns, axis=1), merged(statistics, seen) if policy.normalise else statistics

    def test(key: Key[Array, ""], statistics: Statistics, genomes: Float[Array, "n d"]) -> Float[Array, " n"]:
        returns, _ = episodes(key, statistics, genomes, size.num_tests)
        return jnp.mean(returns, axis=1)

    def init() -> Statistics:
        return no_statistics(environment.observation_shape)

    def show(key: Key[Array, ""], statistics: Statistics, genome: Float[Array, " d"]) -> Episode:
        return Episode(*recorded(key, environment, policy, statistics, genome, size.num_steps), world)

    return NeuroTask(num_weights, init, evaluate, test, "return", show=show)


def bytes_per_member(environment: Environment, num_weights: int, size: TaskSize) -> int:
    carried = jax.tree.leaves(jax.eval_shape(environment.reset, jax.random.key(0)))
    episode = sum(4 * math.prod(leaf.shape) for leaf in carried)
    return 4 * num_weights + WORKING_COPIES * max(size.num_evaluations, size.num_tests) * episode


def gymnax_environment(task: str, name: str) -> Environment:
    """Steps without automatic reset and time limit: the number of steps is the task's."""
    try:
        import gymnax
    except ImportError as error:
        raise ImportError(MISSING.format(task=task, package="gymnax")) from error
    game, params = gymnax.make(name)

    def reset(key: Key[Array, ""]) -> tuple[Any, Float[Array, "*shape"]]:
        observation, env_state = game.reset_env(key, params)
        return strong_types(env_state), observation

    def step(key: Key[Array, ""], env_state: Any, action: Array) -> tuple[Any, Array, Array, Array]:
        observation, env_state, reward, done, _ = game.step_env(key, env_state, action, params)
        return strong_types(env_state), observation, reward, done

    observation = jax.eval_shape(reset, jax.random.key(0))[1]
    return Environment(reset, step, observation.shape, game.num_actions)


def strong_types(env_state: Any) -> Any:
    """Some numbers of a fresh state are Python's; a loop needs arrays of the types that a step returns."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.result_type(leaf)), env_state)


def pendulum(size: TaskSize) -> NeuroTask:
    environment = gymnax_environment("pendulum", "Pendulum-v1")
    network = mlp((3, 16, 1), final=jnp.tanh)
    return control_task(environment, Policy(network, lambda key, outputs: PENDULUM_TORQUE * outputs[0]), size)


def minatar(name: str, game: str, size: TaskSize) -> NeuroTask:
    """Actions are sampled: a deterministic policy would play the same few episodes over and over."""
    environment = gymnax_environment(name, game)
    height, width, channels = environment.observation_shape
    network = cnn((height, width, channels), (Convolution(16, 3),), (32,), environment.num_actions)
    return control_task(environment, Policy(network, jax.random.categorical), size, take_turns=True)


def brax_first(name: str, size: TaskSize) -> NeuroTask:
    """The environments of the paper, with the joints of its author's public code (`legacy_spring`)."""
    try:
        envs = brax_v1.environments()
    except ImportError as error:
        raise ImportError(MISSING.format(task=name, package="brax 0.12.3")) from error
    return brax_task(envs.get_environment(name, legacy_spring=True), size)


def brax_spring(name: str, size: TaskSize) -> NeuroTask:
    """Today's environments."""
    try:
        from brax import envs
    except ImportError as error:
        raise ImportError(MISSING.format(task=f"{name}-spring", package="brax")) from error
    return brax_task(envs.get_environment(name, backend="spring"), size)


def brax_task(world: Any, size: TaskSize) -> NeuroTask:
    """Both generations of Brax have the same interface. A linear readout with tanh, on normalised observations."""

    def reset(key: Key[Array, ""]) -> tuple[Any, Float[Array, " o"]]:
        state = strong_types(world.reset(jax.random.key_data(key)))
        return state, state.obs

    def step(key: Key[Array, ""], state: Any, action: Array) -> tuple[Any, Array, Array, Array]:
        state = world.step(state, action)
        return state, state.obs, state.reward, state.done > 0.5

    environment = Environment(reset, step, (world.observation_size,), world.action_size)
    network = mlp((world.observation_size, world.action_size), final=jnp.tanh)
    policy = Policy(network, lambda key, outputs: outputs, normalise=True)
    return control_task(environment, policy, size, world=world)


CONTROL_TASKS: dict[str, NeuroEntry] = {
    "pendulum": NeuroEntry("pendulum", pendulum),
    **{name: NeuroEntry("brax", partial(brax_first, name)) for name in PAPER_ROBOTS + OTHER_ROBOTS},
    **{
        f"{name}-spring": NeuroEntry("brax", partial(brax_spring, name))
        for name in ("hopper", "halfcheetah", "walker2d", "ant")
    },
    **{
        name: NeuroEntry("minatar", partial(minatar, name, game))
        for name, game in (
            ("minatar-spaceinvaders", "SpaceInvaders-MinAtar"),
            ("minatar-breakout", "Breakout-MinAtar"),
            ("minatar-asterix", "Asterix-MinAtar"),
        )
    },
}
