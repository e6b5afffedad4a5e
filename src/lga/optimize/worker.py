"""One evaluation of an objective, and what became of it. Worker processes import this: it must not import JAX."""

import math
import threading
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

FAILURES = ("exception", "nan", "plus_inf", "minus_inf", "wrong_type", "timeout", "dead_worker", "missing")


class Outcome(NamedTuple):
    """A finite value, or the kind of failure and a text about it; `shared` if a call for several solutions failed."""

    value: float
    failure: str | None = None
    text: str = ""
    shared: bool = False


def failed(kind: str, text: str = "") -> Outcome:
    return Outcome(math.nan, kind, text)


def call(fun: Callable[[Any], Any], solution: Any) -> Outcome:
    """Evaluates one solution. Nothing that the objective does short of Ctrl-C or death gets out of here."""
    try:
        return judge(fun(np.array(solution)))
    except TimeoutError as error:
        return failed("timeout", str(error) or "the objective raised TimeoutError")
    except (Exception, SystemExit):
        return failed("exception", traceback.format_exc(limit=-4).strip())


def judge(result: Any) -> Outcome:
    """A number, as a scalar or as an array of one element; anything else has failed."""
    array = np.asarray(result)
    if array.size != 1 or array.dtype.kind not in "fiubO" or isinstance(array.item(), str | bytes | type(None)):
        return failed("wrong_type", f"the objective returned {shortened(result)}, which is not one number")
    try:
        value = float(array.item())
    except (TypeError, ValueError, OverflowError) as error:
        return failed("wrong_type", f"the objective returned {shortened(result)}: {error}")
    if math.isnan(value):
        return failed("nan", "the objective returned NaN")
    if math.isinf(value):
        return failed("plus_inf" if value > 0.0 else "minus_inf", f"the objective returned {value}")
    return Outcome(value)


def call_within(fun: Callable[[Any], Any], solution: Any, seconds: float) -> Outcome:
    """Evaluates in a thread that is left behind when its time is over: for workers that are not ours to kill."""
    box: list[Outcome] = []
    thread = threading.Thread(target=lambda: box.append(call(fun, solution)), daemon=True)
    thread.start()
    thread.join(seconds)
    return box[0] if box else failed("timeout", f"no value after {seconds:g} s")


def shortened(thing: Any, length: int = 80) -> str:
    text = repr(thing)
    return text if len(text) <= length else f"{text[: length - 1]}…"
