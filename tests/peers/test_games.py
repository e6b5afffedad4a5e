"""Games and pendulum of gymnax, step by step against the packages that they were rewritten from."""

import gymnasium
import jax
import jax.numpy as jnp
import minatar
import numpy as np
import pytest
from gymnax.environments.minatar import asterix

from lga.tasks.control import gymnax_environment

pytestmark = pytest.mark.usefixtures("ranks_promoted")

EPISODES, STEPS = 60, 200
PEERS = {
    "SpaceInvaders-MinAtar": "space_invaders",
    "Breakout-MinAtar": "breakout",
    "Asterix-MinAtar": "asterix",
}


def played(game):
    """Number of actions, and random episodes: actions, observations, rewards, ends, and what Asterix would spawn."""
    environment = gymnax_environment(game, game)

    def episode(key):
        key_reset, key_actions, key_steps = jax.random.split(key, 3)
        actions = jax.random.randint(key_actions, STEPS, 0, environment.num_actions)

        def step(env_state, inputs):
            key, action = inputs
            spawned = asterix.spawn_entity(key, env_state)[0] if game == "Asterix-MinAtar" else 0
            env_state, observation, reward, done = environment.step(key, env_state, action)
            return env_state, (observation, reward, done, spawned)

        start, first = environment.reset(key_reset)
        _, rest = jax.lax.scan(step, start, (jax.random.split(key_steps, STEPS), actions))
        return actions, first, rest

    keys = jax.random.split(jax.random.key(3), EPISODES)
    return environment.num_actions, jax.tree.map(np.asarray, jax.jit(jax.vmap(episode))(keys))


def started_like(game, first):
    peer = minatar.Environment(PEERS[game], sticky_action_prob=0.0)
    peer.reset()
    if game == "Breakout-MinAtar":
        # The side that the ball starts from is all the luck there is.
        left = bool(first[3, 0, 1])
        peer.env.ball_x, peer.env.ball_dir = (0, 2) if left else (9, 3)
        peer.env.last_x = peer.env.ball_x
    return peer


def spawns(peer, entity):
    """Minatar's game with the entity that gymnax has drawn."""
    x, row, to_the_right, is_gold, _ = map(int, entity)

    def spawn():
        peer.env.entities[row - 1] = [x, row, bool(to_the_right), bool(is_gold)]

    peer.env._spawn_entity = spawn


@pytest.mark.parametrize("game", [*list(PEERS)[:2], pytest.param("Asterix-MinAtar", marks=pytest.mark.slow)])
def test_games_equal_those_of_minatar_in_every_step(game):
    num_actions, (actions, firsts, (observations, rewards, ends, spawned)) = played(game)
    steps, rewarded, ended = 0, 0.0, 0
    for episode in range(EPISODES):
        peer = started_like(game, firsts[episode])
        np.testing.assert_array_equal(peer.state(), firsts[episode])
        chosen = peer.minimal_action_set()
        assert len(chosen) == num_actions
        for step in range(STEPS):
            if game == "Asterix-MinAtar":
                # When gymnax finds no free row it puts something over a living entity, where minatar does nothing.
                if peer.env.spawn_timer == 0 and not spawned[episode, step, 4]:
                    break
                spawns(peer, spawned[episode, step])
            reward, terminal = peer.act(chosen[actions[episode, step]])
            assert reward == rewards[episode, step]
            assert terminal == ends[episode, step]
            steps, rewarded, ended = steps + 1, rewarded + reward, ended + terminal
            if terminal:
                break
            np.testing.assert_array_equal(peer.state(), observations[episode, step])
    # The comparison must have seen something: scores, ends, and more than first steps.
    assert steps > 200
    assert rewarded > 0
    assert ended > 0


def test_pendulum_equals_that_of_gymnasium_from_equal_states():
    environment = gymnax_environment("pendulum", "Pendulum-v1")
    step = jax.jit(environment.step)
    env_state, _ = environment.reset(jax.random.key(0))
    peer = gymnasium.make("Pendulum-v1").unwrapped
    peer.reset(seed=0)
    generator = np.random.default_rng(0)
    for _ in range(300):
        angle, speed = generator.uniform(-7.0, 7.0), generator.uniform(-8.0, 8.0)
        torque = generator.uniform(-2.5, 2.5)
        peer.state = np.array([angle, speed])
        theirs, their_reward, *_ = peer.step(np.array([torque]))
        here = env_state.replace(theta=jnp.float32(angle), theta_dot=jnp.float32(speed))
        _, ours, our_reward, done = step(jax.random.key(1), here, jnp.float32(torque))
        np.testing.assert_allclose(ours, theirs, atol=2e-5)
        np.testing.assert_allclose(our_reward, their_reward, rtol=2e-5, atol=2e-5)
        assert not done
