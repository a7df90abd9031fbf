# Each word sets up what it needs; a second run takes seconds.
RUN_EXTRAS := server,postgres,examples
DEV_EXTRAS := $(RUN_EXTRAS),torch,dev
# Container engines, and what the tests of containers make images from.
CONTAINERS := podman:podman runc:runc iptables:iptables netavark:netavark docker.io:dockerd \
	busybox-static:busybox docker-registry:docker-registry
# A file system that can be made to hang.
HANGING := fuse-overlayfs:fuse-overlayfs
# Proxies whose examples are run, and what checks unit files.
OPERATING := nginx-light:nginx caddy:caddy systemd:systemd-analyze
BIN := .venv/bin

.PHONY: demo up console test lint format bench docs screenshots constraints clean

demo: console ## Start the platform, train a small classifier on it, stop it again
	$(BIN)/python tools/demo.py

up: console ## Start the platform and keep it up
	$(BIN)/footplate up

console: .venv/run-ready ## Build the web console, when its sources have changed
	@$(BIN)/python tools/console.py

test: .venv/dev-ready console ## Run the whole test suite
	$(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder -m "not alone"
	$(BIN)/python -m pytest -q -m alone

lint: .venv/dev-ready ## Check style, types and import arrows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(BIN)/python tools/console.py npm run --silent lint

format: .venv/dev-ready ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@$(BIN)/python tools/console.py npm run --silent format

bench: .venv/dev-ready console ## Measure the claims, each beside its peer or bare limit
	$(BIN)/python -m benchmarks

docs: .venv/dev-ready ## Write the reference pages that come from code
	$(BIN)/python tools/reference.py

screenshots: .venv/dev-ready console ## Take the pictures in docs/images from a live server with real jobs
	$(BIN)/python tools/screenshots.py

constraints: .venv/dev-ready ## Renew the pinned versions
	@echo "# The versions that the Makefile installs: what the tests ran with. Renew with \`make constraints\`." > constraints.txt
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' >> constraints.txt

clean:
	rm -rf .venv .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/run-ready: pyproject.toml constraints.txt
	@tools/setup $(RUN_EXTRAS)
	@touch $@

.venv/dev-ready: pyproject.toml constraints.txt
	@tools/setup $(DEV_EXTRAS) postgresql:initdb openmpi-bin:mpirun chromium:chromium $(CONTAINERS) $(HANGING) $(OPERATING)
	@touch $@ .venv/run-ready
