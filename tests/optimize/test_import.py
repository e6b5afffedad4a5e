"""`import lga` costs little and brings nothing heavy along."""

import subprocess
import sys

HEAVY = ("evosax", "matplotlib", "scipy", "tyro", "rich", "flax", "optax", "pandas", "distributed")


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_lga_imports_nothing_heavy():
    assert not {"jax", *HEAVY} & modules_after("import lga")


def test_what_people_use_imports_little_beside_jax():
    loaded = modules_after("import lga; lga.minimize; lga.Optimizer; lga.learned_ga; lga.run; lga.presets")
    assert "jax" in loaded
    assert not {"evosax", "matplotlib", "tyro", "rich", "scipy.stats", "distributed"} & loaded


def test_every_exported_name_exists():
    import lga

    assert all(getattr(lga, name) is not None for name in lga.__all__)
    assert set(lga.__all__) <= set(dir(lga))
