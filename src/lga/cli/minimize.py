"""`lga minimize`: for people with a program, or with a Python function and no wish to write a loop."""

import importlib
import inspect
import json
import logging
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import tyro

from lga.cli.command import Command, Variable, by_name
from lga.core.checks import require
from lga.core.files import require_writable, write_atomically
from lga.optimize.minimize import minimize, run_search
from lga.optimize.options import SearchOptions
from lga.optimize.programs import DEFAULT_ALGORITHM


@dataclass(frozen=True)
class Arguments(SearchOptions):
    """The options of a search as words on a command line, and where the objective is.

    Args:
        command: Program to run, with {NAME} for each variable, as in "./simulate {x} {y}". It is started without a
            shell; the last number that it prints is the value. An exit status other than 0 is a failed evaluation.
        shell: Give the command to a shell, for pipes and the like.
        python: The objective as MODULE:FUNCTION; modules of the current folder are found too.
        bounds: The variables. NAME= may be left out: the names are then x0, x1, …
        bounds_file: File with the variables.
        out: File for the result, instead of standard output.
        report: File for a page that shows all of the search, such as run.html.
        workers: Evaluations that run at once.
    """

    command: str | None = None
    shell: bool = False
    python: str | None = None
    bounds: tuple[str, ...] = ()
    bounds_file: Path | None = None
    x0: tuple[float, ...] | None = None
    sigma0: tuple[float, ...] | None = None
    direction: Literal["minimize", "maximize"] = "minimize"
    on_error: Literal["penalize", "retry", "raise"] = "penalize"
    workers: int = 1
    weights: str | None = None
    progress: bool = True
    integrality: tyro.conf.Suppress[None] = None
    log_scale: tyro.conf.Suppress[None] = None
    vectorized: tyro.conf.Suppress[bool] = False
    jit: tyro.conf.Suppress[bool] = False
    seed: int | None = None
    algorithm: str = DEFAULT_ALGORITHM
    categories: tyro.conf.Suppress[None] = None
    names: tyro.conf.Suppress[None] = None
    constraints: tyro.conf.Suppress[None] = None
    keep_evaluations: tyro.conf.Suppress[bool] = True
    out: Path | None = None
    report: Path | None = None


# All other options are explained once, where Python users find them; of two explanations the last one is shown.
Arguments.__doc__ = str(minimize.__doc__).split("Returns:")[0] + str(Arguments.__doc__).split("Args:")[1]


def main(args: list[str]) -> None:
    """Minimise what a command prints, or what a Python function returns. The result is JSON on standard output.

    A variable is written NAME=LOW:HIGH, with :int or :log or both behind it, as in `lr=1e-5:0.1:log layers=1:8:int`.
    An end may be left out. In a file, such words are separated by white space, and # begins a comment.
    """
    run_minimize(tyro.cli(Arguments, args=args, prog="lga minimize", description=inspect.getdoc(main)))


def run_minimize(given: Arguments) -> None:
    """What is wrong is said before anything is evaluated; if nothing succeeded, the exit status is 1."""
    require((given.command is None) != (given.python is None), "either command or python must be given, and not both.")
    logging.basicConfig(format="lga: %(message)s", level=logging.WARNING)
    variables = parse_variables(given.bounds, given.bounds_file)
    options = SearchOptions(**{field.name: getattr(given, field.name) for field in fields(SearchOptions)})
    options = replace(
        options,
        bounds=[(variable.low, variable.high) for variable in variables],
        integrality=[variable.integer for variable in variables],
        log_scale=[variable.log for variable in variables],
    )
    for file in (given.out, given.report):
        if file is not None:
            require_writable(file)
    fun: Callable[[Any], Any]
    if given.command is not None:
        fun = Command(given.command, variables, given.shell)
        # A limit that is never reached: only what runs in a process of its own can be ended at any moment.
        options = replace(options, timeout=math.inf if given.timeout is None else given.timeout)
    else:
        fun = find_function(str(given.python))
    result = run_search(fun, options)
    if given.report is not None:
        result.report(given.report)
    report = as_json(result, variables)
    if given.out is None:
        print(report)
    else:
        write_atomically(given.out, f"{report}\n".encode())
    if result.x is None:
        print(f"lga: {result.message}", file=sys.stderr)
        sys.exit(1)


def as_json(result: Any, variables: list[Variable]) -> str:
    found = result.x is not None
    x = by_name(variables, result.x) if found else None
    kept = ("nfev", "nit", "success", "status", "message", "restarts", "chosen", "seed")
    failures = {kind: count for kind, count in result.failures.items() if count}
    report = {"x": x, "fun": result.fun if found else None} | {name: result[name] for name in kept}
    return json.dumps(report | {"failures": failures}, indent=1)


def find_function(name: str) -> Callable[[Any], Any]:
    module, _, function = name.partition(":")
    require(bool(module and function), f"python is {name!r}, but must be MODULE:FUNCTION.")
    require(
        not module.endswith(".py"),
        f"python is {name!r}, but must be MODULE:FUNCTION: a module has no .py, as in {Path(module).stem}:{function}.",
    )
    if "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    found: Any = importlib.import_module(module)
    for part in function.split("."):
        require(hasattr(found, part), f"python is {name!r}, but {module} has no {function}.")
        found = getattr(found, part)
    return found


def parse_variables(bounds: tuple[str, ...], bounds_file: Path | None) -> list[Variable]:
    require(bool(bounds) != (bounds_file is not None), "either bounds or bounds_file must be given, and not both.")
    lines = bounds_file.read_text().splitlines() if bounds_file is not None else []
    words = [word for line in lines for word in line.split("#")[0].split()] or list(bounds)
    variables = [parse_variable(word.strip(), f"x{position}") for position, word in enumerate(words)]
    names = [variable.name for variable in variables]
    require(len(set(names)) == len(names), f"bounds name a variable twice: {', '.join(names)}.")
    return variables


def parse_variable(word: str, default_name: str) -> Variable:
    name, given, ends = word.rpartition("=")
    low, *rest = ends.split(":")
    high, *kinds = rest or [""]
    try:
        require(bool(rest) and set(kinds) <= {"int", "log"}, "")
        return Variable(
            name if given else default_name,
            float(low) if low else None,
            float(high) if high else None,
            "int" in kinds,
            "log" in kinds,
        )
    except ValueError:
        raise ValueError(
            f"bounds has {word!r}, but a variable is NAME=LOW:HIGH, with :int or :log behind it."
        ) from None
