"""Rules for arrays that are only arranged anew, which costs nothing unless each lane does it its own way."""

from collections.abc import Callable
from itertools import product
from typing import Any

import jax
import numpy as np

from lga.lanes.arithmetic import (
    SCALAR,
    Values,
    add,
    as_array,
    is_known,
    kind_like,
    known,
    mapped,
    require,
    select,
    shape_of,
    wrapped,
)
from lga.lanes.scalars import LanesUnavailableError, Program


def by_numpy(arrange: Callable) -> Callable:
    """`arrange(operand, shape of the result, parameters)`."""

    def apply(program: Program, equation: Any, operand: Values) -> Values:
        return arrange(operand, shape_of(equation), equation.params)

    return apply


def sliced(operand: Values, shape: tuple[int, ...], params: dict) -> Values:
    strides = params["strides"] or (1,) * operand.ndim
    return operand[tuple(map(slice, params["start_indices"], params["limit_indices"], strides))]


def broadcast(operand: Values, shape: tuple[int, ...], params: dict) -> Values:
    inserted = [1] * len(shape)
    for axis, place in enumerate(params["broadcast_dimensions"]):
        inserted[place] = operand.shape[axis]
    return np.broadcast_to(operand.reshape(inserted), shape)


def concatenated(program: Program, equation: Any, *operands: Values) -> Values:
    return np.concatenate(operands, axis=equation.params["dimension"])


def stacked(program: Program, equation: Any, *operands: Values) -> Values:
    return np.stack(operands, axis=equation.params["axis"])


def places_of(operand: Values, indices: Values, gather: Callable) -> np.ndarray:
    """Of a gathering whose indices are known: where in the operand each result comes from, -1 for nowhere."""
    flat = np.arange(operand.size, dtype=np.int32).reshape(operand.shape)
    return np.asarray(gather(flat, np.asarray(indices.tolist(), np.int32)))


def gathered(program: Program, equation: Any, operand: Values, indices: Values) -> Values:
    params = equation.params
    if not is_known(*indices.flat):
        return gathered_by_lanes(program, equation, operand, indices)

    def gather(flat: np.ndarray, indices: np.ndarray) -> Any:
        return jax.lax.gather(
            flat, indices, params["dimension_numbers"], params["slice_sizes"], mode=params["mode"], fill_value=-1
        )

    places = places_of(operand, indices, gather)
    if (places < 0).any():
        raise LanesUnavailableError("lanes do not fill in for indices out of bounds.")
    return np.asarray(operand).ravel()[places]


def taken(program: Program, rows: Values, index: Any) -> Values:
    """The row at an index that each lane knows, held between the first and the last one."""
    if is_known(index):
        return as_array(rows[min(max(int(index), 0), len(rows) - 1)])
    chosen = as_array(rows[-1])
    for number in range(len(rows) - 2, -1, -1):
        # The first of all is also what a negative index gives.
        is_this = SCALAR["le"](program, index, kind_like(index, number))
        chosen = mapped(select, program, chosen.shape, wrapped(is_this), chosen, as_array(rows[number]))
    return chosen


def dynamic_slice(program: Program, equation: Any, operand: Values, *starts: Values) -> Values:
    """Axis by axis: of all slices that there are, the one that begins at the start."""
    for axis, (start, size) in enumerate(zip(starts, equation.params["slice_sizes"], strict=True)):
        last = operand.shape[axis] - size
        if last == 0:
            continue
        slices = np.stack([operand.take(range(first, first + size), axis) for first in range(last + 1)])
        operand = taken(program, slices, start[()])
    return operand


def gathered_by_lanes(program: Program, equation: Any, operand: Values, indices: Values) -> Values:
    """Number by number, and axis by axis. Slices that would leave the operand are moved into it."""
    numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
    shape = shape_of(equation)
    batch_axes = [axis for axis in range(len(shape)) if axis not in numbers.offset_dims]
    taken_whole = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    window_axes = [axis for axis in range(operand.ndim) if axis not in taken_whole]
    batching = dict(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True))
    result = np.empty(shape, object)
    for place in np.ndindex(shape):
        batch = [place[axis] for axis in batch_axes]
        offsets = dict(zip(window_axes, (place[axis] for axis in numbers.offset_dims), strict=True))
        starts = dict(zip(numbers.start_index_map, indices[tuple(batch)], strict=True))
        found = operand
        for axis, (length, size) in enumerate(zip(operand.shape, sizes, strict=True)):
            offset = offsets.get(axis, 0)
            if axis in starts:
                found = taken(program, found[offset : offset + length - size + 1], starts[axis])
            else:
                found = as_array(found[batch[batching[axis]] if axis in batching else offset])
        result[place] = found[()]
    return result


