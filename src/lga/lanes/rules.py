"""What the operations of JAX are when arrays are taken apart: one rule for each, for one lane."""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core as jex
from jax.extend.random import threefry_prng_impl

from lga.lanes.arithmetic import (
    ELEMENTWISE,
    SCALAR,
    Values,
    add,
    convert,
    is_known,
    known,
    mapped,
    multiply,
    pairs,
    require,
    select,
    shape_of,
    words_of,
    wrapped,
)
from lga.lanes.arrangement import STRUCTURE
from lga.lanes.scalars import LanesUnavailableError, Memory, Program, Scalar, kind_of_type


def evaluate(program: Program, jaxpr: Any, constants: Sequence[Any], arguments: Sequence[Values]) -> list[Values]:
    """The results of a program of JAX, as scalars."""
    values: dict[Any, Values] = {}

    def read(variable: Any) -> Values:
        return known(variable.val) if isinstance(variable, jex.Literal) else values[variable]

    def write(variable: Any, value: Values) -> None:
        values[variable] = value

    for variable, value in zip(jaxpr.constvars, map(known, constants), strict=True):
        write(variable, value)
    for variable, value in zip(jaxpr.invars, arguments, strict=True):
        write(variable, value)
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        operands = [read(variable) for variable in equation.invars]
        if name in STRUCTURE or name in ELEMENTWISE:
            results = [(STRUCTURE if name in STRUCTURE else ELEMENTWISE)[name](program, equation, *operands)]
        elif name in SEVERAL:
            results = SEVERAL[name](program, equation, *operands)
        else:
            raise LanesUnavailableError(f"lanes have no rule for {name}.")
        for variable, result in zip(equation.outvars, results, strict=True):
            write(variable, result)
    return [read(variable) for variable in jaxpr.outvars]


def reduction(name: str) -> Callable:
    combine = SCALAR[name]

    def apply(program: Program, equation: Any, operand: Values) -> list[Values]:
        axes = equation.params["axes"]
        rest = [axis for axis in range(operand.ndim) if axis not in axes]
        rows = operand.transpose(*rest, *axes).reshape(*(operand.shape[axis] for axis in rest), -1)
        result = np.empty(rows.shape[:-1], object)
        for place in np.ndindex(result.shape):
            result[place] = reduce(partial(combine, program), rows[place])
        return [result]

    return apply


def products(program: Program, equation: Any, left: Values, right: Values) -> list[Values]:
    (left_sum, right_sum), (left_batch, right_batch) = equation.params["dimension_numbers"]
    left_free = [axis for axis in range(left.ndim) if axis not in (*left_sum, *left_batch)]
    right_free = [axis for axis in range(right.ndim) if axis not in (*right_sum, *right_batch)]
    lefts = left.transpose(*left_batch, *left_free, *left_sum)
    rights = right.transpose(*right_batch, *right_free, *right_sum)
    num_batch = len(left_batch)
    batch = lefts.shape[:num_batch]
    left_shape = lefts.shape[num_batch : num_batch + len(left_free)]
    right_shape = rights.shape[num_batch : num_batch + len(right_free)]
    result = np.empty((*batch, *left_shape, *right_shape), object)
    for one, two, three in product(*map(np.ndindex, (batch, left_shape, right_shape))):
        row, column = np.ravel(lefts[(*one, *two)]), np.ravel(rights[(*one, *three)])
        terms = [multiply(program, a, b) for a, b in zip(row, column, strict=True)]
        result[(*one, *two, *three)] = reduce(partial(add, program), terms)
    return [result]


def cut(program: Program, equation: Any, operand: Values) -> list[Values]:
    ends = np.cumsum(equation.params["sizes"])[:-1]
    return np.split(operand, ends, axis=equation.params["axis"])


def running_sums(program: Program, equation: Any, operand: Values) -> list[Values]:
    require(operand.ndim == 1 and not equation.params["reverse"], "running sums of matrices")
    result = operand.copy()
    for place in range(1, len(result)):
        result[place] = add(program, result[place - 1], result[place])
    return [result]


def largest_place(program: Program, equation: Any, operand: Values) -> list[Values]:
    """The first of equals; what is no number counts as the largest, in JAX, and does not occur here."""
    (axis,) = equation.params["axes"]
    rows = np.moveaxis(operand, axis, -1)
    result = np.empty(rows.shape[:-1], object)
    for place in np.ndindex(result.shape):
        best, where = rows[place][0], np.int32(0)
        for number, value in enumerate(rows[place][1:], start=1):
            is_better = SCALAR["gt"](program, value, best)
            best = select(program, is_better, best, value)
            where = select(program, is_better, where, np.int32(number))
        result[place] = where
    return [result]


