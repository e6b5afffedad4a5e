"""Rules for one scalar at a time: what is known already is computed now, what changes nothing is left out."""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lga.lanes.scalars import KINDS, LanesUnavailableError, Program, Scalar, kind_of, kind_of_type

Values = Any
"""NumPy arrays of scalars; those of keys hold pairs of words."""


def known(value: Any) -> Values:
    """An array whose numbers are known now."""
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        return pairs(np.asarray(jax.random.key_data(value)))
    return objects(np.asarray(value))


def objects(array: np.ndarray) -> Values:
    made = np.empty(array.shape, object)
    kind = array.dtype.type if array.dtype.kind != "b" else np.bool_
    kind = {np.float64: np.float32, np.int64: np.int32}.get(kind, kind)
    for place in np.ndindex(array.shape):
        made[place] = kind(array[place])
    return made


def pairs(words: np.ndarray) -> Values:
    """[*shape, 2] -> an array of pairs."""
    made = np.empty(words.shape[:-1], object)
    for place in np.ndindex(made.shape):
        made[place] = tuple(words[place])
    return made


def words_of(keys: Values) -> Values:
    """An array of pairs -> [*shape, 2]"""
    made = np.empty((*keys.shape, 2), object)
    for place in np.ndindex(keys.shape):
        made[(*place, 0)], made[(*place, 1)] = keys[place]
    return made


def require(holds: bool, what: str) -> None:
    if not holds:
        raise LanesUnavailableError(f"lanes have no rule for {what}.")


def kind_like(scalar: Any, number: int) -> Any:
    return KINDS[kind_of(scalar)](number)


def wrapped(scalar: Any) -> Values:
    made = np.empty((), object)
    made[()] = scalar
    return made


def as_array(values: Any) -> Values:
    return values if isinstance(values, np.ndarray) else wrapped(values)


def is_known(*scalars: Any) -> bool:
    return not any(isinstance(scalar, Scalar) for scalar in scalars)


def is_number(value: Any, number: int) -> bool:
    return not isinstance(value, Scalar) and bool(value == number)


def add(program: Program, a: Any, b: Any) -> Any:
    if is_known(a, b):
        return type(a)(a + b)
    if is_number(a, 0):
        return b
    return a if is_number(b, 0) else program.apply("add", kind_of(a), a, b)


def subtract(program: Program, a: Any, b: Any) -> Any:
    if is_known(a, b):
        return type(a)(a - b)
    return a if is_number(b, 0) else program.apply("subtract", kind_of(a), a, b)


def multiply(program: Program, a: Any, b: Any) -> Any:
    """Nothing times something is nothing, also where something is not finite."""
    if is_known(a, b):
        return type(a)(a * b)
    if is_number(a, 0) or is_number(b, 0):
        return KINDS[kind_of(a)](0)
    if is_number(a, 1):
        return b
    return a if is_number(b, 1) else program.apply("multiply", kind_of(a), a, b)


def divide(program: Program, a: Any, b: Any) -> Any:
    if is_known(a, b) and kind_of(a) == "f" and b != 0:
        return type(a)(a / b)
    return a if is_number(b, 1) else program.apply("divide", kind_of(a), a, b)


def select(program: Program, which: Any, *cases: Any) -> Any:
    if is_known(which):
        return cases[int(which)]
    if all(case is cases[0] or (is_known(case, cases[0]) and case == cases[0]) for case in cases):
        return cases[0]
    if kind_of(which) == "b":
        return program.apply("choose", kind_of(cases[0]), which, cases[1], cases[0])
    chosen = cases[-1]
    for number in range(len(cases) - 2, -1, -1):
        is_this = program.apply("lt", "b", which, np.int32(number + 1))
        chosen = program.apply("choose", kind_of(cases[0]), is_this, cases[number], chosen)
    return chosen


def logic(name: str, numpy_function: Callable, program: Program, a: Any, b: Any) -> Any:
    if is_known(a, b):
        return type(a)(numpy_function(a, b))
    for one, other in ((a, b), (b, a)):
        if not isinstance(one, Scalar) and kind_of(one) == "b" and name in ("and", "or"):
            return other if bool(one) == (name == "and") else one
    return program.apply(name, kind_of(a), a, b)


def convert(program: Program, value: Any, kind: str) -> Any:
    if kind_of(value) == kind:
        return value
    if is_known(value):
        return KINDS[kind](value)
    return program.apply(f"{kind}_from_{value.kind}", kind, value)