def scattered_by_lanes(program: Program, equation: Any, operand: Values, indices: Values, updates: Values) -> Values:
    """Number by number: each may land wherever its indices could point to, and nowhere if that is out of bounds."""
    numbers = equation.params["dimension_numbers"]
    batch_axes = [axis for axis in range(updates.ndim) if axis not in numbers.update_window_dims]
    whole = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    window_axes = [axis for axis in range(operand.ndim) if axis not in whole]
    batching = dict(zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True))
    result = operand.copy()
    for place in np.ndindex(updates.shape):
        batch = [place[axis] for axis in batch_axes]
        offsets = dict(zip(window_axes, (place[axis] for axis in numbers.update_window_dims), strict=True))
        starts = dict(zip(numbers.scatter_dims_to_operand_dims, indices[tuple(batch)], strict=True))
        known_places = {axis: int(start) for axis, start in starts.items() if is_known(start)}
        unknown = {axis: start for axis, start in starts.items() if not is_known(start)}
        require(all(axis in numbers.inserted_window_dims for axis in unknown), "scattering of parts of rows")
        ranges = []
        for axis in range(operand.ndim):
            fixed = batch[batching[axis]] if axis in batching else offsets.get(axis, 0) + known_places.get(axis, 0)
            ranges.append(range(operand.shape[axis]) if axis in unknown else [fixed])
        for target in product(*ranges):
            is_here: Any = np.bool_(True)
            for axis, start in unknown.items():
                is_same = SCALAR["eq"](program, start, kind_like(start, target[axis]))
                is_here = SCALAR["and"](program, is_here, is_same)
            result[target] = select(program, is_here, result[target], updates[place])
    return result


def scattered(combine: Callable | None) -> Callable:
    def apply(program: Program, equation: Any, operand: Values, indices: Values, updates: Values) -> Values:
        numbers = equation.params["dimension_numbers"]
        if not is_known(*indices.flat):
            require(combine is None, "sums at places that differ between lanes")
            return scattered_by_lanes(program, equation, operand, indices, updates)
        window = [updates.shape[axis] for axis in numbers.update_window_dims]
        sizes = [1 if axis in numbers.inserted_window_dims else window.pop(0) for axis in range(operand.ndim)]
        as_gather = jax.lax.GatherDimensionNumbers(
            offset_dims=numbers.update_window_dims,
            collapsed_slice_dims=numbers.inserted_window_dims,
            start_index_map=numbers.scatter_dims_to_operand_dims,
        )

        def gather(flat: np.ndarray, indices: np.ndarray) -> Any:
            mode = jax.lax.GatherScatterMode.FILL_OR_DROP
            return jax.lax.gather(flat, indices, as_gather, tuple(sizes), mode=mode, fill_value=-1)

        places = places_of(operand, indices, gather)
        result = operand.ravel().copy()
        for place in np.ndindex(updates.shape):
            target = places[place]
            if target >= 0:
                result[target] = combine(program, result[target], updates[place]) if combine else updates[place]
        return result.reshape(operand.shape)

    return apply


def counted(program: Program, equation: Any) -> Values:
    params = equation.params
    return known(jax.lax.broadcasted_iota(params["dtype"], params["shape"], params["dimension"]))


STRUCTURE: dict[str, Callable] = {
    "slice": by_numpy(sliced),
    "squeeze": by_numpy(lambda operand, shape, params: operand.reshape(shape)),
    "expand_dims": by_numpy(lambda operand, shape, params: operand.reshape(shape)),
    "reshape": by_numpy(lambda operand, shape, params: operand.reshape(shape)),
    "broadcast_in_dim": by_numpy(broadcast),
    "transpose": by_numpy(lambda operand, shape, params: operand.transpose(params["permutation"])),
    "rev": by_numpy(lambda operand, shape, params: np.flip(operand, params["dimensions"])),
    "tile": by_numpy(lambda operand, shape, params: np.tile(operand, params["reps"])),
    "copy": by_numpy(lambda operand, shape, params: operand),
    "copy_p": by_numpy(lambda operand, shape, params: operand),
    "stop_gradient": by_numpy(lambda operand, shape, params: operand),
    "optimization_barrier": by_numpy(lambda operand, shape, params: operand),
    "concatenate": concatenated,
    "stack": stacked,
    "gather": gathered,
    "dynamic_slice": dynamic_slice,
    "scatter-add": scattered(add),
    "scatter": scattered(None),
    "iota": counted,
}
