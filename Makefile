PYTHON ?= python3
BIN := .venv/bin
# Empty when the environment is current: it depends on what is to be installed, nothing else.
STAMP := .venv/.installed

.PHONY: quickstart test test-slow lint clean

quickstart: $(STAMP)
	$(BIN)/lga quickstart

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-slow: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

$(STAMP): pyproject.toml setup.py constraints.txt $(wildcard src/lga/native/*.h src/lga/native/*.cc)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	$(BIN)/lga info
	touch $(STAMP)

clean:
	rm -rf .venv build dist src/*.egg-info
