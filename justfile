# Commands for working on Beleg; `just` lists them. Everything runs from .venv, which `just setup` fills.

export PATH := justfile_directory() / ".venv/bin" + ":" + env("PATH")

compile := "uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header"

# Show this list
default:
    @just --list

# Install the pinned packages and the tools into .venv
setup:
    ./run setup

# Run Beleg here until Ctrl-C
up *arguments:
    beleg up {{ arguments }}

# Run the tests, or those that the arguments of pytest select
test *arguments:
    pytest {{ arguments }}

# Send every operation of the API so many odd requests of each kind
fuzz examples="200":
    BELEG_FUZZ_EXAMPLES={{ examples }} pytest tests/product/test_fuzz.py

# Check style, and repair what can be repaired
lint:
    ruff check --fix
    ruff format

# Check types
types:
    mypy

# Check that imports point the way the architecture says
arch:
    lint-imports

# Run everything that continuous integration runs
check:
    ./run tests

# Compile the pinned requirement files from pyproject.toml; with --upgrade to newer versions
pins *arguments:
    {{ compile }} {{ arguments }} pyproject.toml --group build -o requirements.txt
    {{ compile }} {{ arguments }} pyproject.toml --group dev -c requirements.txt -o requirements-dev.txt
    {{ compile }} {{ arguments }} pyproject.toml --extra speech --extra voice -c requirements.txt -o requirements-speech.txt
