"""No kernel reads or writes an array of another shape than its own: calls and handlers both refuse it."""

import math
import operator
from dataclasses import replace
from functools import partial
from itertools import chain

import jax
import jax.numpy as jnp
import pytest

import lga
from lga import native
from lga.native import library
from lga.weights import resolve

SIZES = {"n": 5, "e": 4, "d": 3, "h": 2, "b": 2, "y": 4, "x": 6, "c": 2, "o": 5}
# Operands in their order, then results, each with the type and the shape of one run.
KERNELS = {
    "split": ({"key": "u 2"}, {"a new key": "u 2", "another": "u 2"}),
    "fold_in": ({"key": "u 2", "data": "i"}, {"the new key": "u 2"}),
    "uniform": ({"key": "u 2"}, {"numbers": "f n"}),
    "select": (
        {
            "parent_fitness": "f e",
            "child_fitness": "f n",
            "best_fitness": "f",
            "uniform": "f e",
            "attend": "f h 4 4",
            "score": "f h 4 4",
        },
        {"chosen": "i e"},
    ),
    "sample": (
        {
            "fitness": "f e",
            "age": "i e",
            "best_fitness": "f",
            "generation": "i",
            "uniform": "f n",
            "attend": "f h 5 5",
            "value": "f h 5",
        },
        {"chosen": "i n"},
    ),
    "blend": (
        {
            "fitness": "f e",
            "age": "i e",
            "best_fitness": "f",
            "generation": "i",
            "solutions": "f e d",
            "sigma": "f e",
            "parent_index": "i n",
            "attend": "f h 5 5",
            "gate_kernel": "f 4 h",
            "gate_bias": "f h",
        },
        {"blended": "f n d", "away": "f n"},
    ),
    "rate": (
        {"fitness": "f n", "sigma": "f n", "best_fitness": "f", "attend": "f h 6 6", "value": "f h 6"},
        {"multiplier": "f n"},
    ),
    "mutate": ({"key": "u 2", "solutions": "f e d", "parent_index": "i n", "sigma": "f n"}, {"mutated": "f n d"}),
    "bend": (
        {"start": "f n d", "sigma": "f n", "noise": "f n d", "drift": "f d", "stretch": "f d d"},
        {"bent": "f n d"},
    ),
    "adapt": (
        {"fitness": "f n", "noise": "f n d", "path": "f d", "stretch": "f d d", "strengths": "f 7"},
        {"new_path": "f d", "new_stretch": "f d d", "factor": "f"},
    ),
    "survive": (
        {
            "survivor_index": "i e",
            "child_solutions": "f n d",
            "child_fitness": "f n",
            "child_sigma": "f n",
            "parent_solutions": "f e d",
            "parent_fitness": "f e",
            "parent_sigma": "f e",
            "parent_age": "i e",
            "best_solution": "f d",
            "best_fitness": "f",
        },
        {
            "solutions": "f e d",
            "fitness": "f e",
            "sigma": "f e",
            "age": "i e",
            "new_best_solution": "f d",
            "new_best_fitness": "f",
            "failures": "i",
        },
    ),
    "convolve": (
        {"images": "f b y x c", "filters": "f 3 3 c o", "bias": "f o"},
        {"convolved": "f b y x o"},
    ),
}
TYPES = {"f": jnp.float32, "i": jnp.int32, "u": jnp.uint32}
STATIC = {"split": {"num": 2}, "uniform": {"count": SIZES["n"]}, "convolve": {"pooled": False}}
ATTRIBUTES = {"convolve": {"pooled": False}}
ARRAYS = [(name, array) for name, parts in KERNELS.items() for array in chain(*parts)]
OPERANDS = [(name, array) for name, (operands, _) in KERNELS.items() for array in operands]


def layout(text: str, batch: tuple[int, ...] = ()) -> jax.ShapeDtypeStruct:
    kind, *axes = text.split()
    return jax.ShapeDtypeStruct((*batch, *(SIZES.get(axis) or int(axis) for axis in axes)), TYPES[kind])


