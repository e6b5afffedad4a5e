"""Anybody's network evolves: trees of parameters, values that are draws, checkpoints."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lga
from lga.neuroevolution import ONCE, RATES_KEPT_UP, Judging

INPUTS = jnp.linspace(-1.0, 1.0, 16)[:, None]
PARAMS = {"hidden": {"kernel": jnp.zeros((1, 4)), "bias": jnp.linspace(-1.0, 1.0, 4)}, "readout": jnp.zeros((4, 1))}


def apply(params, inputs):
    hidden = inputs @ params["hidden"]["kernel"]
    return jnp.tanh(hidden + jnp.broadcast_to(params["hidden"]["bias"], hidden.shape)) @ params["readout"]


def wave(inputs):
    return jnp.sin(2.0 * inputs)


def misfit(key, network):
    """To a wave, on a batch that the key draws."""
    batch = INPUTS[jax.random.permutation(key, INPUTS.shape[0])[:8]]
    return jnp.mean((network(batch) - wave(batch)) ** 2)


def fit(**options):
    return lga.evolve(apply, PARAMS, misfit, **{"num_generations": 60, "popsize": 16, "sigma0": 0.3} | options)


def test_a_network_is_fitted_and_its_value_is_that_of_its_parameters(capsys):
    found = fit()
    assert jax.tree.structure(found.params) == jax.tree.structure(PARAMS)
    everywhere = float(jnp.mean((apply(found.params, INPUTS) - wave(INPUTS)) ** 2))
    untrained = float(jnp.mean(wave(INPUTS) ** 2))
    assert found.value == pytest.approx(everywhere, rel=0.5)
    assert found.value < 0.2 * untrained
    assert found.best.shape == found.median.shape == (60,)
    assert (found.best <= found.median).all()
    assert found.num_evaluations == 61 * 16
    assert "generation" in capsys.readouterr().out


@pytest.mark.usefixtures("ranks_promoted")  # by evosax
@pytest.mark.parametrize("algorithm", ["gesmr_ga", "sep_cma_es", "lga-1"])
def test_all_algorithms_go_by_name(algorithm):
    found = fit(algorithm=algorithm, num_generations=20, progress=False)
    assert found.best.min() < found.best[0]


def test_many_weights_evolve_by_what_was_learned_for_many_weights():
    def evolved(**options):
        target = jnp.linspace(-1.0, 1.0, 300)
        return lga.evolve(
            lambda params: params,
            jnp.zeros(300),
            lambda key, network: jnp.mean((network() - target) ** 2),
            num_generations=5,
            popsize=8,
            progress=False,
            **options,
        ).params

    assert (evolved() == evolved(algorithm="lga-net")).all()
    assert (evolved() != evolved(algorithm="lga-2")).any()


def test_largest_is_smallest_of_the_opposite():
    found = fit(num_generations=5, progress=False)
    opposite = lga.evolve(
        apply,
        PARAMS,
        lambda key, network: -misfit(key, network),
        maximize=True,
        num_generations=5,
        popsize=16,
        sigma0=0.3,
        progress=False,
    )
    assert opposite.value == -found.value
    np.testing.assert_array_equal(opposite.best, -found.best)


def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path):
    path = tmp_path / "run.safetensors"
    whole = fit(num_generations=12, progress=False)
    part = fit(checkpoint=path, callback=lambda number, best: number == 5, progress=False)
    assert part.num_generations == 5
    gone_on = fit(num_generations=12, checkpoint=path, progress=False)
    np.testing.assert_array_equal(gone_on.best, whole.best)
    jax.tree.map(np.testing.assert_array_equal, gone_on.params, whole.params)
    with pytest.raises(ValueError, match="of another run: seed was 0 and is 1 now"):
        fit(seed=1, checkpoint=path, progress=False)


def test_parents_that_are_judged_again_cost_evaluations():
    found = fit(num_generations=3, judging=Judging(again=True), progress=False)
    assert found.num_evaluations == 16 + 3 * 32


def test_rates_of_learned_weights_are_kept_up_unless_told_otherwise():
    usual, kept_up, once = (fit(num_generations=30, judging=how, progress=False) for how in (None, RATES_KEPT_UP, ONCE))
    np.testing.assert_array_equal(usual.best, kept_up.best)
    assert not np.array_equal(usual.best, once.best)
    usual, once = (fit(algorithm="samr_ga", num_generations=9, judging=how, progress=False) for how in (None, ONCE))
    np.testing.assert_array_equal(usual.best, once.best)


@pytest.mark.parametrize("judging", [Judging(again=True), Judging(forget=0.5)])
def test_a_lucky_parent_does_not_stay_for_ever(judging):
    """One lucky batch at the start: its parents would never be left if their fitness stayed as it was."""

    def luck(key, network):
        return misfit(key, network) - 100.0 * (jax.random.uniform(key) < 0.3)

    ages = {}
    for name, how in (("once", Judging()), ("other", judging)):
        found = lga.evolve(
            apply,
            PARAMS,
            luck,
            algorithm="gaussian_ga",
            judging=how,
            num_generations=40,
            popsize=16,
            sigma0=0.1,
            progress=False,
        )
        values = apply(found.params, INPUTS) - wave(INPUTS)
        ages[name] = float(jnp.mean(values**2))
    assert ages["other"] < ages["once"]


def test_what_cannot_evolve_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match=r"init_params\['step'\] has type int32, but only floats evolve"):
        lga.evolve(apply, PARAMS | {"step": jnp.zeros((), jnp.int32)}, misfit)
    with pytest.raises(ValueError, match="init_params holds no arrays"):
        lga.evolve(apply, {}, misfit)
    with pytest.raises(ValueError, match="must return one floating-point number"):
        lga.evolve(apply, PARAMS, lambda key, network: network(INPUTS))
    with pytest.raises(ValueError, match="no finite number for init_params"):
        lga.evolve(apply, PARAMS, lambda key, network: jnp.nan * misfit(key, network))
    with pytest.raises(ValueError, match="weights is 'lga-9', but must be a file or one of"):
        fit(algorithm="lga-9")
    with pytest.raises(ValueError, match="algorithm has 8 children, but popsize is 16"):
        fit(algorithm=lga.gaussian_ga(8))
