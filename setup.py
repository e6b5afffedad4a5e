"""Builds the native kernels, if a C++ compiler is there; without one the package works on its JAX code.

Everything else about the package is in pyproject.toml.
"""

import platform
import runpy
from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

FOLDER = Path("src/lga/native")
ABOUT = runpy.run_path(str(FOLDER / "sources.py"))
SOURCES, DIGEST = [str(FOLDER / name) for name in ABOUT["SOURCES"]], ABOUT["source_digest"]()
IS_X86 = platform.machine().lower() in ("x86_64", "amd64")

COMMON = ["-std=c++17", "-fPIC", "-g0"]
# Not -ffast-math: with its reordering of sums and its reciprocals the kernels returned NaN.
ARITHMETIC = ["-O3", "-ffinite-math-only", "-fno-trapping-math", "-fno-math-errno", "-fno-signed-zeros", "-Wno-psabi"]
INSTRUCTION_SETS = {"baseline": []}
if IS_X86:
    INSTRUCTION_SETS["avx2"] = ["-mavx2", "-mfma"]
    INSTRUCTION_SETS["avx512"] = ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mfma"]


class BuildKernels(build_ext):
    """One object of the kernels for each instruction set, linked with the handlers into one library."""

    def build_extension(self, ext: Extension) -> None:
        try:
            self.build_library(Path(self.get_ext_fullpath(ext.name)))
        except Exception as error:
            # A missing compiler or header must not stop the installation.
            self.warn(f"the native kernels were not built ({error}).")
            self.warn("lga works, but its learned operators are several times slower: see `lga info`.")

    def build_library(self, library: Path) -> None:
        objects = [self.object_of(source, "handlers", ["-O2", *handler_flags()]) for source in ABOUT["HANDLERS"]]
        for name, flags in INSTRUCTION_SETS.items():
            named = [*ARITHMETIC, *flags, f"-DLGA_INSTRUCTION_SET={name}"]
            objects.append(self.object_of(ABOUT["KERNELS"], name, named))
        # The plainest object comes first: of functions that several of them hold, the linker keeps the first.
        library.parent.mkdir(parents=True, exist_ok=True)
        self.compiler.link_shared_object(objects, str(library), target_lang="c++")

    def object_of(self, source: str, name: str, flags: list[str]) -> str:
        folder = str(Path(self.build_temp) / name)
        (made,) = self.compiler.compile([str(FOLDER / source)], output_dir=folder, extra_postargs=[*COMMON, *flags])
        return made

    def get_ext_filename(self, ext_name: str) -> str:
        # Not a module of Python, so without the tag of its version.
        return str(Path(*ext_name.split("."))) + ".so"


class AnyPython(bdist_wheel):
    """The library is tied to a platform, but not to a version of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


def handler_flags() -> list[str]:
    jaxlib = find_spec("jaxlib")
    if jaxlib is None or jaxlib.origin is None:
        raise RuntimeError("jaxlib is not installed, and its headers are needed")
    flags = ["-isystem", str(Path(jaxlib.origin).parent / "include"), f'-DLGA_SOURCE_DIGEST="{DIGEST}"']
    return [*flags, "-DLGA_X86"] if IS_X86 else flags


setup(
    ext_modules=[
        Extension(
            "lga.native.kernels",
            sources=[name for name in SOURCES if name.endswith(".cc")],
            depends=[name for name in SOURCES if name.endswith(".h")],
            optional=True,
        )
    ],
    cmdclass={"build_ext": BuildKernels, "bdist_wheel": AnyPython},
)
