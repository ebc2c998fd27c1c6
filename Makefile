# A fresh machine needs Python 3.11 to 3.13, git, make and a network. `make lab` or `make test` does the rest.
# PYTHON=/path/to/python3.13 chooses the interpreter. See CONTRIBUTING.md.
ifndef BEGAN
BEGAN := $(shell date +%s)
endif
BIN := .venv/bin
UV := VIRTUAL_ENV=.venv $(BIN)/uv
FRONT_END := $(shell find extension -type f -not -path '*/node_modules/*' \
	-not -path '*/lib/*' -not -path '*/labextension/*')

.PHONY: help lab test test-all quick lint format docs links wheel install lock clean

help:
	@echo "make lab       set up everything and open the workbench in JupyterLab"
	@echo "make test      set-up, lint, quick tests, and each promise once for real: 15 minutes"
	@echo "make test-all  all tests, notebooks and benchmarks; for one room: make test-all ROOM=engine"
	@echo "make quick     lint and the tests without the mark slow, for the inner loop"
	@echo "make docs      build the documentation: docs/_build/html/index.html"
	@echo "make links     check the links of the documentation to other sites"
	@echo "make wheel     build and check the wheel and the sdist: dist/"
	@echo "make format    format Python and TypeScript"
	@echo "make lock      renew requirements.txt from pyproject.toml"
	@echo "make clean     remove the environment and all build outputs"

lab: install
	@$(BIN)/workbench lab

test: install
	$(BIN)/python -m tests.suite test --began $(BEGAN)

test-all: install
	$(BIN)/python -m tests.suite all --began $(BEGAN) $(addprefix --room ,$(ROOM))

quick: lint
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile -m "not slow" tests

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python hatch_build.py lint

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python hatch_build.py format

docs: install
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html

links: install
	$(BIN)/python -m sphinx --builder linkcheck --quiet docs docs/_build/links

wheel: install
	rm -rf dist
	$(UV) build --quiet --out-dir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

install: .venv/installed

.venv/python: find-python.sh
	python=$$(PYTHON="$(PYTHON)" sh find-python.sh) && "$$python" -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		"$$(grep '^uv==' requirements.txt)"
	touch $@

# Bytecode is compiled here once, because some processes may not write it. With it, they import
# TensorFlow in a third of the time.
.venv/locked: .venv/python requirements.txt
	$(UV) pip install --quiet --compile-bytecode -r requirements.txt
	touch $@

.venv/installed: .venv/locked pyproject.toml hatch_build.py $(FRONT_END)
	$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

lock: .venv/python
	$(UV) pip compile pyproject.toml --quiet --upgrade --all-extras --universal --python-version 3.11 \
		--no-emit-index-url --no-annotate --custom-compile-command "make lock" \
		--output-file requirements.txt

clean:
	rm -rf .venv dist docs/_build extension/node_modules extension/lib extension/labextension
