# %% [markdown]
# # Evolve a network
# The weights of a small network, evolved until it fits a curve. The objective is written in JAX and compiled; a
# generation is one call.

# %%
import jax
import jax.numpy as jnp
import numpy as np

import lga

inputs = jnp.linspace(-1.0, 1.0, 32)
targets = jnp.sin(3.0 * inputs)
HIDDEN = 6


def network(weights, inputs):
    slope, shift, height = weights[: 3 * HIDDEN].reshape(3, HIDDEN)
    return jnp.tanh(slope[None, :] * inputs[:, None] + shift[None, :]) @ height + weights[-1]


def error(weights):
    return jnp.mean((network(weights, inputs) - targets) ** 2)


# %%
size = 3 * HIDDEN + 1
result = lga.minimize(error, x0=np.zeros(size), sigma0=1.0, jit=True, max_evaluations=4000, seed=0)
print(result.fun)

# %% [markdown]
# The same search, generation by generation, from the algorithm itself: `lga.learned_ga` is a few pure functions.

# %%
algorithm = lga.learned_ga("lga-2", num_children=16)
state, trace = jax.jit(
    lambda key: lga.run(
        key,
        algorithm,
        lambda _, solutions: jax.vmap(error)(solutions),
        jax.random.normal(jax.random.key(1), (16, size)),
        sigma=0.5,
        num_generations=200,
    )
)(jax.random.key(0))
print(float(trace.best_so_far[-1]))
