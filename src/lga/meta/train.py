"""The training loop: meta-generations, validation, checkpoints. Killed and resumed, it ends with the same bits."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lga.meta.config import MetaConfig, Scale, parse_scale
from lga.meta.families import family_of
from lga.meta.neuro_validation import neuro_validator
from lga.meta.optimizers import meta_optimizer
from lga.meta.run_directory import BEST, FINAL, RunDirectory, load_checkpoint
from lga.meta.search_space import search_space
from lga.meta.speed_validation import SpeedValidation, speed_validator
from lga.meta.step import as_saved, candidates_at_once, member_mesh, meta_step
from lga.meta.tuning_validation import TuningValidation, tuning_validator
from lga.meta.validate import validation_protocol, validator
from lga.operators.theta import Theta
from lga.tasks.family import Family
from lga.weights import load_theta, save_theta

SECONDS_BETWEEN_CHECKPOINTS = float(os.environ.get("LGA_CHECKPOINT_SECONDS", "20"))


def train(
    config: MetaConfig,
    directory: Path,
    *,
    resume: bool = False,
    memory_gib: float = 8.0,
    report: Callable[[dict[str, Any]], None] = lambda entry: None,
    family: Family | None = None,
) -> Theta:
    """Runs or continues a training run and returns its best weights, by validation.

    The tasks are those that the settings name, unless a family is given.

    `report` is called after each meta-generation with what is also written to the metrics. Over several processes each
    runs this function on its share of the candidates; the first one validates and writes.
    """
    writer = RunDirectory(directory, config, resume) if jax.process_index() == 0 else None
    try:
        return _train(config, directory, writer, memory_gib, report, family)
    finally:
        if writer:
            writer.close()


def _train(config, directory, writer, memory_gib, report, family) -> Theta:
    space = search_space(config)
    optimizer = meta_optimizer(config, space.start.size)
    chunk = candidates_at_once(config, memory_gib)
    step = meta_step(config, optimizer, member_mesh(config, chunk), chunk, family)
    protocol, validate = validation_of(config, family)
    validate_neuro = neuro_validator(config.validation_tasks, config.elite_ratio)
    fresh = as_saved(optimizer.init(jax.random.key(config.seed), space.start))
    done, state, best = load_checkpoint(directory, fresh, config)
    if writer:
        writer.begin_after(done)

    def weights(state) -> Theta:
        return space.theta(jnp.asarray(np.asarray(optimizer.centre(state))))

    def provenance(meta_generation: int, validation: dict[str, Any]) -> dict[str, Any]:
        return {
            "run": asdict(config),
            "meta_generation": meta_generation,
            "validation": validation | {"protocol": asdict(protocol)},
        }

    last_save = time.monotonic()
    for meta_generation, scales in enumerate(drawn_scales(config), start=1):
        if meta_generation <= done:
            continue
        begin = time.monotonic()
        state, figures = step(state, meta_generation, scales)
        figures = {name: float(value) for name, value in figures.items()}
        seconds = time.monotonic() - begin
        if not writer:
            continue
        inner = config.meta_population * config.num_tasks * sum(scale.num_generations for scale in scales)
        entry = {"meta_generation": meta_generation, "scales": [str(scale) for scale in scales]}
        entry |= {"seconds": seconds, "inner_generations_per_second": inner / seconds, **figures}
        at_end = meta_generation == config.meta_generations
        if meta_generation % config.validate_every == 0 or at_end:
            validation = validate(weights(state))
            if config.validation_tasks:
                validation["neuroevolution"] = validate_neuro(weights(state))
            entry["validation"] = validation
            if best is None or validation["score"] < best["validation"]["score"]:
                best = {"meta_generation": meta_generation, "validation": validation}
                save_theta(directory / BEST, weights(state), provenance(meta_generation, validation))
            if at_end:
                save_theta(directory / FINAL, weights(state), provenance(meta_generation, validation))
        writer.log(entry)
        if at_end or time.monotonic() - last_save > SECONDS_BETWEEN_CHECKPOINTS:
            writer.save_checkpoint(meta_generation, state, best)
            last_save = time.monotonic()
        report(entry)
    return load_theta(directory / BEST)[0] if writer else weights(state)


def validation_of(config: MetaConfig, family: Family | None) -> tuple[Any, Callable[[Theta], dict[str, Any]]]:
    """What a run is validated by, and how."""
    scales = tuple(map(parse_scale, config.validation_scales))
    if config.tasks == "bbob":
        protocol = validation_protocol(config)
        return protocol, validator(protocol, config.elite_ratio, config.balanced)
    if config.tasks == "tuning":
        protocol = TuningValidation(scales, sigma0=config.validation_sigma0)
        return protocol, tuning_validator(protocol, config)
    protocol = SpeedValidation(scales, sigma0=config.validation_sigma0)
    return protocol, speed_validator(protocol, config, family or family_of(config))


def drawn_scales(config: MetaConfig) -> Iterator[list[Scale]]:
    """The sizes of search of each meta-generation, a function of the seed alone."""
    shortest, longest = config.num_generations
    for meta_generation in range(config.meta_generations):
        draw = np.random.default_rng([config.seed, meta_generation])
        if config.scales:
            yield [
                scale._replace(num_generations=log_uniform(draw, scale.shortest, scale.num_generations))
                for scale in config.largest_scales
            ]
        else:
            size = int(draw.choice(config.num_children))
            yield [Scale(config.dims[1], size, int(draw.integers(shortest, longest + 1)))]


def log_uniform(draw: np.random.Generator, low: int, high: int) -> int:
    return round(float(np.exp(draw.uniform(np.log(low), np.log(high)))))
