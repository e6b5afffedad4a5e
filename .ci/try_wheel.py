"""Runs in an environment that holds the wheel and what it needs, nothing else: is it whole, and does it search?"""

import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import numpy as np

import lga

home = Path(lga.__file__).parent
assert "site-packages" in home.parts, home
assert version("lga") == lga.__version__, (version("lga"), lga.__version__)
assert not [path for pattern in ("*.cc", "*.h") for path in (home / "native").rglob(pattern)], "sources in the wheel"
# Programs of lanes are built where they are used.
assert all((home / "lanes" / name).exists() for name in ("lanes.h", "rollout.cc.in")), "nothing to build lanes with"
assert not any(map(shutil.which, ("cc", "gcc", "g++", "c++", "clang"))), "a compiler is in the path"

info = subprocess.run(["lga", "info"], capture_output=True, text=True, check=True).stdout
assert "native" in info.splitlines()[0], info

result = lga.minimize(lambda x: float(np.sum((x - 1.0) ** 2)), bounds=[(-5, 5)] * 6, seed=0)
assert result.fun < 1e-3, result
print(f"The wheel works: {result.fun:.1e} after {result.nfev} evaluations, on\n{info}")