def ordered(program: Program, equation: Any, *operands: Values) -> list[Values]:
    """Neighbours that stand the wrong way round change places, round after round; equals never do."""
    params = equation.params
    require(params["num_keys"] == 1, "sorting by several keys")
    rows = [np.moveaxis(operand, params["dimension"], -1).copy() for operand in operands]
    length = rows[0].shape[-1]
    for place in np.ndindex(rows[0].shape[:-1]):
        for turn in range(length):
            for first in range(turn % 2, length - 1, 2):
                one, other = (*place, first), (*place, first + 1)
                is_wrong = SCALAR["lt"](program, rows[0][other], rows[0][one])
                for row in rows:
                    low, high = row[one], row[other]
                    row[one] = select(program, is_wrong, low, high)
                    row[other] = select(program, is_wrong, high, low)
    return [np.moveaxis(row, -1, params["dimension"]) for row in rows]


def repeated(program: Program, equation: Any, *operands: Values) -> list[Values]:
    """While it holds for any lane; what others carry stays as it is."""
    params = equation.params
    num_condition, num_body = params["cond_nconsts"], params["body_nconsts"]
    of_condition, of_body = operands[:num_condition], operands[num_condition : num_condition + num_body]
    begin = operands[num_condition + num_body :]
    condition, inner = params["cond_jaxpr"], params["body_jaxpr"]

    def holds(values: Sequence[Values]) -> Any:
        (found,) = evaluate(program, condition.jaxpr, condition.consts, [*of_condition, *values])
        require(found.size == 1, "loops that several episodes of a lane leave one by one")
        return found.ravel()[0]

    def body(carried: list[Scalar]) -> list[Any]:
        *before, going = carried
        after = flat(evaluate(program, inner.jaxpr, inner.consts, [*of_body, *like(begin, before)]))
        kept = [select(program, going, old, new) for old, new in zip(before, after, strict=True)]
        return [*kept, SCALAR["and"](program, going, holds(like(begin, kept)))]

    kinds = kinds_carried(equation, begin)
    last = program.loop(None, [*flat(begin), holds(begin)], [*kinds, "b"], body)
    return like(begin, last[:-1])


def convolved(program: Program, equation: Any, images: Values, filters: Values, bias: Values) -> list[Values]:
    """Of one image of a lane. Weights lie in memory as they are, the same for all lanes."""
    require(equation.params["target_name"] == "lga_convolve", equation.params["target_name"])
    require(not equation.params["attributes"] or not dict(equation.params["attributes"])["pooled"], "pooling")
    require(images.shape[0] == 1, "images of several lanes")
    height, width, channels = images.shape[1:]
    places = [memory_of(program, weights) for weights in (filters, bias)]
    settings = (height, width, channels, filters.shape[0], filters.shape[3])
    shape = shape_of(equation)
    found = program.call("convolve", ["f"] * int(np.prod(shape)), [list(images.ravel()), *places], *settings)
    return like([np.empty(shape, object)], found)


def memory_of(program: Program, values: Values) -> Memory:
    """Where weights lie that are as they came, end to end."""
    loads = [program.loads.get(value, ("", 0)) if isinstance(value, Scalar) else ("", 0) for value in values.flat]
    name, start = loads[0]
    places = [("own", start + number) for number in range(values.size)]
    require(loads == places, "filters that are not weights as they lie in memory")
    return Memory(name, start)


def platform(program: Program, equation: Any) -> list[Values]:
    """CPUs, or what stands for all."""
    names = equation.params["platforms"]
    return [wrapped(np.int32(next(row for row, known in enumerate(names) if known is None or "cpu" in known)))]


def inlined(name: str) -> Callable:
    def apply(program: Program, equation: Any, *operands: Values) -> list[Values]:
        inner = equation.params[name]
        return evaluate(program, inner.jaxpr, inner.consts, operands)

    return apply


def scanned(program: Program, equation: Any, *operands: Values) -> list[Values]:
    params = equation.params
    num_constants, num_carry = params["num_consts"], params["num_carry"]
    if len(operands) > num_constants + num_carry or len(equation.outvars) > num_carry:
        raise LanesUnavailableError("lanes know loops that carry, not those over rows.")
    constants, begin = operands[:num_constants], operands[num_constants:]
    inner = params["jaxpr"]
    kinds = kinds_carried(equation, begin)

    def body(carried: list[Scalar]) -> list[Any]:
        results = evaluate(program, inner.jaxpr, inner.consts, [*constants, *like(begin, carried)])
        return flat(results)

    return like(begin, program.loop(params["length"], flat(begin), kinds, body))


