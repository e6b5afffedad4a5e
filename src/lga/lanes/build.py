"""From a function of one episode to a compiled program of many: traced, taken apart, written as C++, built and kept."""

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

from lga.core.compile_cache import own_folder
from lga.lanes.arithmetic import pairs
from lga.lanes.rules import evaluate, flat
from lga.lanes.scalars import Call, LanesUnavailableError, Program, kind_of_type, live_lines, numbers
from lga.lanes.source import step_text
from lga.native import status

FOLDER = Path(__file__).parent
COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-g0", "-fno-trapping-math", "-fno-math-errno", "-Wno-psabi")
WIDTHS = {"avx512": ("-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mfma"), "avx2": ("-mavx2", "-mfma")}
BUILD_SECONDS = 600
KEYS = "key<fry>"
"""Threefry, JAX's usual ones."""
SWITCH = "LGA_LANES"
"""0 in the environment: JAX does it all."""


def compiler() -> str | None:
    return next((found for found in map(shutil.which, COMPILERS) if found), None)


def why_not() -> str:
    """Why no programs of lanes can be made here; empty if they can."""
    if os.environ.get(SWITCH, "1") == "0":
        return f"{SWITCH} is 0"
    if status().kernel != "native" or jax.default_backend() != "cpu":
        return "lanes go with the native kernels, on CPUs"
    if compiler() is None:
        return "there is no C++ compiler"
    return "" if own_folder("lanes") else "there is no folder of one's own to keep compiled programs in"


def lanes_of(
    advance: Callable[[Any, Any, Any], Any], carried: Any, own: Any, shared: Any, alive: Callable, results: Callable
) -> Callable[..., Any]:
    """`advance(carried, own, shared)` of one lane, again and again while `alive(carried)`, as a function of many lanes.

    It maps the first state of each episode [k, ...], what each member has of its own [n, ...], what all share and
    `num_steps` to `results(carried)` of the last states, [n, k, ...]. The trees given here are examples of one lane.
    """
    reason = why_not()
    if reason:
        raise LanesUnavailableError(reason)
    # Also while another program is traced.
    with jax.ensure_compile_time_eval():
        name = registered(text_or_reason(advance, carried, own, shared, alive, results))
    example = jax.eval_shape(results, carried)
    leaves, tree = jax.tree.flatten(example)
    widths = [int(np.prod(leaf.shape, dtype=int)) for leaf in leaves]

    def rollout(begin: Any, owned: Any, common: Any, num_steps: int) -> Any:
        first, genomes = packed(begin, 1), packed(owned, 1)
        num_members, num_episodes = genomes.shape[0], first.shape[0]
        shape = jax.ShapeDtypeStruct((num_members * num_episodes, sum(widths)), jnp.uint32)
        call = jax.ffi.ffi_call(name, shape, vmap_method="sequential")
        words = call(first, genomes, packed(common, 0), num_steps=np.int64(num_steps))
        words = words.reshape(num_members, num_episodes, -1)
        parts = jnp.split(words, np.cumsum(widths)[:-1], axis=2)
        return jax.tree.unflatten(tree, [from_words(part, leaf) for part, leaf in zip(parts, leaves, strict=True)])

    return rollout


def text_or_reason(*described: Any) -> str:
    """Whatever goes wrong with somebody's simulator, JAX can still run it; but what was not foreseen is told."""
    try:
        return rollout_text(*described)
    except LanesUnavailableError:
        raise
    except Exception as error:
        warnings.warn(f"A simulator could not be taken apart into lanes ({error!r}): JAX runs it.", stacklevel=2)
        raise LanesUnavailableError(repr(error)) from error


