"""The same weights give the same numbers as in evosax, and the same baselines search at least as well."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from evosax.algorithms import GESMR_GA, SAMR_GA, LearnedGA
from evosax.learned_evolution.lga_tools import MutationFeatureEncoding

from lga.algorithms.presets import gesmr_ga, samr_ga
from lga.algorithms.run import run
from lga.operators.attention import readout, selection_logits
from lga.operators.features import fitness_features, rate_features, sampling_features
from lga.operators.fold import fold_readout, fold_selection
from lga.operators.mutation_rate import rate_multiplier
from lga.operators.rows import selection_row, with_one
from lga.operators.sampling import sampling_probabilities
from lga.operators.selection import joint_features
from lga.weights import theta_from_evosax
from samples import progress_of, random_archive

pytestmark = pytest.mark.usefixtures("ranks_promoted")

TOLERANCE = 1e-5
# (N, E)
SIZES = [(8, 8), (33, 3), (1, 16)]


# The second checkpoint is close to neutral; five times its weights make a function that is far from it.
@pytest.fixture(scope="module", params=[(10, 1), (100, 1), (100, 5)], ids=["v4", "v7", "five times v7"])
def learned(request):
    """An evosax algorithm with one of its two checkpoints, and our theta of the same weights."""
    num_dims, factor = request.param
    with jax.numpy_rank_promotion("allow"):
        peer = LearnedGA(8, jnp.zeros(num_dims))
    peer.lga_params = jax.tree.map(lambda leaf: factor * leaf, peer.lga_params)
    return peer, theta_from_evosax(peer.lga_params)


def deviation(record_property, name, ours, theirs) -> float:
    """The largest difference, in units of the larger of 1 and the value."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    largest = float(np.max(np.abs(ours - theirs) / np.maximum(1, np.abs(theirs))))
    record_property(f"largest deviation of {name}", largest)
    print(f"largest deviation of {name}: {largest:.1e}, of values that range over {np.ptp(theirs):.1e}")
    return largest


def logits_of_evosax(peer, child_features, parent_features):
    """Rows of queries times keys, from the outputs of evosax's own two last layers."""
    variables = peer.lga_params["selection"]
    _, captured = peer.selection_layer.apply(
        variables, jax.random.key(0), child_features, parent_features, capture_intermediates=True
    )
    layers = captured["intermediates"]
    queries, keys = layers["Dense_0"]["__call__"][0], layers["Dense_1"]["__call__"][0]
    return queries @ keys.T / jnp.sqrt(peer.selection_layer.att_hidden_dims)


@pytest.mark.parametrize(("num_children", "num_parents"), SIZES)
def test_selection_logits_equal_those_of_evosax(learned, num_children, num_parents, record_property):
    peer, theta = learned
    parents, offspring = random_archive(1, num_parents), random_archive(2, num_children)

    @jax.jit
    def logits():
        features = joint_features(parents.fitness, offspring.fitness, jnp.median(parents.fitness))
        folded, children = fold_selection(theta.select), with_one(features[1])
        rows = jax.vmap(lambda row: selection_row(folded, row, children))(with_one(features[0]))
        return logits_of_evosax(peer, features[1], features[0]), selection_logits(theta.select, *features), rows

    theirs, ours, rows = logits()
    assert deviation(record_property, "selection logits", ours, theirs) < TOLERANCE
    assert deviation(record_property, "folded selection logits", rows, theirs) < TOLERANCE


@pytest.mark.parametrize("num_children", [8, 33])
def test_rate_multipliers_equal_those_of_evosax(learned, num_children, record_property):
    peer, theta = learned
    sampled = random_archive(3, num_children)
    assert peer.mutation_layer.feature_encoding is MutationFeatureEncoding.LEGACY_2023

    @jax.jit
    def multipliers():
        best = jnp.median(sampled.fitness)
        features = rate_features(sampled, best)
        sigma = peer.mutation_layer.apply(
            peer.lga_params["mutation"], sampled.sigma[:, None], fitness_features(sampled.fitness, best)
        )
        ours, folded = 0.5 * readout(theta.rate, features), rate_multiplier(fold_readout(theta.rate), features)
        return sigma[:, 0] / sampled.sigma, jnp.exp(ours), folded

    theirs, ours, folded = multipliers()
    assert deviation(record_property, "rate multipliers", ours, theirs) < TOLERANCE
    assert deviation(record_property, "folded rate multipliers", folded, theirs) < TOLERANCE


@pytest.mark.parametrize("num_parents", [8, 33])
def test_sampling_probabilities_equal_those_of_evosax(learned, num_parents, record_property):
    peer, theta = learned
    parents = random_archive(4, num_parents)

    @jax.jit
    def probabilities():
        features = sampling_features(parents, progress_of(parents))
        return (
            peer.sampling_layer.apply(peer.lga_params["sampling"], features),
            jax.nn.softmax(readout(theta.sample, features)),
            sampling_probabilities(fold_readout(theta.sample), features),
        )

    theirs, ours, folded = probabilities()
    # Both checkpoints sample almost uniformly, so what tells parents apart is small.
    assert deviation(record_property, "sampling probabilities", ours, theirs) < 1e-7
    assert deviation(record_property, "folded sampling probabilities", folded, theirs) < 1e-7


