"""Programs in which an episode is a lane of a vector: functions of JAX, compiled to C++ for CPUs.

XLA runs a step of a simulator as some thousand small loops, most of which only arrange numbers anew. Here the function
of one episode is taken apart into scalars, so that arranging costs nothing, and written as straight C++ over vectors
that hold the same scalar of sixteen episodes. Where there is no compiler, or an operation has no rule, JAX does it all.
"""

from lga.lanes.build import lanes_of
from lga.lanes.scalars import LanesUnavailableError

__all__ = ["LanesUnavailableError", "lanes_of"]