def comparison(name: str, numpy_function: Callable) -> Callable:
    def compare(program: Program, a: Any, b: Any) -> Any:
        return np.bool_(numpy_function(a, b)) if is_known(a, b) else program.apply(name, "b", a, b)

    return compare


def function(name: str, numpy_function: Callable | None = None) -> Callable:
    """With a result of the kind of its first argument."""

    def apply(program: Program, *arguments: Any) -> Any:
        if numpy_function is not None and is_known(*arguments):
            return type(arguments[0])(numpy_function(*arguments))
        return program.apply(name, kind_of(arguments[0]), *arguments)

    return apply


def invert(program: Program, value: Any) -> Any:
    return type(value)(~value) if is_known(value) else program.apply("not", value.kind, value)


def is_finite(program: Program, value: Any) -> Any:
    return np.bool_(np.isfinite(value)) if is_known(value) else program.apply("is_finite", "b", value)


def square(program: Program, value: Any) -> Any:
    return multiply(program, value, value)


def clamp(program: Program, low: Any, value: Any, high: Any) -> Any:
    return SCALAR["min"](program, SCALAR["max"](program, value, low), high)


def power(program: Program, value: Any, exponent: int) -> Any:
    if exponent < 0:
        return divide(program, np.float32(1.0), power(program, value, -exponent))
    return reduce(partial(multiply, program), [value] * exponent) if exponent else KINDS[kind_of(value)](1)


SCALAR: dict[str, Callable] = {
    "add": add,
    "add_any": add,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "max": function("max", np.maximum),
    "min": function("min", np.minimum),
    "rem": function("remainder", np.fmod),
    "neg": function("negative", np.negative),
    "abs": function("absolute", np.abs),
    "sign": function("sign", np.sign),
    "floor": function("floor", np.floor),
    "sqrt": function("root", np.sqrt),
    "sin": function("sine", np.sin),
    "cos": function("cosine", np.cos),
    "atan2": function("arc_tangent", np.arctan2),
    "asin": function("arc_sine", np.arcsin),
    "acos": function("arc_cosine", np.arccos),
    "exp": function("exponential", np.exp),
    "log": function("logarithm", np.log),
    "tanh": function("hyperbolic_tangent", np.tanh),
    "square": square,
    "clamp": clamp,
    "select_n": select,
    "and": partial(logic, "and", np.bitwise_and),
    "or": partial(logic, "or", np.bitwise_or),
    "xor": partial(logic, "xor", np.bitwise_xor),
    "not": invert,
    "is_finite": is_finite,
    "shift_left": function("shift_left", np.left_shift),
    "shift_right_logical": function("shift_right"),
    "eq": comparison("eq", np.equal),
    "ne": comparison("ne", np.not_equal),
    "lt": comparison("lt", np.less),
    "le_to": comparison("le", np.less_equal),
    "lt_to": comparison("lt", np.less),
    "le": comparison("le", np.less_equal),
    "gt": comparison("gt", np.greater),
    "ge": comparison("ge", np.greater_equal),
}


def mapped(rule: Callable, program: Program, shape: tuple[int, ...], *operands: Values, **static: Any) -> Values:
    result = np.empty(shape, object)
    operands = tuple(np.broadcast_to(operand, shape) for operand in operands)
    for place in np.ndindex(shape):
        result[place] = rule(program, *(operand[place] for operand in operands), **static)
    return result


def shape_of(equation: Any) -> tuple[int, ...]:
    return equation.outvars[0].aval.shape


def elementwise(rule: Callable) -> Callable:
    def apply(program: Program, equation: Any, *operands: Values) -> Values:
        return mapped(rule, program, shape_of(equation), *operands)

    return apply


def converted(program: Program, equation: Any, operand: Values) -> Values:
    return mapped(convert, program, shape_of(equation), operand, kind=kind_of_type(equation.outvars[0].aval.dtype))


def same_bits(program: Program, equation: Any, operand: Values) -> Values:
    kind = kind_of_type(equation.outvars[0].aval.dtype)

    def one(program: Program, value: Any) -> Any:
        if is_known(value):
            return np.asarray(value).view(KINDS[kind])[()]
        return program.apply(f"{kind}_bits_of_{value.kind}", kind, value)

    return mapped(one, program, operand.shape, operand)


def integer_power(program: Program, equation: Any, operand: Values) -> Values:
    return mapped(power, program, operand.shape, operand, exponent=equation.params["y"])


ELEMENTWISE: dict[str, Callable] = {
    **{name: elementwise(rule) for name, rule in SCALAR.items()},
    "convert_element_type": converted,
    "bitcast_convert_type": same_bits,
    "integer_pow": integer_power,
}
