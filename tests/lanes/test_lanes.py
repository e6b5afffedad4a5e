"""Programs of lanes against what JAX computes: operation by operation, and whole episodes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga import native
from lga.lanes import LanesUnavailableError, build, lanes_of
from lga.lanes.scalars import Program, live_lines
from lga.lanes.source import LONGEST_PART, parts_of, step_text
from lga.tasks import rollout
from lga.tasks.network_task import TaskSize
from lga.tasks.networks import Convolution, cnn
from lga.tasks.registry import NEURO_TASKS, neuro_task

pytestmark = pytest.mark.skipif(
    build.compiler() is None or native.status().kernel != "native", reason="needs a C++ compiler and native kernels"
)
NUM_EPISODES, NUM_MEMBERS, NUM_STEPS = 5, 7, 3


@pytest.fixture(autouse=True)
def lanes_in_use(monkeypatch):
    monkeypatch.setenv(build.SWITCH, "1")


def both_ways(advance, carried, own, shared, num_steps=NUM_STEPS):
    """Last states by lanes and by JAX; the arrays have a first axis of episodes (carried) or members (own)."""

    def of_one(tree):
        return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), tree)

    program = lanes_of(
        lambda state, genome, common: (advance(state[0], genome, common), state[1]),
        (of_one(carried), jax.ShapeDtypeStruct((), bool)),
        of_one(own),
        shared,
        alive=lambda state: state[1],
        results=lambda state: state[0],
    )
    num_episodes = jax.tree.leaves(carried)[0].shape[0]
    by_lanes = program((carried, jnp.ones(num_episodes, bool)), own, shared, num_steps)

    def by_jax(state, genome):
        return jax.lax.fori_loop(0, num_steps, lambda _, state: advance(state, genome, shared), state)

    return by_lanes, jax.vmap(lambda genome: jax.vmap(lambda state: by_jax(state, genome))(carried))(own)


def check(advance, carried, own=None, shared=(), tolerance=2e-6, **options):
    own = jnp.linspace(-1.5, 2.0, NUM_MEMBERS) if own is None else own
    found, expected = both_ways(advance, carried, own, shared, **options)
    for one, other in zip(*map(jax.tree.leaves, (found, expected)), strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def normals(*shape):
    return jax.random.normal(jax.random.key(3), (NUM_EPISODES, *shape))


def test_functions_of_numbers_equal_those_of_jax():
    def advance(x, scale, shift):
        y = x * scale + shift[0]
        waves = jnp.sin(9.0 * y) + jnp.cos(-5.0 * x) + jnp.tanh(y) + jnp.exp(-jnp.abs(x)) + jnp.log(1.0 + y**2)
        part = jnp.clip(0.4 * x, -1.0, 1.0)
        turns = jnp.arctan2(y, x) + jnp.arcsin(part) - 2.0 * jnp.arccos(part) + jnp.sqrt(jnp.abs(y))
        parts = jnp.floor(y) + jnp.sign(x) + jnp.maximum(x, y) - jnp.minimum(x, 0.5) + x**3 - x / (1.0 + y**2)
        return jnp.where(x > y, 0.1 * waves, jnp.where(jnp.isfinite(x), turns, -parts)) + jnp.fmod(5.0 * x, 1.5)

    check(advance, normals(8), shared=(jnp.float32(0.3),), num_steps=1)


def test_what_is_not_finite_stays_so():
    states = jnp.asarray([[np.nan, 1.0, np.inf, -np.inf, 2.0]], jnp.float32)
    found, expected = both_ways(
        lambda x, own, _: jnp.maximum(x, 1.5) + jnp.minimum(x, own) + jnp.tanh(x) * jnp.exp(x),
        states,
        jnp.ones(1),
        (),
        num_steps=1,
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_whole_numbers_and_truth_values_equal_those_of_jax():
    def advance(state, own, _):
        number, word, flag = state
        step = (3 * number - 7) % 11 + jnp.abs(number) // 2 + jnp.where(flag, 1, 2)
        mixed = (word << 3) ^ (word >> 5) | jnp.uint32(9)
        return step.astype(jnp.int32), mixed, (flag & (step > 4)) | ~(mixed != 8) ^ (own > 0)

    numbers = jnp.arange(-2, NUM_EPISODES - 2, dtype=jnp.int32)
    check(advance, (numbers, numbers.astype(jnp.uint32) * 77, numbers % 2 == 0))


def test_arrays_are_arranged_summed_and_multiplied_as_in_jax():
    fixed = np.asarray([2, 0, 1, 1])

    def advance(table, own, matrix):
        moved = jnp.concatenate([table[::-1, 1:], table[:, :1]], axis=1).T.reshape(table.shape) + table[fixed[:3]]
        sums = table.sum(axis=0) + table.max(axis=0) - table.min(axis=1)[0] + jnp.cumsum(table[0])
        product = table @ matrix + jnp.einsum("ab,cb->ac", table, table) @ table
        spread = jnp.zeros((3, 4)).at[fixed[:3]].add(table).at[0, fixed].set(own)
        return 0.2 * moved + 0.1 * sums[None] + 0.05 * product + 0.1 * spread

    check(advance, normals(3, 4), shared=0.3 * jnp.eye(4) + 0.01, tolerance=1e-5)


def test_a_lane_indexes_by_numbers_of_its_own():
    def advance(state, own, _):
        table, place = state
        row, column = place % 3, place % 4
        picked = table[row, column] + jax.lax.dynamic_slice(table, (row, column), (2, 2)).sum()
        table = table.at[row, column].set(own).at[column % 3].set(jnp.full(4, picked))
        order = jnp.argsort(table[1])
        ranked = table.at[2].set(table[1][order])
        return 0.5 * ranked, place + 1 + jnp.argmax(table[0]).astype(jnp.int32)

    check(advance, (normals(3, 4), jnp.arange(NUM_EPISODES, dtype=jnp.int32)))


def test_loops_and_branches_equal_those_of_jax():
    def advance(state, own, _):
        x, count = state
        x = jax.lax.scan(lambda value, _: (0.9 * value + own, None), x, None, length=4)[0]
        x, turns = jax.lax.while_loop(lambda s: s[0] > 0.5, lambda s: (0.5 * s[0], s[1] + 1), (x, count))
        return jax.lax.cond(turns > 2, lambda x: x + 1.0, lambda x: x - own, x), turns

    check(advance, (normals(), jnp.zeros(NUM_EPISODES, jnp.int32)))


def test_random_numbers_are_those_of_jax():
    def advance(state, own, _):
        key, total = state
        key, key_uniform, key_choice = jax.random.split(key, 3)
        drawn = jax.random.uniform(key_uniform, (3,)).sum() + jax.random.randint(key_choice, (), 0, 5)
        chosen = jax.random.categorical(jax.random.fold_in(key_choice, 7), jnp.stack([own, 0.0, -own]))
        return key, total + drawn + chosen

    def of_words(state, own, shared):
        words, total = state
        key, total = advance((jax.random.wrap_key_data(words), total), own, shared)
        return jax.random.key_data(key), total

    words = jax.random.key_data(jax.random.split(jax.random.key(5), NUM_EPISODES))
    check(of_words, (words, jnp.zeros(NUM_EPISODES)))


def test_networks_of_one_member_see_the_images_of_its_lanes():
    network = cnn((5, 5, 2), (Convolution(16, 3),), (32,), 3)

    def advance(image, genome, _):
        return jnp.roll(image, 1, axis=0) * jnp.tanh(network.apply(genome, image[None])[0, 0])

    images = jnp.where(normals(5, 5, 2) > 1.0, 1.0, 0.0)
    genomes = 0.2 * jax.random.normal(jax.random.key(1), (NUM_MEMBERS, network.num_weights))
    check(advance, images, genomes, tolerance=1e-5)


def test_more_episodes_than_a_vector_has_lanes():
    check(lambda x, own, _: x + own, jnp.arange(19.0), jnp.arange(3.0))


def test_an_operation_without_a_rule_is_told():
    with pytest.raises(LanesUnavailableError, match="no rule for erf_inv"):
        both_ways(lambda x, own, _: jax.lax.erf_inv(x), normals(), jnp.ones(1), ())


def test_what_was_not_foreseen_is_told_and_left_to_jax(monkeypatch):
    def fails(*given):
        raise IndexError("of a rule")

    monkeypatch.setattr(build, "rollout_text", fails)
    with pytest.warns(UserWarning, match="IndexError.*JAX runs it"), pytest.raises(LanesUnavailableError):
        both_ways(lambda x, own, _: x, normals(), jnp.ones(1), ())


def test_values_of_other_types_are_left_to_jax():
    with pytest.raises(LanesUnavailableError, match="no values of type float16"):
        both_ways(lambda x, own, _: x, normals().astype(jnp.float16), jnp.ones(1), ())


def test_lanes_can_be_switched_off(monkeypatch):
    monkeypatch.setenv(build.SWITCH, "0")
    with pytest.raises(LanesUnavailableError, match=f"{build.SWITCH} is 0"):
        both_ways(lambda x, own, _: x, normals(), jnp.ones(1), ())


def test_without_a_compiler_there_are_no_lanes(monkeypatch):
    monkeypatch.setattr(build, "compiler", lambda: None)
    with pytest.raises(LanesUnavailableError, match="no C\\+\\+ compiler"):
        both_ways(lambda x, own, _: x - 123.0 * own, normals(), jnp.ones(1), ())


def test_the_same_operation_is_written_once_and_what_nobody_needs_not_at_all():
    program = Program()
    x = program.load("f", "carried", 0)
    first, again = (program.apply("multiply", "f", x, x) for _ in range(2))
    program.apply("sine", "f", x)
    assert first == again
    assert [line.name for line in live_lines(program.blocks[0].lines, {first.number})] == ["f_word_carried", "multiply"]


def test_long_programs_are_cut_into_functions_that_hand_over_what_is_needed():
    program = Program()
    first = last = program.load("f", "carried", 0)
    for _ in range(2 * LONGEST_PART):
        last = program.apply("add", "f", last, first)
    lines = program.blocks[0].lines
    parts = list(parts_of(lines))
    assert len(parts) == 3
    assert sum(map(len, parts)) == len(lines)
    text, num_between = step_text(lines, [last])
    # The first scalar, the last one of each of two parts, and the result.
    assert num_between == 4
    assert text.count("noinline") == 3


def episodes(name, monkeypatch, num_steps, switch):
    monkeypatch.setenv(build.SWITCH, switch)
    task = neuro_task(name, TaskSize(num_evaluations=3, num_tests=2, num_steps=num_steps))
    genomes = 0.3 * jax.random.normal(jax.random.key(1), (6, task.num_weights))
    state = task.init()
    for number in range(2):
        fitness, state = jax.jit(task.evaluate)(jax.random.key(number), state, genomes)
    return fitness, state, task.test(jax.random.key(9), state, genomes)


def check_episodes(name, monkeypatch, num_steps):
    by_lanes, by_jax = (jax.tree.leaves(episodes(name, monkeypatch, num_steps, switch)) for switch in "10")
    for one, other in zip(by_lanes, by_jax, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4)


def test_episodes_in_lanes_are_those_of_jax(monkeypatch):
    check_episodes("pendulum", monkeypatch, num_steps=50)


OTHERS = [name for name, entry in NEURO_TASKS.items() if entry.family in ("brax", "minatar")]


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_episodes_of_all_simulators_in_lanes_are_those_of_jax(name, monkeypatch, ranks_promoted):
    """Few steps of robots, which are chaotic: after twenty steps of the cheetah rounding has become all of it."""
    check_episodes(name, monkeypatch, 200 if name.startswith("minatar") else 2)


def test_what_needs_no_lanes_is_played_by_jax(monkeypatch):
    monkeypatch.setenv(build.SWITCH, "0")
    toy = rollout.Environment(lambda key: (jnp.zeros(()), jnp.zeros(1)), lambda *given: given, (1,), 1)
    policy = rollout.Policy(cnn((2, 2, 1), (Convolution(1, 1),), (), 1), lambda key, outputs: outputs)
    assert rollout.play_in_lanes(toy, policy, 3, False) is None
