"""What a checkpoint knows of an objective: its name, what is filled in, and what it does."""

import hashlib
import sys
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from lga.core.tree_io import digest
from lga.optimize.constraints import Constrained
from lga.optimize.variables import ByName, WithArgs


def name_of(fun: Any) -> str:
    """The name and, if some arguments are filled in, these."""
    if isinstance(fun, partial):
        filled_in = [shown(value) for value in fun.args]
        filled_in += [f"{name}={shown(value)}" for name, value in sorted(fun.keywords.items())]
        return f"partial({', '.join([name_of(fun.func), *filled_in])})"
    if isinstance(fun, WithArgs):
        return f"{name_of(fun.fun)}(x, {', '.join(map(shown, fun.args))})"
    if isinstance(fun, Constrained):
        return f"{name_of(fun.fun)} subject to {', '.join(map(limits_of, fun.constraints))}"
    if isinstance(fun, ByName):
        return f"{name_of(fun.fun)} of {', '.join(fun.names.names)}"
    named = fun if hasattr(fun, "__qualname__") else type(fun)
    return f"{named.__module__}.{named.__qualname__}"


def limits_of(constraint: Any) -> str:
    inner = constraint if not hasattr(constraint, "lb") else getattr(constraint, "fun", None)
    limits = [shown(getattr(constraint, name)) for name in ("A", "lb", "ub") if hasattr(constraint, name)]
    return ", ".join([*([] if inner is None else [name_of(inner)]), *limits])


def shown(value: Any) -> str:
    """An argument, by its content where that is the same in every process; other things by what they are called."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | Path):
        text = repr(value)
        return text if len(text) <= 80 else hashlib.sha256(text.encode()).hexdigest()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {shown(one)}' for name, one in value.items())}}}"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return digest({"value": np.asarray(value)}) if np.asarray(value).dtype.kind != "O" else name_of(value)
    return name_of(value)


def content_of(fun: Any) -> str | None:
    """A digest of what a function of Python's does; None if it is something else.

    It is taken from the compiled code, so that comments may change. Functions that it calls are not looked into.
    """
    while isinstance(fun, partial | WithArgs | Constrained | ByName):
        fun = fun.func if isinstance(fun, partial) else fun.fun
    plain = getattr(fun, "__func__", fun)
    code = getattr(plain, "__code__", None) or getattr(vars(type(fun)).get("__call__"), "__code__", None)
    if code is None:
        return None
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"{version}: {hashlib.sha256(code_text(code).encode()).hexdigest()}"


def code_text(code: CodeType) -> str:
    """Instructions, names and constants; not where they stand in a file."""
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constant_text(code.co_consts)}"


def constant_text(constant: Any) -> str:
    if isinstance(constant, CodeType):
        return code_text(constant)
    if isinstance(constant, tuple):
        return f"({', '.join(map(constant_text, constant))})"
    if isinstance(constant, frozenset):
        # Its order is another one in every process.
        return f"{{{', '.join(sorted(map(constant_text, constant)))}}}"
    return repr(constant)


def differs(before: str | None, now: str | None) -> bool:
    """Whether an objective is known to be another one. Each version of Python has instructions of its own."""
    if before is None or now is None or before.split(":")[0] != now.split(":")[0]:
        return False
    return before != now
