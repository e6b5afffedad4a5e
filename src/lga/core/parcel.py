"""Functions on their way to worker processes of our own, and nothing else: no file is ever unpickled.

As with every process pool, both ends of a pipe are one program. What comes from a file goes through `core/tree_io`.
"""

import pickle
from typing import Any

HOW_TO_PASS = (
    "Worker processes import the objective anew: define it at the top level of a module or script, and let a script "
    "start its work under `if __name__ == '__main__':`. With cloudpickle installed, lambdas and closures work too."
)


class ObjectiveError(RuntimeError):
    """The objective cannot reach a worker process; the message says why and what to do."""


def pack(fun: Any) -> bytes:
    try:
        from cloudpickle import dumps
    except ImportError:
        from pickle import dumps
    try:
        return dumps(fun)
    except Exception as error:
        raise ObjectiveError(f"the objective cannot be sent to worker processes: {error}. {HOW_TO_PASS}") from error


def require_picklable(fun: Any) -> None:
    """What `concurrent.futures` sends to processes is pickled plainly."""
    try:
        pickle.dumps(fun)
    except Exception as error:
        raise ObjectiveError(f"the executor's workers cannot have the objective: {error}. {HOW_TO_PASS}") from error


def unpack(parcel: bytes) -> Any:
    return pickle.loads(parcel)
