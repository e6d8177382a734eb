"""Rules of the layout that no linter knows."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from app.settings import Settings, read_settings

ROOT = Path(__file__).parents[1]
MAY_WAIT = {
    "ports.py",
    "stores.py",
    "account_contents.py",
    "metering.py",
    "reranking.py",
    "capture.py",
    "parallel.py",
    "sight.py",
    "hearing.py",
    "speaking.py",
    "making.py",
    "audio_overview.py",
    "fetching.py",
    "event_log.py",
    "live.py",
    "sign_up.py",
}
"""Modules of the domain beside the use-cases that wait for ports."""
ELSEWHERE = {"BELEG_SHARED_BUFFERS"}
"""Settings of `beleg up`, which reads them before there is a product."""
MOST_LINES = 400
LONGER = {
    "domain/stores.py": "the ports of one unit of work, nearly all of it their contracts",
    "domain/ports.py": "every other port, nearly all of it their contracts",
}
"""Modules that may be longer, and why."""
ROW = re.compile(r"^\| `([A-Z_]+)` \|(.*?)\| (.*?) \|$", re.MULTILINE)


class _Recording(Mapping[str, str]):
    """An environment that notes what it is asked for."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values_by_name = values
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)


def _documented() -> dict[str, str]:
    """Default by variable, as docs/settings.md tells."""
    rows: list[tuple[str, str, str]] = ROW.findall((ROOT / "docs" / "settings.md").read_text())
    names = [name for name, _, _ in rows]
    assert len(names) == len(set(names))
    assert all(meaning for _, _, meaning in rows)
    return {name: default.strip() for name, default, _ in rows}


def _named_modules() -> tuple[set[str], set[str]]:
    """Top-level modules that what is shipped imports, and strings that may name others."""
    imported: set[str] = set()
    strings: set[str] = set()
    for folder in ("app", "domain", "adapters", "workers", "migrations"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                match node:
                    case ast.Import(names=names):
                        imported |= {alias.name.partition(".")[0] for alias in names}
                    case ast.ImportFrom(module=str(module)):
                        imported.add(module.partition(".")[0])
                    case ast.Constant(value=str(text)):
                        strings.add(text)
                    case _:
                        pass
    return imported, strings


def test_every_dependency_is_used_and_everything_used_is_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed, *extras = (
        {re.split(r"[\[;]", line)[0] for line in lines}
        for lines in (project["dependencies"], *project["optional-dependencies"].values())
    )
    imported, strings = _named_modules()
    packages: dict[str, set[str]] = {
        module: {name.lower().replace("_", "-") for name in names}
        for module, names in packages_distributions().items()
    }
    used = {name for module in imported | strings for name in packages.get(module, ())}
    assert not needed - used
    third_party = {name for module in imported for name in packages.get(module, ())}
    assert third_party <= needed.union(*extras, {"beleg"})


def test_every_setting_is_documented_and_nothing_else_is() -> None:
    environment = _Recording({})
    read_settings(environment)
    assert set(_documented()) == environment.asked | ELSEWHERE
    for name in ELSEWHERE:
        assert any(name in path.read_text() for path in (ROOT / "app").glob("*.py"))


def test_every_field_of_the_settings_is_read_from_a_variable() -> None:
    kinds = {"chat": "llm_model", "embedding": "embedding_model", "rerank": "rerank_model"} | {
        "oidc": "oidc_issuer",
        "vision": "vision_model",
        "stt": "stt_model",
        "tts": "tts_provider",
    }
    documented = {name.lower() for name in _documented()}
    for field in fields(Settings):
        assert kinds.get(field.name, field.name) in documented, field.name


@pytest.mark.parametrize(("name", "default"), _documented().items())
def test_a_documented_default_is_the_default(name: str, default: str) -> None:
    literal = re.fullmatch(r"`(.+)`", default)
    if literal is None or name in ELSEWHERE or "INFERENCE" in default:
        return
    base = {"INFERENCE_API_KEY": "a key"}
    assert read_settings({**base, name: literal[1]}) == read_settings(base)


def test_the_domain_waits_only_at_its_edges() -> None:
    waiting = ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith | ast.Await
    for path in (ROOT / "domain").glob("*.py"):
        if path.name in MAY_WAIT:
            continue
        tree = ast.parse(path.read_text())
        assert not any(isinstance(node, waiting) for node in ast.walk(tree)), path.name


def test_a_use_case_is_one_file_with_one_intention() -> None:
    for path in (ROOT / "domain" / "usecases").glob("[a-z]*.py"):
        tree = ast.parse(path.read_text())
        named = path.stem.replace("_", "")
        classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        assert any(name.lower() == named for name in classes), (path.name, classes)


def test_modules_stay_readable() -> None:
    for folder in ("domain", "app", "adapters", "workers"):
        for path in (ROOT / folder).rglob("*.py"):
            name, lines = str(path.relative_to(ROOT)), len(path.read_text().splitlines())
            assert (lines > MOST_LINES) is (name in LONGER), (name, lines)


def test_every_module_says_in_its_first_line_what_it_is() -> None:
    for folder in ("domain", "app", "adapters", "workers", "migrations", "templates"):
        for path in (ROOT / folder).rglob("*.py"):
            document = ast.get_docstring(ast.parse(path.read_text()))
            assert document, path
            assert document.splitlines()[0].endswith((".", "?", ":")), path