def kinds_carried(equation: Any, begin: Sequence[Values]) -> list[str]:
    """Of each scalar that a loop carries."""
    kinds = [kind_of_type(variable.aval.dtype) for variable in equation.outvars]
    return [kind for kind, array in zip(kinds, begin, strict=True) for _ in array.flat]


def flat(values: Sequence[Values]) -> list[Any]:
    return [scalar for array in values for scalar in array.ravel()]


def like(values: Sequence[Values], scalars: Sequence[Any]) -> list[Values]:
    """The scalars in arrays of the same shapes."""
    rest = iter(scalars)
    made = []
    for array in values:
        made.append(np.empty(array.shape, object))
        for place in np.ndindex(array.shape):
            made[-1][place] = next(rest)
    return made


def chosen_branch(program: Program, equation: Any, which: Values, *operands: Values) -> list[Values]:
    """All branches, and the results of one; that one alone, if it is known which."""
    if is_known(which[()]):
        branch = equation.params["branches"][int(which[()])]
        return evaluate(program, branch.jaxpr, branch.consts, operands)
    cases = [evaluate(program, branch.jaxpr, branch.consts, operands) for branch in equation.params["branches"]]
    return [
        mapped(lambda program, *each: select(program, which[()], *each), program, results[0].shape, *results)
        for results in zip(*cases, strict=True)
    ]


def of_random_numbers(function: Callable, is_key: bool) -> Callable:
    """`function(parameters)` maps the words of a key, and what else there is, to words."""

    def apply(program: Program, equation: Any, keys: Values, *others: Values) -> list[Values]:
        shapes = [jax.ShapeDtypeStruct((2,), jnp.uint32), *(jax.ShapeDtypeStruct((), jnp.uint32) for _ in others)]
        inner = jax.make_jaxpr(function(equation.params))(*shapes)

        def of_one(key: Values, *rest: Any) -> Values:
            arguments = [words_of(key), *(mapped(convert, program, (), each, kind="u") for each in rest)]
            (words,) = evaluate(program, inner.jaxpr, inner.consts, arguments)
            return words

        rows = [keys, *(np.broadcast_to(each, keys.shape) for each in others)]
        found = [of_one(*(row[(*place, ...)] for row in rows)) for place in np.ndindex(keys.shape)]
        words = np.stack(found).reshape((*keys.shape, *found[0].shape))
        return [pairs(words) if is_key else words]

    return apply


def hashed(program: Program, equation: Any, *operands: Values) -> list[Values]:
    """Threefry of a key and a counter, two words each."""
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    first, second = np.empty(shape, object), np.empty(shape, object)
    rows = [np.broadcast_to(operand, shape) for operand in operands]
    for place in np.ndindex(shape):
        four = tuple(row[place] for row in rows)
        first[place] = program.apply("threefry_first", "u", *four)
        second[place] = program.apply("threefry_second", "u", *four)
    return [first, second]


def counters(program: Program, equation: Any) -> list[Values]:
    """High and low words of the numbers from 0 on."""
    shape = equation.params["shape"]
    numbers = np.arange(np.prod(shape, dtype=np.uint64), dtype=np.uint64).reshape(shape)
    return [known((numbers >> np.uint64(32)).astype(np.uint32)), known(numbers.astype(np.uint32))]


SEVERAL: dict[str, Callable] = {
    "reduce_sum": reduction("add"),
    "reduce_max": reduction("max"),
    "reduce_min": reduction("min"),
    "reduce_and": reduction("and"),
    "reduce_or": reduction("or"),
    "dot_general": products,
    "split": cut,
    "platform_index": platform,
    "cumsum": running_sums,
    "argmax": largest_place,
    "sort": ordered,
    "while": repeated,
    "ffi_call": convolved,
    "jit": inlined("jaxpr"),
    "pjit": inlined("jaxpr"),
    "closed_call": inlined("call_jaxpr"),
    "custom_jvp_call": inlined("call_jaxpr"),
    "scan": scanned,
    "cond": chosen_branch,
    "random_wrap": lambda program, equation, words: [pairs(words)],
    "random_unwrap": lambda program, equation, keys: [words_of(keys)],
    "random_split": of_random_numbers(
        lambda params: partial(threefry_prng_impl.split, shape=params["shape"]), is_key=True
    ),
    "random_bits": of_random_numbers(
        lambda params: partial(threefry_prng_impl.random_bits, bit_width=params["bit_width"], shape=params["shape"]),
        is_key=False,
    ),
    "random_fold_in": of_random_numbers(lambda params: threefry_prng_impl.fold_in, is_key=True),
    "threefry2x32": hashed,
    "iota_2x32_shape": counters,
}
