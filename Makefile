.DEFAULT_GOAL := help
.PHONY: help up doctor backup restore test lint fmt bench mutants images lock setup setup-dev

BIN := .venv/bin

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 18

up: setup ## everything from one command: services, web, live, worker
	@exec $(BIN)/python -m novum.running --with-parent

doctor: setup ## what is wrong with this machine's Novum, and what to do
	@$(BIN)/python manage.py doctor

backup: setup ## everything into one file: make backup [FILE=...]
	@$(BIN)/python -m novum.running backup $(FILE)

restore: setup ## and out of it again: make restore FILE=... [FORCE=1]
	@$(BIN)/python -m novum.running restore $(if $(FORCE),--force) $(FILE)

test: lint ## style, types, imports and all tests
	$(BIN)/python -m pytest -n 2 -m "not processes"
	$(BIN)/python -m pytest -m processes

lint: setup-dev ## the part of it that runs no test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: setup-dev ## put the source into shape
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: setup-dev ## speed, as ratios measured in one run
	$(BIN)/python -m bench

mutants: setup-dev ## planted faults, each of which must turn a test red
	$(BIN)/python -m tests.mutants

images: setup-dev ## the pictures of the README, from the running product
	$(BIN)/python -m docs.pictures

lock: ## requirements with hashes, anew from pyproject.toml
	@bin/setup --lock

setup:
	@bin/setup

setup-dev:
	@bin/setup --dev
