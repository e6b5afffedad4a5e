"""`import lga` costs little and brings nothing heavy along."""

import os
import subprocess
import sys

HEAVY = ("evosax", "matplotlib", "scipy", "tyro", "rich", "flax", "optax", "pandas", "distributed")


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_lga_imports_nothing_heavy():
    assert not {"jax", *HEAVY} & modules_after("import lga")


def test_what_people_use_imports_little_beside_jax():
    loaded = modules_after("import lga; lga.minimize; lga.Optimizer; lga.learned_ga; lga.run; lga.ALGORITHMS")
    assert "jax" in loaded
    assert not {"evosax", "matplotlib", "tyro", "rich", "scipy.stats", "distributed"} & loaded


def test_every_exported_name_exists():
    import lga

    assert all(getattr(lga, name) is not None for name in lga.__all__)
    assert set(lga.__all__) <= set(dir(lga))


def test_compiled_programs_are_kept_for_later_processes(tmp_path):
    # However fast a program compiles: whether one of them is above the limit differs from run to run.
    code = """
import lga
from lga.core import compile_cache
compile_cache.LEAST_SECONDS = 0.0
print(lga.minimize(lambda x: x @ x, [(-5, 5)] * 3, seed=0, max_evaluations=48).fun)
"""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}

    def run_and_list():
        value = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout
        return value, {path.name for path in tmp_path.rglob("*-cache")}

    first, second = run_and_list(), run_and_list()
    assert first == second
    assert first[1]