def other_shapes(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Fewer and more axes, and every axis with other sizes."""
    others = {shape[:-1], (1, *shape), (*shape, 1), (2, *shape)}
    for axis, size in enumerate(shape):
        others |= {(*shape[:axis], other, *shape[axis + 1 :]) for other in (0, 1, size + 1)}
    return sorted(others - {shape})


def is_like(text: str, shape: tuple[int, ...], batches: list[tuple[int, ...]], others: list[str]) -> bool:
    """Whether the shape differs in nothing but an axis whose size no other array shares."""
    shared = " ".join(others).split()
    own = zip(text.split()[1:], layout(text).shape, strict=True)
    sizes = [[size] if axis in shared or axis not in SIZES else range(10) for axis, size in own]
    num_axes = len(shape) - len(sizes)
    return shape[:num_axes] in batches and all(map(operator.contains, sizes, shape[num_axes:]))


def handle(name: str, operands: list[jax.ShapeDtypeStruct], results: list[jax.ShapeDtypeStruct]) -> None:
    """Calls the handler alone, without the checks that stand before it in Python."""
    arrays = [jnp.zeros(operand.shape, operand.dtype) for operand in operands]
    jax.block_until_ready(jax.ffi.ffi_call(f"lga_{name}", results)(*arrays, **ATTRIBUTES.get(name, {})))


def test_all_kernels_are_tested():
    assert set(KERNELS) == set(library.HANDLERS)


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("name", KERNELS)
def test_handlers_take_arrays_of_the_right_shapes(name, batch):
    operands, results = ([layout(text, batch) for text in part.values()] for part in KERNELS[name])
    handle(name, operands, results)


@pytest.mark.parametrize(("name", "array"), ARRAYS)
def test_handlers_refuse_every_array_of_another_shape(name, array):
    operands, results = KERNELS[name]
    texts = operands | results
    right = {key: layout(text, (3,)) for key, text in texts.items()}
    for shape in other_shapes(right[array].shape):
        arrays = list((right | {array: jax.ShapeDtypeStruct(shape, right[array].dtype)}).values())
        call = partial(handle, name, arrays[: len(operands)], arrays[len(operands) :])
        if not any(math.prod(result.shape) for result in arrays[len(operands) :]):
            continue  # XLA drops a call that returns nothing.
        others = [text for key, text in texts.items() if key != array]
        # Runs may share an operand, but not a result.
        if is_like(texts[array], shape, [(3,), (1,)] if array in operands else [(3,)], others) and 0 not in shape:
            call()
        else:
            with pytest.raises(Exception, match=rf"lga_{name}: .+ has (shape .+, but must|no rows)"):
                call()


@pytest.mark.parametrize(("name", "array"), OPERANDS)
def test_calls_refuse_every_array_of_another_shape_when_they_are_traced(name, array):
    texts = KERNELS[name][0]
    right = {key: layout(text) for key, text in texts.items()}
    kernel = partial(getattr(native, name), **STATIC.get(name, {}))
    jax.eval_shape(kernel, *right.values())
    others = [text for key, text in texts.items() if key != array]
    for shape in other_shapes(right[array].shape):
        if not is_like(texts[array], shape, [()], others):
            changed = right | {array: jax.ShapeDtypeStruct(shape, right[array].dtype)}
            with pytest.raises(ValueError, match=rf"of lga.native.{name} is .*, but must be "):
                jax.eval_shape(kernel, *changed.values())


def test_weights_of_another_operator_are_refused(monkeypatch):
    """Sampling sees four features, the rate five."""
    monkeypatch.setattr("lga.native.dispatch.status", lambda: native.Status("native", "test"))
    theta = lga.init_theta(jax.random.key(0), lga.ThetaConfig(learned=("rate", "sample")))
    with pytest.raises(ValueError, match=r"rate have forms of shape \(2, 5, 5\), but must have .heads, 6, 6."):
        lga.learned_ga(replace(theta, rate=theta.sample), num_children=6)


@pytest.mark.parametrize("kernel", ["native", "jax"])
@pytest.mark.parametrize("part", ["solutions", "sigma", "parent_index", "noise"])
def test_children_of_another_shape_are_not_told(monkeypatch, part, kernel):
    monkeypatch.setattr("lga.native.dispatch.status", lambda: native.Status(kernel, "test"))
    # Only a shape keeps the noise.
    algorithm = lga.learned_ga(resolve("lga-2").theta, 6) if part == "noise" else lga.samr_ga(num_children=6)
    state = algorithm.init(jax.random.key(0), jnp.zeros((6, 3)), jnp.zeros(6), 0.5)
    children, state = algorithm.ask(jax.random.key(1), state)
    # Not through the constructor: in tests it checks shapes itself.
    object.__setattr__(children, part, getattr(children, part)[:2])
    with pytest.raises(ValueError, match=rf"children.{part} has shape \(2,.*\), but must be \(6,.*\)"):
        algorithm.tell(jax.random.key(2), state, children, jnp.zeros(6))