def test_fitness_features_equal_those_of_evosax(record_property, learned):
    peer, _ = learned
    archive = random_archive(5, 24)
    best = jnp.median(archive.fitness)
    theirs = peer.fitness_features.apply(archive.solutions, archive.fitness, best)
    ours = fitness_features(archive.fitness, best)
    assert deviation(record_property, "fitness features", ours, theirs) < TOLERANCE


def test_features_of_equals_are_those_of_evosax(record_property, learned):
    """Both rank equal fitness by position: in an archive, and among `[children; parents]`."""
    peer, _ = learned
    archive = random_archive(5, 24)
    fitness = jnp.round(2 * archive.fitness)
    assert len(np.unique(fitness)) < 10
    best = jnp.median(fitness)
    theirs = peer.fitness_features.apply(archive.solutions, fitness, best)
    assert deviation(record_property, "features of equals", fitness_features(fitness, best), theirs) < TOLERANCE
    parents, children = joint_features(fitness[16:], fitness[:16], best)
    assert deviation(record_property, "features of equal parents", parents, theirs[16:]) < TOLERANCE
    assert deviation(record_property, "features of equal children", children, theirs[:16]) < TOLERANCE


def test_an_unshifted_import_is_what_evosax_calls_symmetric(learned):
    peer, _ = learned
    theta = theta_from_evosax(peer.lga_params, sigma_shift=0.0, learned_sampling=False)
    assert theta.sample is None
    sampled = random_archive(6, 8)
    symmetric = peer.mutation_layer.clone(feature_encoding=MutationFeatureEncoding.SYMMETRIC)

    @jax.jit
    def multipliers():
        best = jnp.median(sampled.fitness)
        fitness = fitness_features(sampled.fitness, best)
        sigma = symmetric.apply(peer.lga_params["mutation"], sampled.sigma[:, None], fitness)
        return rate_multiplier(fold_readout(theta.rate), rate_features(sampled, best)), sigma[:, 0] / sampled.sigma

    ours, theirs = multipliers()
    np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE)


def rastrigin(x):
    return jnp.sum(x**2 - 10.0 * jnp.cos(2.0 * jnp.pi * x) + 10.0, axis=-1)


def rosenbrock(x):
    return jnp.sum(100.0 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1.0 - x[:, :-1]) ** 2, axis=-1)


OBJECTIVES = {"sphere": lambda x: jnp.sum(x**2, axis=-1), "rastrigin": rastrigin, "rosenbrock": rosenbrock}
SEEDS, DIMS, GENERATIONS, SIGMA0 = 30, 10, 100, 0.5
PAIRS = {
    "samr": (32, samr_ga(32), SAMR_GA(32, jnp.zeros(DIMS))),
    "gesmr": (33, gesmr_ga(33, num_groups=4), GESMR_GA(33, jnp.zeros(DIMS), num_groups=4)),
}


def evaluate(number, x):
    """The objective as a number, so that one compiled program serves for all."""
    return jnp.stack([objective(x) for objective in OBJECTIVES.values()])[number]


def start_of(key, size):
    return jax.random.uniform(key, (size, DIMS), minval=-5.0, maxval=5.0)


def search_of_ours(algorithm, size):
    def search(number, key):
        key_start, key_run = jax.random.split(key)
        start = start_of(key_start, size)
        return run(key_run, algorithm, lambda _, x: evaluate(number, x), start, SIGMA0, GENERATIONS)[0].best_fitness

    return search


def search_of_evosax(algorithm, size):
    settings = algorithm.default_params.replace(std_init=SIGMA0)

    def search(number, key):
        def generation(state, key):
            key_ask, key_tell = jax.random.split(key)
            population, state = algorithm.ask(key_ask, state, settings)
            return algorithm.tell(key_tell, population, evaluate(number, population), state, settings)[0], None

        key_start, key_init, key_run = jax.random.split(key, 3)
        start = start_of(key_start, size)
        state = algorithm.init(key_init, start, evaluate(number, start), settings)
        return jax.lax.scan(generation, state, jax.random.split(key_run, GENERATIONS))[0].best_fitness

    return search


def best_of(search, seed) -> dict[str, np.ndarray]:
    """Final best of every seed, for every objective."""
    keys = jax.random.split(jax.random.key(seed), SEEDS)
    best = jax.jit(jax.vmap(jax.vmap(search, (None, 0)), (0, None)))(jnp.arange(len(OBJECTIVES)), keys)
    return dict(zip(OBJECTIVES, np.asarray(best), strict=True))


@pytest.mark.parametrize("name", PAIRS)
def test_baselines_search_no_worse_than_those_of_evosax(name, record_property):
    size, ours, theirs = PAIRS[name]
    our_best, their_best = best_of(search_of_ours(ours, size), 0), best_of(search_of_evosax(theirs, size), 1)
    for objective in OBJECTIVES:
        ours_median, median = np.median(our_best[objective]), np.median(their_best[objective])
        upper = np.quantile(their_best[objective], 0.75)
        figures = f"{name} on {objective}: ours {ours_median:.4g}, evosax {median:.4g} (upper quartile {upper:.4g})"
        record_property("medians", figures)
        print(figures)
        assert ours_median <= upper, figures
