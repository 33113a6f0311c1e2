# `make demo` and `make test` need Python 3.10 or later and access to PyPI; everything is installed into $(VENV).

VENV ?= .venv
PYTHON ?= python3
PY = $(VENV)/bin/python
W2VNEG = $(VENV)/bin/w2vneg
DEMO ?= models/demo
DEMO_EPOCHS ?= 10
NOJIT_TESTS ?= tests/kernels/test_kernels.py tests/objectives/test_losses.py tests/objectives/test_samplers.py \
	tests/objectives/test_bernoulli.py tests/objectives/test_exclusion.py tests/vectors/test_ranking.py
ARGS ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test test-all test-nojit lint format docs docs-site screenshots test-browser bench clean

help:  ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14
	@echo "Variables: VENV=$(VENV) PYTHON=$(PYTHON) DEMO=$(DEMO) DEMO_EPOCHS=$(DEMO_EPOCHS) ARGS= (for pytest and bench)"

$(PY):
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of extras: installed again only when the packaging files change.
$(VENV)/.installed-%: setup.cfg pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

install: $(VENV)/.installed-zstd  ## Make the virtual environment and install w2vneg into it

demo: $(VENV)/.installed-gensim $(VENV)/.installed-report  ## Train on built-in text and items and write a report; downloads nothing
	@mkdir -p $(DEMO)
	@for loss in ns relaxed; do echo "== $$loss"; $(W2VNEG) train --loss $$loss --epochs $(DEMO_EPOCHS) \
		--readout context+letters:share=.1+paradigms --save-model $(DEMO)/$$loss --force || exit 1; done
	@echo "== related modules"
	@$(W2VNEG) train --baskets builtin --subsample 1e-3 --epochs 50 --save-model $(DEMO)/imports --force
	@$(W2VNEG) recommend $(DEMO)/imports urllib.parse -k 3
	@echo "== nearest words"
	@$(W2VNEG) nearest monday red tcp error integer --vectors $(DEMO)/relaxed -k 3
	@echo "== quality"
	@$(W2VNEG) report $(DEMO)/ns $(DEMO)/relaxed --word monday --word red --word tcp --out $(DEMO)/report.html
	@echo "Next: open $(DEMO)/report.html, or type $(W2VNEG) explore $(DEMO)/relaxed"

# Files are assigned in order; a worker that finishes early takes over some of the others' last tests.
PYTEST = $(PY) -m pytest --numprocesses auto --dist worksteal

test: $(VENV)/.installed-test  ## Run the tests, except slow and nightly ones; with W2VNEG_MIRROR on real data, too
	$(PYTEST) -m "not slow and not nightly" $(ARGS)

test-all: $(VENV)/.installed-test  ## Run all tests
	$(PYTEST) $(ARGS)

test-nojit: $(VENV)/.installed-test  ## Run the tests of the kernels as plain Python
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest $(NOJIT_TESTS) $(ARGS)

lint: $(VENV)/.installed-lint  ## Check style, imports and types
	$(PY) -m ruff check .
	$(PY) -m mypy w2vneg

format: $(VENV)/.installed-lint  ## Sort imports and format code
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

docs: $(VENV)/.installed-zstd  ## Write the generated pages: options, commands, API
	$(PY) docs/generate.py

docs-site: $(VENV)/.installed-docs  ## Build the site in build/site; it loads nothing from elsewhere
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict

screenshots: $(VENV)/.installed-test $(VENV)/.installed-browser  ## Retake the screenshots of the docs in headless Chromium
	$(PY) docs/screenshots.py

test-browser: $(VENV)/.installed-test $(VENV)/.installed-browser  ## Test report and explorer in headless Chromium
	$(PY) -m pytest tests/test_browser.py $(ARGS)

bench: $(VENV)/.installed-bench  ## Measure speed against gensim, fastText and itembed; needs a C++ compiler
	$(PY) -m benchmarks suite $(ARGS)

clean:  ## Remove the output of the other targets
	rm -rf $(VENV) $(DEMO) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
