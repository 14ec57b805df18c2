# The targets that CONTRIBUTING.md and README.md name; scripts/environment.py makes .venv.
BIN := .venv/bin
PYTHON ?= $(shell command -v $(BIN)/python || echo python3)

.PHONY: help setup demo demo-ecu test fuzz soak clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'PYTHON=python3.12 names the Python, ROS_DISTRO=kilted the wheels taken where no ROS 2 is sourced (else Jazzy),'
	@echo 'SIM_NODE_ROS=0 goes without ROS, BENCH=1 adds the peers that the benches measure against.'

setup: ## make .venv and install all into it; again: only what changed
	@$(PYTHON) scripts/environment.py $(if $(BENCH),--bench)

demo: setup ## close a loop at 1 kHz in ROS 2, record it, and prove the bag
	@$(BIN)/sim-node demo

demo-ecu: setup ## the same with an ECU on a CAN bus between plant and controller
	@$(BIN)/python examples/ecu/demo.py
	@$(BIN)/sim-node campaign examples/ecu/campaign.yaml --evidence sim_node_ecu/campaign

# One file stays on one worker, so that what a file's tests share is made once.
test: setup ## check style and types, and run the whole suite
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadfile

fuzz: setup ## compare random kernels on the device python and compiled (MINUTES=10, SEED=…)
	$(BIN)/python scripts/fuzz.py --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

soak: setup ## kill readers and producers of a ring at 1 kHz (MINUTES=10), and count what was torn or left
	@$(BIN)/python scripts/soak.py --minutes $(or $(MINUTES),10) $(if $(SAVE),--save $(SAVE))

clean: ## remove .venv and all that was built
	rm -rf .venv build dist install log *.egg-info sim_node/msg sim_node/srv sim_node/include sim_node/_native*.so sim_node/*_s__*.so
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
