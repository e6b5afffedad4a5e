"""Many weights, few and noisy evaluations: what the evolution of networks looks like, made up and cheap.

A task is one of four kinds, by chance: a network that learns to tell clusters apart, or to answer as a random teacher
does; a linear fit with fewer examples than weights; or a bowl in which only some of the weights matter. A search sees
the mean loss over a batch of examples that the key draws, as in neuroevolution, and is judged by the mean over all.
All searches start from one place, where all weights are zero.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga.core.checks import require
from lga.core.tree import tree_dataclass

NUM_INPUTS, NUM_CLASSES, NUM_CLUSTERS, NUM_HIDDEN = 20, 5, 3, 8
NUM_EXAMPLES, BATCH = 48, 16
# Rates that suit functions in a box of side 10 then suit weights.
WEIGHT_OF_COORDINATE = 0.05
DISTANCE = 0.3
"""How far from zero the weights of the linear kinds are, in each variable."""
FEWEST_WEIGHTS = NUM_INPUTS + 1 + 2 * NUM_CLASSES
"""Of a network with one hidden unit."""
LEAST_SHARE = 0.05
"""Of the variables that matter in a bowl."""
LARGEST_CONDITION = 1e4


@tree_dataclass
class TeacherTask:
    kind: Int[Array, "*tasks"]
    inputs: Float[Array, "*tasks p i"]
    labels: Int[Array, "*tasks p"]
    rows: Float[Array, "*tasks p d"]
    """Examples of the linear fit."""
    curvature: Float[Array, "*tasks d"]
    """Of the bowl."""
    target: Float[Array, "*tasks d"]
    """Weights that the linear kinds ask for."""


def sample_teacher_task(key: Key[Array, ""], num_dims: int) -> TeacherTask:
    require(num_dims >= FEWEST_WEIGHTS, f"num_dims is {num_dims}, but networks have at least {FEWEST_WEIGHTS} weights.")
    key_kind, key_inputs, key_labels, key_rows, key_bowl, key_target = jax.random.split(key, 6)
    kind = jax.random.randint(key_kind, (), 0, len(LOSSES))
    by_clusters = clusters(key_inputs, key_labels)
    by_teacher = answers(key_inputs, key_labels)
    inputs, labels = (jnp.where(kind == 0, *pair) for pair in zip(by_clusters, by_teacher, strict=True))
    target = DISTANCE * jax.random.normal(key_target, (num_dims,))
    # Directions of the examples are of unequal size, as those of real ones are.
    decay = jnp.exp(jnp.linspace(0.0, -3.0, NUM_EXAMPLES))
    rows = decay[:, None] * jax.random.normal(key_rows, (NUM_EXAMPLES, num_dims))
    return TeacherTask(kind, inputs, labels, rows, bowl(key_bowl, num_dims), target)


def clusters(key_inputs: Key[Array, ""], key_labels: Key[Array, ""]) -> tuple[Float[Array, "p i"], Int[Array, " p"]]:
    """Some clusters for each class, overlapping."""
    key_centres, key_cluster = jax.random.split(key_labels)
    centres = 1.5 * jax.random.normal(key_centres, (NUM_CLASSES * NUM_CLUSTERS, NUM_INPUTS))
    cluster = jax.random.randint(key_cluster, (NUM_EXAMPLES,), 0, NUM_CLASSES * NUM_CLUSTERS)
    around = jax.random.normal(key_inputs, (NUM_EXAMPLES, NUM_INPUTS))
    return centres[cluster] + around, cluster % NUM_CLASSES


def answers(key_inputs: Key[Array, ""], key_labels: Key[Array, ""]) -> tuple[Float[Array, "p i"], Int[Array, " p"]]:
    """What a network with random weights says."""
    key_hidden, key_out = jax.random.split(key_labels)
    inputs = jax.random.normal(key_inputs, (NUM_EXAMPLES, NUM_INPUTS))
    hidden = jnp.tanh(jnp.matmul(inputs, jax.random.normal(key_hidden, (NUM_INPUTS, NUM_HIDDEN)), precision="highest"))
    said = jnp.matmul(hidden, jax.random.normal(key_out, (NUM_HIDDEN, NUM_CLASSES)), precision="highest")
    return inputs, jnp.argmax(said, axis=1)


def bowl(key: Key[Array, ""], num_dims: int) -> Float[Array, " d"]:
    """Curvatures between 1 and the inverse condition; zero for what does not matter."""
    key_share, key_who, key_condition, key_place = jax.random.split(key, 4)
    share = LEAST_SHARE ** jax.random.uniform(key_share)
    matters = jax.random.uniform(key_who, (num_dims,)) < share
    condition = LARGEST_CONDITION ** jax.random.uniform(key_condition)
    curvature = condition ** -jax.random.uniform(key_place, (num_dims,))
    curvature = jnp.where(matters, curvature, 0.0)
    return curvature / jnp.maximum(jnp.sum(curvature), 1e-12)


def observe_teacher_task(
    key: Key[Array, ""], task: TeacherTask, coordinates: Float[Array, "n d"]
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    weights = WEIGHT_OF_COORDINATE * coordinates
    losses = jax.lax.switch(task.kind, LOSSES, task, weights)
    batch = jax.random.randint(key, (BATCH,), 0, NUM_EXAMPLES)
    return jnp.mean(losses, axis=1), jnp.mean(losses[:, batch], axis=1)


def network_losses(
    activation: Callable[[Array], Array], task: TeacherTask, weights: Float[Array, "n d"]
) -> Float[Array, "n p"]:
    """Cross-entropies of networks with one hidden layer, the largest that so many weights allow for."""
    num_members, num_dims = weights.shape
    hidden = (num_dims - NUM_CLASSES) // (NUM_INPUTS + 1 + NUM_CLASSES)
    sizes = (NUM_INPUTS * hidden, hidden, hidden * NUM_CLASSES, NUM_CLASSES)
    ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
    first, shift, second, bias = (weights[:, end - size : end] for size, end in zip(sizes, ends, strict=True))
    before = jnp.einsum("pi,nih->nph", task.inputs, first.reshape(num_members, NUM_INPUTS, hidden))
    units = activation(before + shift[:, None, :])
    logits = units @ second.reshape(num_members, hidden, NUM_CLASSES) + bias[:, None, :]
    likelihoods = jnp.take_along_axis(jax.nn.log_softmax(logits), task.labels[None, :, None], axis=2)
    return -likelihoods[:, :, 0]


def relu_losses(task: TeacherTask, weights: Float[Array, "n d"]) -> Float[Array, "n p"]:
    return network_losses(jax.nn.relu, task, weights)


def tanh_losses(task: TeacherTask, weights: Float[Array, "n d"]) -> Float[Array, "n p"]:
    return network_losses(jnp.tanh, task, weights)


def linear_losses(task: TeacherTask, weights: Float[Array, "n d"]) -> Float[Array, "n p"]:
    wrong = (weights - task.target[None, :]) @ task.rows.T
    return wrong**2 / weights.shape[1]


def bowl_losses(task: TeacherTask, weights: Float[Array, "n d"]) -> Float[Array, "n p"]:
    loss = (weights - task.target[None, :]) ** 2 @ task.curvature
    return jnp.broadcast_to(loss[:, None], (weights.shape[0], NUM_EXAMPLES))


LOSSES = (relu_losses, tanh_losses, linear_losses, bowl_losses)
