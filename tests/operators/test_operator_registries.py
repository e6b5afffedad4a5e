"""Every operator keeps its contract: the registries are walked, so that a newcomer is met here too."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.algorithms.genetic import genetic_algorithm
from lga.core.population import Children
from lga.operators import crossover, mutation_rate, regression, sampling, scatter, screening, selection, shape
from lga.operators.theta import ThetaConfig
from samples import ALL_LEARNED, progress_of, random_archive, random_folded, sphere

REGISTRIES = {
    "sample": (sampling, sampling.SAMPLINGS),
    "cross": (crossover, crossover.CROSSOVERS),
    "rate": (mutation_rate, mutation_rate.RATES),
    "shape": (shape, shape.SHAPES),
    "select": (selection, selection.SELECTIONS),
    "scatter": (scatter, scatter.SCATTERINGS),
    "screen": (screening, screening.SCREENINGS),
    "regress": (regression, regression.REGRESSIONS),
}
STEPS = {"scatter": "shape", "regress": "screen"}
"""What `genetic_algorithm` calls a step, where its room has another name."""
OPERATORS = [(step, name) for step, (_, registry) in REGISTRIES.items() for name in registry]

# What factories need to be told; a newcomer with another argument adds it here.
ARGUMENTS = {"num_groups": 3, "low": -2.0, "high": 2.0}

FOLDED = random_folded(0, ThetaConfig((*ALL_LEARNED.learned, "scatter", "screen")))
# Of two operators for one step a theta has one.
OTHERS = {name: getattr(random_folded(0, ThetaConfig((name,))), name) for name in ("blend", "regress")}
PARENTS, OFFSPRING = random_archive(1, 5), random_archive(2, 8)
PROGRESS = progress_of(PARENTS)
SEED = 3


def build(step: str, name: str):
    factory = REGISTRIES[step][1][name]
    required = [p.name for p in inspect.signature(factory).parameters.values() if p.default is inspect.Parameter.empty]
    arguments = ARGUMENTS | {"folded": OTHERS.get(name, OTHERS.get(step, getattr(FOLDED, step, None)))}
    return factory(**{argument: arguments[argument] for argument in required})


@pytest.mark.parametrize("step", REGISTRIES)
def test_every_factory_of_a_room_is_in_its_registry(step):
    module, registry = REGISTRIES[step]
    contracts = {"Sampling", "Crossover", "MutationRate", "MutationShape", "Selection", "Screening"}
    # Factories of factories are not operators.
    parts = {"adaptive", "by_number_of_variables"}
    factories = {
        function
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and function.__name__ not in parts
        and getattr(inspect.signature(function).return_annotation, "__name__", "") in contracts
    }
    assert factories == set(registry.values())


@pytest.mark.parametrize(("step", "name"), OPERATORS)
@pytest.mark.usefixtures("no_key_reuse")
def test_an_operator_keeps_its_contract(step, name):
    operator = build(step, name)
    if step == "sample":
        index = jax.jit(operator, static_argnums=2)(jax.random.key(SEED), PARENTS, 8, PROGRESS)
        assert index.shape == (8,)
        assert np.all((index >= 0) & (index < 5))
    elif step == "cross":
        origins = jax.jit(operator)(jax.random.key(SEED), PARENTS, jnp.array([0, 4, 4, 1]), PROGRESS)
        assert origins.solutions.shape == (4, 3)
        assert origins.sigma.shape == (4,)
        assert np.all(np.isfinite(origins.solutions))
    elif step == "rate":
        key_propose, key_update = jax.random.split(jax.random.key(SEED))
        state = operator.init(jnp.asarray(0.5))
        sigma = jax.jit(operator.propose)(key_propose, state, OFFSPRING, PROGRESS)
        assert sigma.shape == (8,)
        assert np.all(np.isfinite(sigma) & (sigma >= 0))
        told = jax.jit(operator.update)(key_update, state, OFFSPRING, random_archive(4, 8))
        assert jax.tree.map(jnp.shape, told) == jax.tree.map(jnp.shape, state)
    elif step in ("screen", "regress"):
        past = operator.init(PARENTS.solutions, PARENTS.fitness)
        index = jax.jit(operator.choose, static_argnums=2)(past, OFFSPRING.solutions, 3)
        assert len(set(np.asarray(index).tolist())) == 3
        assert np.all((index >= 0) & (index < 8))
        told = jax.jit(operator.update)(past, OFFSPRING.solutions, OFFSPRING.fitness)
        assert jax.tree.map(jnp.shape, told) == jax.tree.map(jnp.shape, past)
    elif step in ("shape", "scatter"):
        memory, index, sigma = operator.init(PARENTS.solutions), jnp.arange(8) % 5, jnp.full(8, 0.5)
        solutions, noise = jax.jit(operator.mutate)(jax.random.key(SEED), memory, PARENTS.solutions, index, sigma)
        assert solutions.shape == (8, 3)
        told, factor = jax.jit(operator.update)(memory, Children(solutions, sigma, index, noise), OFFSPRING.fitness)
        assert jax.tree.map(jnp.shape, told) == jax.tree.map(jnp.shape, memory)
        assert factor is None or factor > 0
    else:
        index = jax.jit(operator)(jax.random.key(SEED), PARENTS, OFFSPRING, PROGRESS)
        assert index.shape == (5,)
        assert np.all((index >= 0) & (index < 13))


@pytest.mark.parametrize(("step", "name"), OPERATORS)
def test_an_operator_works_in_a_search_beside_the_others(step, name):
    algorithm = genetic_algorithm(8, 5, **{STEPS.get(step, step): build(step, name)})
    state = algorithm.init(jax.random.key(SEED), PARENTS.solutions, PARENTS.fitness, 0.5)
    for number in range(3):
        key_ask, key_tell = jax.random.split(jax.random.key(number))
        children, asked = algorithm.ask(key_ask, state)
        state = algorithm.tell(key_tell, asked, children, sphere(None, children.solutions))
    assert state.progress.generation == 3
    assert np.all(np.isfinite(state.parents.solutions))
    assert np.all(state.parents.sigma > 0)
