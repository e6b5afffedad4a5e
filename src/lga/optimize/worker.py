"""One evaluation of an objective, and what became of it. Worker processes import this: it must not import JAX."""

import math
import os
import reprlib
import threading
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

FAILURES = ("exception", "nan", "plus_inf", "minus_inf", "wrong_type", "timeout", "dead_worker", "missing")
MOST_TEXT = 4096
"""Characters that are kept of what a failure says: it goes into every checkpoint."""


PLAIN = (float, np.float64)
"""What most objectives return; the questions below take longer than they do."""


class Outcome(NamedTuple):
    """A finite value, or the kind of failure and a text about it; `shared` if a call for several solutions failed."""

    value: float
    failure: str | None = None
    text: str = ""
    shared: bool = False
    violation: float = 0.0
    """Of constraints. Where it is more than 0, the objective was not asked and there is no value."""


class Noted(NamedTuple):
    """What became of one evaluation. What is not final, a failure with another try to come, still waits for a value."""

    position: int
    outcome: Outcome
    is_final: bool = True


class Judgement(NamedTuple):
    """What an objective with constraints returns."""

    value: Any
    violation: float


def failed(kind: str, text: str = "") -> Outcome:
    return Outcome(math.nan, kind, text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 2]} …")


def call(fun: Callable[[Any], Any], solution: Any) -> Outcome:
    """Evaluates one solution. Nothing that the objective does short of Ctrl-C or death gets out of here."""
    return guarded(lambda: judge(fun(np.array(solution))))


def guarded(evaluate: Callable[[], Any]) -> Any:
    """What is evaluated, or the failure that it ended in.

    A process that the objective has forked comes back here as well, if it does not end itself: it must neither answer
    nor go on with the search.
    """
    own = os.getpid()
    try:
        return evaluate()
    except KeyboardInterrupt:
        # Ctrl-C reaches the main thread alone: in any other it is an exception of the objective.
        if threading.current_thread() is threading.main_thread():
            raise
        return failed("exception", told())
    except TimeoutError as error:
        return failed("timeout", last_line(error))
    except BaseException:
        return failed("exception", told())
    finally:
        if os.getpid() != own:
            os._exit(1)


def told() -> str:
    """The traceback of the exception at hand, however odd that is."""
    try:
        return traceback.format_exc(limit=-4).strip()
    except Exception:
        return "an exception that cannot be shown"


def last_line(error: BaseException) -> str:
    """Its type and what it says; an exception need not survive being asked."""
    return traceback.format_exception_only(error)[-1].strip()


def judge(result: Any) -> Outcome:
    """A number, as a scalar or as an array of one element; anything else has failed."""
    if type(result) in PLAIN and math.isfinite(result):
        return Outcome(float(result))
    if isinstance(result, Judgement):
        if math.isnan(result.violation) or math.isinf(result.violation):
            return failed("nan", f"the violation of the constraints is {result.violation}")
        return Outcome(math.nan, violation=result.violation) if result.violation > 0.0 else judge(result.value)
    if is_masked(result):
        return failed("wrong_type", "the objective returned a masked value, which is no number")
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


def judge_all(result: Any, number: int) -> list[Outcome] | Outcome:
    """One outcome for each of several solutions; if there is not one number for each, one failure for all."""
    values = np.asarray(result)
    if values.size != number or values.dtype.kind not in "fiub":
        gave = f"{number} solutions gave values of shape {values.shape}"
        how = f"the function gets [n, d], here n = {number} rows, and returns [n]; SciPy's would get the transpose"
        return failed("wrong_type", f"{gave}: {how}")
    hidden = np.ma.getmaskarray(result) if isinstance(result, np.ma.MaskedArray) else np.zeros(number, bool)
    pairs = zip(values.ravel(), hidden.ravel(), strict=True)
    return [judge(np.ma.masked if is_hidden else value) for value, is_hidden in pairs]


def is_masked(result: Any) -> bool:
    """Whether NumPy would show a number where there is none: under a mask lies whatever was there before."""
    return isinstance(result, np.ma.MaskedArray) and bool(np.ma.getmaskarray(result).any())


def call_within(fun: Callable[[Any], Any], solution: Any, seconds: float) -> Outcome:
    """Evaluates in a thread that is left behind when its time is over: for workers that are not ours to kill."""
    box: list[Outcome] = []
    thread = threading.Thread(target=lambda: box.append(call(fun, solution)), daemon=True)
    thread.start()
    thread.join(min(seconds, threading.TIMEOUT_MAX))
    return box[0] if box else failed("timeout", f"no value after {seconds:g} s")


def shortened(thing: Any) -> str:
    short = reprlib.Repr()
    short.maxother = short.maxstring = 80
    return short.repr(thing)
