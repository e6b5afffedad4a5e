# %% [markdown]
# # Minimise a simulator
# A ball is thrown against the wind. With which speed and angle does it land closest to a mark, with the least speed?
# The simulator fails for some throws, as simulators do.

# %%
import numpy as np

import lga

TARGET, WIND, DT = 40.0, -4.0, 0.01


def throw(x):
    speed, angle = x
    if angle > 1.5:
        raise ValueError("the ball comes down on the thrower")
    position, velocity = np.zeros(2), speed * np.array([np.cos(angle), np.sin(angle)])
    while position[1] >= 0.0:
        relative = velocity - np.array([WIND, 0.0])
        drag = 0.01 * np.linalg.norm(relative) * relative
        velocity = velocity - DT * (drag + np.array([0.0, 9.81]))
        position = position + DT * velocity
    return abs(position[0] - TARGET) + 0.01 * speed


# %%
result = lga.minimize(throw, bounds=[(5.0, 60.0), (0.05, 1.57)], max_evaluations=200, seed=0)
result  # noqa: B018 (a notebook shows the curve)

# %% [markdown]
# All evaluations are kept, the failed ones too; a page in a file shows them, and `lga.plot` draws a picture.

# %%
print(result.x, result.fun, result.failures)
result.report("throw.html")
lga.plot(result)
