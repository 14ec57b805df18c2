# The targets that CONTRIBUTING.md and README.md name; scripts/environment.py makes .venv.
BIN := .venv/bin
PYTHON ?= $(if $(wildcard $(BIN)/python),$(BIN)/python,python3)

.PHONY: setup demo test fuzz clean

setup:
	@$(PYTHON) scripts/environment.py $(if $(BENCH),--bench)

demo: setup
	@$(BIN)/sim-node demo

# One file stays on one worker, so that what a file's tests share is made once.
test: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadfile

# MINUTES=10, SEED=… for the programs of an earlier run
fuzz: setup
	$(BIN)/python scripts/fuzz.py --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

clean:
	rm -rf .venv build dist install log *.egg-info sim_node/msg sim_node/srv sim_node/include sim_node/_native*.so sim_node/*_s__*.so
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
