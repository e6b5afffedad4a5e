"""Inner generations per second of meta-training with both kernels, side by side with evosax, and with a second core.

One inner generation is one ask-evaluate-tell of one candidate on one task: 10 noisy functions, N = E = 16, D up to 10,
T = 50, with the paper's two operators and with all those of the weights lga-2. evosax's LearnedGA and MetaBBOBProblem
are vmapped over the same numbers of candidates and tasks. Contestants live in processes of their own, pinned to their
cores, and take turns.
"""

import os
import statistics
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from experiments.form import Experiment, Outcome
from experiments.timing import Contestant, process_medians

NUM_CHILDREN, NUM_DIMS, NUM_GENERATIONS = 16, 10, 50
PAPERS_OPERATORS = ("select", "rate")
OUR_OPERATORS = (*PAPERS_OPERATORS, "sample", "blend", "jitter", "shape")


@dataclass(frozen=True)
class Settings:
    candidates: int = 64
    tasks: int = 32
    rounds: int = 5
    """Turns that each contestant gets."""
    growth: bool = True
    """Also time a second core at a larger scale, and whole meta-generations of growing size."""


def our_searches(settings: Settings, learned: tuple[str, ...] = PAPERS_OPERATORS):
    import jax
    import numpy as np

    from lga.meta.config import MetaConfig
    from lga.meta.objective import sample_trials
    from lga.meta.search_space import search_space
    from lga.meta.step import candidates_at_once, member_mesh, population_verdicts

    config = MetaConfig(meta_population=settings.candidates, num_tasks=settings.tasks, learned=learned)
    chunk = candidates_at_once(config, memory_gib=8.0)
    mesh = member_mesh(config, chunk)
    run = jax.jit(population_verdicts(config, mesh, chunk, NUM_CHILDREN))
    size = (settings.candidates, search_space(config).start.size)
    weights = 0.1 * np.random.default_rng(0).normal(size=size).astype(np.float32)
    trials = jax.tree.map(np.asarray, jax.jit(lambda key: sample_trials(key, config))(jax.random.key(1)))
    return lambda: jax.block_until_ready(run(weights, trials, np.int32(NUM_GENERATIONS)))


def evosax_searches(settings: Settings):
    import jax
    import jax.numpy as jnp
    from evosax.algorithms import LearnedGA
    from evosax.problems.bbob.meta_bbob import MetaBBOBProblem

    functions = ["sphere", "rosenbrock", "discus", "rastrigin_rotated", "schwefel"]
    functions += ["bueche_rastrigin", "attractive_sector", "weierstrass", "schaffers_f7", "griewank_rosenbrock"]
    noise = {"noise_model_names": ["noiseless", "gaussian", "uniform", "cauchy"], "use_stabilization": True}
    # Its upper bound is exclusive; the arrays have max_num_dims columns, as ours.
    problem = MetaBBOBProblem(functions, min_num_dims=2, max_num_dims=NUM_DIMS, noise_config=noise)
    algorithm = LearnedGA(NUM_CHILDREN, jnp.zeros(NUM_DIMS))
    settings_of = algorithm.default_params

    def search(theta, key):
        key_task, key_start, key_init, key_first, key_run = jax.random.split(key, 5)
        task = problem.sample_params(key_task)
        problem_state = problem.init(key_init, task)
        start = jax.vmap(problem.sample)(jax.random.split(key_start, NUM_CHILDREN))
        fitness, _, _ = problem.eval(key_first, start, problem_state, task)
        params = settings_of.replace(params=theta)
        state = algorithm.init(key_init, start, fitness, params)

        def generation(state, key):
            key_ask, key_evaluate, key_tell = jax.random.split(key, 3)
            children, state = algorithm.ask(key_ask, state, params)
            fitness, _, _ = problem.eval(key_evaluate, children, problem_state, task)
            state, _ = algorithm.tell(key_tell, children, fitness, state, params)
            return state, jnp.min(fitness)

        _, best = jax.lax.scan(generation, state, jax.random.split(key_run, NUM_GENERATIONS))
        return best[-1]

    def candidate(key):
        leaves, structure = jax.tree.flatten(settings_of.params)
        keys = jax.random.split(key, len(leaves))
        noisy = [leaf + 0.1 * jax.random.normal(k, leaf.shape) for k, leaf in zip(keys, leaves, strict=True)]
        return jax.tree.unflatten(structure, noisy)

    thetas = jax.vmap(candidate)(jax.random.split(jax.random.key(0), settings.candidates))
    keys = jax.random.split(jax.random.key(1), settings.tasks)
    run = jax.jit(jax.vmap(jax.vmap(search, in_axes=(None, 0)), in_axes=(0, None)))
    return lambda: jax.block_until_ready(run(thetas, keys))


