"""The command line: `lga COMMAND ...`."""

import sys
from collections.abc import Callable
from importlib import import_module

from lga import __version__

# What each command does, and the function that does it. Modules are imported on use, so that a command needs only the
# extras of its own.
Commands = dict[str, "tuple[str, str | Commands]"]

COMMANDS: Commands = {
    "quickstart": ("discover a genetic algorithm, test it on unseen functions, write a report", "quickstart:main"),
    "minimize": ("minimise what a command prints or a Python function returns", "minimize:main"),
    "info": ("which kernel is in use, versions and devices", "info:main"),
    "train": ("meta-train a learned genetic algorithm", "train:main"),
    "bench": (
        "comparisons",
        {
            "bbob": ("learned and hand-designed algorithms on BBOB", "bench:bbob_main"),
            "generalization": ("other population sizes, dimensions and horizons", "bench:generalization_main"),
            "coco": ("a learned algorithm under COCO's observer, for cocopp", "bench:coco_main"),
            "hpob": ("learned and hand-designed algorithms on hyperparameters (HPO-B)", "bench_hpob:main"),
            "neuro": ("learned and hand-designed algorithms on neuroevolution tasks", "bench_neuro:main"),
        },
    ),
    "weights": (
        "installed weights",
        {
            "list": ("what is installed", "weights:list_main"),
            "info": ("where weights come from", "weights:info_main"),
            "export": ("copy weights to a file", "weights:export_main"),
            "average": ("the mean of several weights", "weights:average_main"),
        },
    ),
    "tasks": (
        "benchmark functions",
        {
            "list": ("all functions and their families", "tasks:list_main"),
            "show": ("pictures of all functions in two dimensions", "tasks:show_main"),
        },
    ),
}
EXTRAS = "train,bench,neuro,hpo"


def main() -> None:
    """Entry point: mistakes of the user end in one sentence, not in a traceback."""
    if sys.argv[1:] == ["--version"]:
        print(f"lga {__version__}")
        return
    try:
        dispatch("lga", COMMANDS, sys.argv[1:])
    except (ValueError, ImportError, OSError) as error:
        print(f"lga: {error}", file=sys.stderr)
        sys.exit(2)


def dispatch(program: str, commands: Commands, args: list[str]) -> None:
    if not args or args[0] in ("-h", "--help"):
        width = max(map(len, commands))
        print(f"usage: {program} COMMAND ...\n")
        for name, (summary, _) in commands.items():
            print(f"  {name:<{width}}  {summary}")
        print(f"\n`{program} COMMAND --help` tells more.")
        return
    if args[0] not in commands:
        raise ValueError(f"the command {args[0]!r} is unknown; `{program}` has: {', '.join(commands)}.")
    _, command = commands[args[0]]
    if isinstance(command, dict):
        dispatch(f"{program} {args[0]}", command, args[1:])
    else:
        function_of(command, f"{program} {args[0]}")(args[1:])


def function_of(command: str, program: str) -> Callable[[list[str]], None]:
    module, function = command.split(":")
    try:
        return getattr(import_module(f"lga.cli.{module}"), function)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"`{program}` needs the package {error.name}, which is not installed: pip install 'lga[{EXTRAS}]'."
        ) from error
