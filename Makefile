# The first use of any target creates .venv with everything pinned in requirements.lock; later uses start at once.
# PYTHON=python3.12 chooses the interpreter that .venv is made from.

.DEFAULT_GOAL := help
.PHONY: help setup tour test lab docs bench nightly conformance export lock clean

run := .venv/bin/python

help:  ## This list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 18

setup:
	@PYTHON="$(PYTHON)" .ci/setup

tour: setup  ## Train a network on real digits, watch it learn, and write the page build/tour.html
	@$(run) .ci/tour.py

test: setup  ## Run every notebook and every test
	@$(run) -m pytest tests

lab: setup  ## Open the tour in JupyterLab
	@$(run) -m jupyter trust nbs/*.ipynb nbs/*/*.ipynb >/dev/null
	@JUPYTER_PREFER_ENV_PATH=1 $(run) -m jupyterlab nbs/00_tour.ipynb

docs: setup  ## Build the site
	@$(run) docs/build.py

bench: setup  ## Measure against hand-written NumPy and the installed peers
	@env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(run) benchmarks/run.py
	@$(run) benchmarks/kernels.py
	@$(run) benchmarks/calls.py

nightly: setup  ## The tests with the long sweeps that `make test` leaves out
	@$(run) -m pytest tests --slow --timeout 1800   # 10,000 examples on a busy machine take more than the 300 s of a test in `make test`

conformance: setup  ## Only the comparison with TensorFlow's recorded answers
	@$(run) -m pytest tests -k "conformance or golden"

export: setup  ## After editing notebooks: clean them, write tfedu/, the public names and README.md
	@$(run) .ci/notebooks.py export

lock: setup  ## Choose the pinned versions again (needs the network)
	@.ci/lock

clean:  ## Remove .venv and everything that was built
	rm -rf .venv build tfedu.egg-info
	find tfedu tests nbs docs benchmarks .ci -name __pycache__ -o -name .ipynb_checkpoints -o -name .pytest_cache | xargs rm -rf
