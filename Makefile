PYTHON ?= python3
BIN := .venv/bin
LOWEST := .venv-lowest/bin
PIP := -m pip install --quiet --disable-pip-version-check
PYTEST := -m pytest -n 2 --dist worksteal
# An environment is current when its stamp is newer than what decides what is installed.
DECIDES := pyproject.toml setup.py $(wildcard src/lga/native/*.h src/lga/native/*.cc)

.PHONY: quickstart test test-slow test-lowest attack lint site wheel try-wheel clean

quickstart: .venv/.train
	$(BIN)/lga quickstart

test: lint
	$(BIN)/python $(PYTEST) -m "not slow"

test-slow: .venv/.dev
	$(BIN)/python $(PYTEST) -m slow

# Without the check of all shapes, which the lowest jaxtyping cannot switch on behind a conftest that imports lga.
test-lowest: .venv-lowest/.train
	$(LOWEST)/python $(PYTEST) -o addopts="-ra --strict-markers" -m "not slow" \
		--deselect tests/core/test_population.py::test_shapes_are_checked_in_tests \
		tests/core tests/operators tests/algorithms tests/native tests/optimize/test_minimize.py

# All of it; a part is among the tests. It goes on where it stopped: remove results/attack to begin anew.
attack: .venv/.dev
	PYTHONPATH=tests $(BIN)/python -m attack --out results/attack

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

# Pages and pictures are laid out as in the repository, so that links hold; one that leads nowhere ends the build.
site: .venv/.dev
	rm -rf build/site-source build/site
	mkdir -p build/site-source
	cp -r docs README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md build/site-source
	cp --parents $(shell find results -name '*.png' -o -name '*.gif') build/site-source
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The wheel is built from the source distribution, so that nothing can be missing in it.
wheel: .venv/.dev
	rm -rf dist
	$(BIN)/python -m build

# As people get it: in an environment of its own, with no compiler in sight.
try-wheel: wheel
	rm -rf build/try-wheel
	$(PYTHON) -m venv build/try-wheel
	PATH=$(CURDIR)/build/try-wheel/bin python $(PIP) -c constraints.txt $(CURDIR)/dist/*.whl
	PATH=$(CURDIR)/build/try-wheel/bin python .ci/try_wheel.py

.venv/.train: $(DECIDES) constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) -c constraints.txt -e ".[train]"
	$(BIN)/lga info
	touch $@

# It has all that the train extra has.
.venv/.dev: $(DECIDES) constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) -c constraints.txt -e ".[dev]"
	$(BIN)/lga info
	touch .venv/.train $@

.venv-lowest/.train: $(DECIDES) constraints-lowest.txt
	$(PYTHON) -m venv .venv-lowest
	$(LOWEST)/python $(PIP) -c constraints-lowest.txt -e ".[train]" beartype hypothesis pytest pytest-xdist
	$(LOWEST)/lga info
	touch $@

clean:
	rm -rf .venv .venv-lowest build dist src/*.egg-info