with_shape = partial(our_searches, learned=OUR_OPERATORS)

CONTESTANTS = {
    "evosax, 1 core": Contestant(evosax_searches),
    "lga JAX, 1 core": Contestant(our_searches, kernel="jax"),
    "lga JAX, all operators of lga-2, 1 core": Contestant(with_shape, kernel="jax"),
    "lga native, 1 core": Contestant(our_searches, kernel="native"),
    "lga native, all operators of lga-2, 1 core": Contestant(with_shape, kernel="native"),
    "lga native, 2 cores": Contestant(our_searches, cores=2, kernel="native"),
}


def second_core(settings: Settings, console: Console) -> dict[str, float]:
    """What the second core brings where there is work enough for two."""
    larger = replace(settings, candidates=256, tasks=64)
    contestants = {name: CONTESTANTS[name] for name in ("lga native, 1 core", "lga native, 2 cores")}
    medians = process_medians(contestants, (larger,), settings.rounds)
    rates = {name: larger.candidates * larger.tasks * NUM_GENERATIONS / seconds for name, seconds in medians.items()}
    one, two = rates.values()
    console.print(
        f"256 candidates x 64 tasks: {one:,.0f} on one core, {two:,.0f} on two, {two / one:.2f} times as many"
    )
    return rates


def growth_table(console: Console) -> list[dict]:
    """Seconds of a meta-generation for growing M and J: linear if the last column stands still."""
    import jax

    jax.config.update("jax_num_cpu_devices", len(os.sched_getaffinity(0)))
    from lga.meta.config import MetaConfig, Scale
    from lga.meta.optimizers import meta_optimizer
    from lga.meta.search_space import search_space
    from lga.meta.step import candidates_at_once, member_mesh, meta_step

    table, rows = Table("M", "J", "seconds", "microseconds per inner generation"), []
    for candidates, tasks in ((64, 16), (64, 64), (128, 64), (256, 64), (256, 128)):
        config = MetaConfig(meta_population=candidates, num_tasks=tasks)
        space, chunk = search_space(config), candidates_at_once(config, 8.0)
        optimizer = meta_optimizer(config, space.start.size)
        step = meta_step(config, optimizer, member_mesh(config, chunk), chunk)
        state, times = optimizer.init(jax.random.key(0), space.start), []
        for meta_generation in range(4):
            begin = time.perf_counter()
            state, figures = step(state, meta_generation, [Scale(config.dims[1], NUM_CHILDREN, NUM_GENERATIONS)])
            jax.block_until_ready(figures)
            times.append(time.perf_counter() - begin)
        seconds = statistics.median(times[1:])
        per_inner = 1e6 * seconds / (candidates * tasks * NUM_GENERATIONS)
        table.add_row(str(candidates), str(tasks), f"{seconds:.2f}", f"{per_inner:.2f}")
        rows.append({"candidates": candidates, "tasks": tasks, "seconds": seconds})
    console.print(table)
    return rows


def run(settings: Settings, out: Path, console: Console) -> Outcome:
    inner_generations = settings.candidates * settings.tasks * NUM_GENERATIONS
    medians = process_medians(CONTESTANTS, (settings,), settings.rounds)
    rates = {name: inner_generations / seconds for name, seconds in medians.items()}
    table = Table("contestant", "inner generations per second", "ratio to evosax")
    for name, rate in rates.items():
        table.add_row(name, f"{rate:,.0f}", f"{rate / rates['evosax, 1 core']:.2f}")
    figures: dict = {"inner_generations_per_second": rates}
    if settings.growth:
        figures["second_core"] = second_core(settings, console)
        figures["growth"] = growth_table(console)
    return Outcome(figures, table)


EXPERIMENT = Experiment(
    "inner generations per second of meta-training with both kernels, beside evosax, and with a second core",
    {"smoke": Settings(candidates=8, tasks=4, rounds=1, growth=False), "paper": Settings()},
    run,
)
