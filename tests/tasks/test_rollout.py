"""Episodes in toy worlds where every return can be told in advance."""

import jax
import jax.numpy as jnp
import numpy as np

from lga.tasks.networks import mlp
from lga.tasks.rollout import Environment, Policy, merged, no_statistics, normalised, observed, play

NETWORK = mlp((2, 1))


def countdown(lengths):
    """Episode k ends after lengths[k] steps; every step, also after the end, is rewarded with the action plus one.

    The observation is (steps done, episode), so its statistics are known.
    """

    # Which episode it is can only be told from the key.
    reset_keys = jax.random.key_data(jax.vmap(jax.random.split)(keys(len(lengths)))[:, 0])

    def reset(key):
        episode = jnp.argmax(jnp.all(reset_keys == jax.random.key_data(key)[None], axis=1)).astype(jnp.int32)
        return (jnp.zeros((), jnp.int32), episode), jnp.stack([0.0, episode.astype(jnp.float32)])

    def step(key, env_state, action):
        count, episode = env_state
        count = count + 1
        observation = jnp.stack([count.astype(jnp.float32), episode.astype(jnp.float32)])
        return (count, episode), observation, action + 1.0, count >= jnp.asarray(lengths)[episode]

    return Environment(reset, step, (2,), 1)


def keys(count):
    return jax.random.split(jax.random.key(0), count)


def returns(lengths, num_steps, **options):
    policy = Policy(NETWORK, lambda key, outputs: outputs[0], normalise=True)
    genome = jnp.zeros(NETWORK.num_weights)
    return play(
        keys(len(lengths)), countdown(lengths), policy, no_statistics((2,)), genome, num_steps=num_steps, **options
    )


def test_an_episode_that_ended_stops_counting():
    totals, _ = returns([3, 7, 50], num_steps=10)
    np.testing.assert_array_equal(totals, [3.0, 7.0, 10.0])


def test_the_full_sum_counts_to_the_last_step():
    totals, _ = returns([3, 7, 50], num_steps=10, full_episode_sum=True)
    np.testing.assert_array_equal(totals, [10.0, 10.0, 10.0])


def test_the_loop_leaves_when_all_episodes_are_over():
    # Two thousand million steps would take hours.
    totals, _ = returns([3, 5], num_steps=2_000_000_000)
    np.testing.assert_array_equal(totals, [3.0, 5.0])


def acted_on(lengths, num_steps):
    return np.array([(step, k) for k, length in enumerate(lengths) for step in range(min(length, num_steps))], float)


def test_statistics_are_those_of_the_observations_that_were_acted_on():
    statistics = no_statistics((2,))
    rows = []
    for lengths in ([3, 7], [9, 2]):
        policy = Policy(NETWORK, lambda key, outputs: outputs[0], normalise=True)
        genomes = jnp.zeros((2, NETWORK.num_weights))
        world = countdown(lengths)
        _, seen = jax.vmap(
            lambda genome, world=world, statistics=statistics, policy=policy: play(
                keys(2), world, policy, statistics, genome, num_steps=8
            )
        )(genomes)
        statistics = merged(statistics, seen)
        rows += [acted_on(lengths, 8)] * 2
    rows = np.concatenate(rows)
    assert float(statistics.count) == len(rows)
    np.testing.assert_allclose(statistics.mean, rows.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(statistics.squares / statistics.count, rows.var(axis=0), rtol=1e-5)
    standard = jax.vmap(lambda row: normalised(statistics, row))(jnp.asarray(rows, jnp.float32))
    np.testing.assert_allclose(np.mean(standard, axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(np.std(standard, axis=0), 1.0, rtol=1e-4)


def test_features_that_never_vary_are_normalised_to_zero():
    constants = jnp.asarray(np.random.default_rng(0).normal(size=200), jnp.float32)
    alone = no_statistics(constants.shape)
    seen = observed(alone, alone.mean, jnp.broadcast_to(constants, (37, 200)), jnp.ones(37, bool))
    statistics = merged(alone, jax.tree.map(lambda leaf: leaf[None], seen))
    assert float(statistics.squares.min()) >= 0.0
    np.testing.assert_allclose(normalised(statistics, constants), 0.0, atol=1e-3)


def test_nothing_is_normalised_before_anything_was_seen():
    observation = jnp.array([0.5, -3.0])
    np.testing.assert_array_equal(normalised(no_statistics((2,)), observation), observation)


def test_an_observation_that_is_not_finite_does_not_spoil_the_statistics():
    world = countdown([5])

    def step(key, env_state, action):
        env_state, observation, reward, done = world.step(key, env_state, action)
        return env_state, jnp.where(env_state[0] == 2, jnp.nan, observation), reward, done

    policy = Policy(NETWORK, lambda key, outputs: 0.0 * outputs[0], normalise=True)
    _, seen = play(
        keys(1), world._replace(step=step), policy, no_statistics((2,)), jnp.zeros(NETWORK.num_weights), num_steps=5
    )
    assert float(seen.count) == 4
    assert np.isfinite(np.asarray(seen.mean)).all()


def test_all_members_meet_the_same_luck_and_every_step_its_own():
    drawn = []

    def reset(key):
        return jax.random.uniform(key), jnp.zeros(2)

    def step(key, env_state, action):
        luck = jax.random.uniform(key)
        jax.debug.callback(lambda value: drawn.append(float(value)), luck, ordered=False)
        return env_state, jnp.zeros(2), luck, jnp.array(False)

    policy = Policy(NETWORK, lambda key, outputs: outputs[0])
    episode_keys = jax.random.split(jax.random.key(0), 3)

    def of_member(genome):
        return play(episode_keys, Environment(reset, step, (2,), 1), policy, no_statistics((2,)), genome, num_steps=4)[
            0
        ]

    first, second = (of_member(jnp.full(NETWORK.num_weights, value)) for value in (0.0, 1.0))
    jax.effects_barrier()
    np.testing.assert_array_equal(first, second)
    assert len(set(drawn)) == 12