def rollout_text(advance: Callable, carried: Any, own: Any, shared: Any, alive: Callable, results: Callable) -> str:
    program = Program()
    closed = jax.make_jaxpr(advance)(carried, own, shared)
    names = {"carried": carried, "own": own, "shared": shared}
    operands, counts = [], {}
    for name, tree in names.items():
        arrays, counts[name] = loaded(program, name, tree)
        operands += arrays
    last = flat_words(evaluate(program, closed.jaxpr, closed.consts, operands))
    lines = live_lines(program.blocks[0].lines, set(numbers(last)))
    # Arrays of weights are the same for all lanes of a block, so its episodes are those of one member.
    has_calls = any(isinstance(line, Call) for line in lines)
    body, num_between = step_text(lines, last)
    places = numbered(carried)
    which = [int(row) for leaf in jax.tree.leaves(results(places)) for row in np.ravel(leaf)]
    filled = {
        "CARRIED": counts["carried"],
        "ALIVE": int(np.ravel(alive(places))[0]),
        "OWN": counts["own"],
        "SHARED": counts["shared"],
        "RESULTS": len(which),
        "WHICH": ", ".join(map(str, which)),
        "OWNED": "uint32_t" if has_calls else "U",
        "BETWEEN": max(num_between, 1),
        "STEP": body,
    }
    text = (FOLDER / "rollout.cc.in").read_text()
    for name, value in filled.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def numbered(tree: Any) -> Any:
    """The same tree with the number of each word in place of its value."""
    leaves, structure = jax.tree.flatten(tree)
    made, count = [], 0
    for leaf in leaves:
        size = num_words(leaf)
        made.append(np.arange(count, count + size))
        count += size
    return jax.tree.unflatten(structure, made)


def is_key(leaf: Any) -> bool:
    if not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return False
    if str(leaf.dtype) != KEYS:
        raise LanesUnavailableError(f"lanes draw from keys of type {KEYS} alone")
    return True


def num_words(leaf: Any) -> int:
    return int(np.prod(leaf.shape, dtype=int)) * (2 if is_key(leaf) else 1)


def loaded(program: Program, name: str, tree: Any) -> tuple[list[Any], int]:
    """Scalars for all words of a tree, each a line that loads it."""
    arrays, count = [], 0
    for leaf in jax.tree.leaves(tree):
        shape = (*leaf.shape, 2) if is_key(leaf) else leaf.shape
        kind = "u" if is_key(leaf) else kind_of_type(leaf.dtype)
        array = np.empty(shape, object)
        for place in np.ndindex(shape):
            array[place] = program.load(kind, name, count)
            count += 1
        arrays.append(pairs(array) if is_key(leaf) else array)
    return arrays, count


def flat_words(values: list[Any]) -> list[Any]:
    words = []
    for scalar in flat(values):
        words += list(scalar) if type(scalar) is tuple else [scalar]
    return words


def packed(tree: Any, batch_axes: int) -> UInt32[Array, "..."]:
    """All leaves as words, end to end behind the axes of the batch."""
    rows = [words_of(leaf).reshape(*leaf.shape[:batch_axes], -1) for leaf in jax.tree.leaves(tree)]
    return jnp.concatenate(rows, axis=-1) if rows else jnp.zeros(0, jnp.uint32)


def words_of(leaf: Array) -> UInt32[Array, "..."]:
    if is_key(leaf):
        return jax.random.key_data(leaf)
    if leaf.dtype == bool:
        return leaf.astype(jnp.uint32)
    return jax.lax.bitcast_convert_type(leaf, jnp.uint32)


def from_words(words: UInt32[Array, "..."], leaf: Any) -> Array:
    shaped = words.reshape(*words.shape[:-1], *leaf.shape)
    return shaped != 0 if leaf.dtype == bool else jax.lax.bitcast_convert_type(shaped, leaf.dtype)


@cache
def registered(text: str) -> str:
    """The name by which XLA knows the program; it is built unless an earlier process has."""
    command, folder = compiler(), own_folder("lanes")
    if command is None or folder is None:
        raise LanesUnavailableError(why_not())
    flags = [*FLAGS, *WIDTHS.get(status().instruction_set or "", ())]
    header = (FOLDER / "lanes.h").read_text()
    digest = hashlib.sha256("\0".join([command, *flags, header, jax.__version__, text]).encode()).hexdigest()[:20]
    library = folder / f"{digest}.so"
    if not library.exists():
        build(command, flags, text, library)
    name = f"lga_lanes_{digest}"
    handler = jax.ffi.pycapsule(ctypes.CDLL(str(library)).lga_lanes)
    jax.ffi.register_ffi_target(name, handler, platform="cpu")
    return name


def build(compiler: str, flags: list[str], text: str, library: Path) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        source, made = Path(folder) / "rollout.cc", Path(folder) / "rollout.so"
        source.write_text(text)
        command = [compiler, *flags, "-I", str(FOLDER), "-isystem", jax.ffi.include_dir(), str(source), "-o", str(made)]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=BUILD_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            raise LanesUnavailableError(f"the C++ compiler failed: {said[-2000:]}") from error
        os.replace(made, library)
