"""What is under k8s/, and the Dockerfile, checked against schemas and the code; no cluster."""

import argparse
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # ships no types
import msgspec
import psycopg
import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from app.cli import COMMANDS
from app.routes.health import router
from app.runs import _SHUTDOWN_S
from app.settings import read_settings
from app.web_server import _GRACE_S
from domain.jobs import QUEUES
from tests.conftest import ROOT

Object = dict[str, Any]

BASE = ROOT / "k8s" / "base"
OVERLAYS = sorted((ROOT / "k8s" / "overlays").iterdir())
KUBERNETES = ("1.34", "1.37")  # the oldest and the newest that docs/operations.md names
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()
IS_SECRET = re.compile(r"DATABASE_URL|\w+_(KEY|SECRET)")
"""Settings that come from the Secret `beleg`, key by key."""


class Kustomization(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """The keys of a kustomization that are used here; its schema is in no public set."""

    api_version: str
    kind: str
    namespace: str
    resources: list[str]
    images: list[dict[str, str]] = []
    patches: list[Object] = []


class PostgresqlMetadata(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What KEDA's PostgreSQL trigger takes; it reads strings."""

    connection_from_env: str
    query: str
    target_query_value: str
    activation_target_query_value: str


class Trigger(msgspec.Struct, forbid_unknown_fields=True):
    """One trigger of a ScaledObject."""

    type: str
    metadata: PostgresqlMetadata


class Target(msgspec.Struct, forbid_unknown_fields=True):
    """The Deployment that is scaled."""

    name: str


class ScaledObjectSpec(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """The keys of `keda.sh/v1alpha1` that are used here."""

    scale_target_ref: Target
    min_replica_count: int
    max_replica_count: int
    polling_interval: int
    cooldown_period: int
    triggers: list[Trigger]


class Environment(Mapping[str, str]):
    """An empty environment that remembers what it was asked for."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _kustomization(folder: Path) -> Kustomization:
    content = yaml.safe_load((folder / "kustomization.yaml").read_text())
    return msgspec.convert(content, Kustomization)


def _objects(folder: Path) -> list[Object]:
    files = sorted(set(folder.glob("*.yaml")) - {folder / "kustomization.yaml"})
    return [item for file in files for item in yaml.safe_load_all(file.read_text())]


def _of(kind: str) -> list[Object]:
    return [item for item in _objects(BASE) if item["kind"] == kind]


def _pod(item: Object) -> Object:
    spec: Object = item["spec"]["template"]["spec"]
    return spec


def _container(item: Object) -> Object:
    [container] = _pod(item)["containers"]
    assert isinstance(container, dict)
    return container


def _scalers() -> list[ScaledObjectSpec]:
    items = [
        item for item in _objects(ROOT / "k8s/overlays/keda") if item["kind"] == "ScaledObject"
    ]
    assert all(set(item) == {"apiVersion", "kind", "metadata", "spec"} for item in items)
    return [msgspec.convert(item["spec"], ScaledObjectSpec) for item in items]


PODS = [*_of("Deployment"), *_of("Job")]
[WEB] = [item for item in PODS if item["metadata"]["name"] == "beleg-web"]
WORKERS = [item for item in PODS if _container(item)["args"][0] == "worker"]
by_name = pytest.mark.parametrize("item", PODS, ids=lambda item: str(item["metadata"]["name"]))


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize(
    "item", _objects(BASE), ids=lambda i: f"{i['kind']}/{i['metadata']['name']}"
)
def test_every_object_is_valid_and_has_no_unknown_key(item: Object, version: str) -> None:
    kubernetes_validate.validate(item, version, strict=True)


@pytest.mark.parametrize("folder", [BASE, *OVERLAYS], ids=lambda folder: str(folder.name))
def test_a_kustomization_lists_every_file_beside_it(folder: Path) -> None:
    listed = {name for name in _kustomization(folder).resources if not name.startswith("../")}
    assert listed == {file.name for file in folder.iterdir()} - {"kustomization.yaml"}


def test_the_image_has_the_version_of_the_project() -> None:
    [image] = _kustomization(BASE).images
    assert image == {"name": "beleg", "newTag": PROJECT["project"]["version"]}
    assert {_container(item)["image"] for item in PODS} == {"beleg"}


@by_name
def test_a_container_runs_a_command_that_beleg_has(item: Object) -> None:
    command, *arguments = _container(item)["args"]
    parser = argparse.ArgumentParser(exit_on_error=False)
    COMMANDS[command].arguments(parser)
    parser.parse_args(arguments)


def test_every_queue_has_a_pool_and_every_pool_a_scaler() -> None:
    queues = {_container(item)["args"][2]: item["metadata"]["name"] for item in WORKERS}
    assert queues.keys() == set(QUEUES)
    assert {scaler.scale_target_ref.name for scaler in _scalers()} == set(queues.values())


def test_web_listens_where_its_port_its_service_and_its_policy_say() -> None:
    arguments = _container(WEB)["args"]
    assert arguments[arguments.index("--host") + 1] == "0.0.0.0"
    port = int(arguments[arguments.index("--port") + 1])
    assert _container(WEB)["ports"] == [{"name": "http", "containerPort": port}]
    [service] = _of("Service")
    assert service["spec"]["ports"][0]["targetPort"] == "http"
    opened = [
        policy["spec"]["ingress"] for policy in _of("NetworkPolicy") if "ingress" in policy["spec"]
    ]
    assert opened == [[{"ports": [{"protocol": "TCP", "port": "http"}]}]]


def test_selectors_find_the_pods() -> None:
    labels = [item["spec"]["template"]["metadata"]["labels"].items() for item in PODS]
    for item in [
        *_of("Deployment"),
        *_of("PodDisruptionBudget"),
        *_of("Service"),
        *_of("NetworkPolicy"),
    ]:
        spec = item["spec"]
        selector = spec.get("podSelector") or spec["selector"]
        wanted = selector.get("matchLabels", selector).items()
        assert any(wanted <= each for each in labels), item["metadata"]["name"]


def test_probes_ask_routes_that_exist() -> None:
    routes = {route.path for route in router.routes}
    container = _container(WEB)
    live, ready = container["livenessProbe"]["httpGet"], container["readinessProbe"]["httpGet"]
    assert (live["path"], ready["path"]) == ("/health/live", "/health/ready")
    assert {live["path"], ready["path"], container["startupProbe"]["httpGet"]["path"]} <= routes


def test_web_is_given_longer_to_end_than_it_takes() -> None:
    stopped_runs_s = 5  # what `Runs.close` allows those it had to stop
    wait_s = _container(WEB)["lifecycle"]["preStop"]["sleep"]["seconds"]
    takes_s = wait_s + _GRACE_S + _SHUTDOWN_S + stopped_runs_s
    assert _pod(WEB)["terminationGracePeriodSeconds"] >= takes_s + 10


@by_name
def test_no_pod_starts_without_a_database(item: Object) -> None:
    secret = {"secretKeyRef": {"name": "beleg", "key": "DATABASE_URL"}}
    assert _container(item)["env"] == [{"name": "DATABASE_URL", "valueFrom": secret}]


def test_all_that_read_the_settings_get_them_and_the_secrets_by_reference() -> None:
    for item in (WEB, *WORKERS):
        config, secret = _container(item)["envFrom"]
        assert config == {"configMapRef": {"name": _of("ConfigMap")[0]["metadata"]["name"]}}
        assert secret == {"secretRef": {"name": "beleg"}}


def test_no_secret_is_in_the_repository_and_each_is_named_to_whoever_makes_them() -> None:
    assert not _of("Secret")
    [config] = _of("ConfigMap")
    environment = Environment()
    read_settings(environment)
    secrets = set(filter(IS_SECRET.fullmatch, environment.names))
    assert len(secrets) > 9
    assert not secrets & config["data"].keys()
    told = (ROOT / "docs" / "operations.md").read_text()
    assert {name for name in secrets if f"`{name}`" not in told} == set()


def test_the_product_accepts_the_settings_and_keeps_files_on_the_claim() -> None:
    [config] = _of("ConfigMap")
    environment = Environment()
    read_settings(environment)
    assert config["data"].keys() <= environment.names
    settings = read_settings({**config["data"], "DATABASE_URL": "postgresql://x"})
    assert not settings.beleg_local
    [claim] = _of("PersistentVolumeClaim")
    for item in (WEB, *WORKERS):
        [volume] = [each for each in _pod(item)["volumes"] if "persistentVolumeClaim" in each]
        assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        [mount] = [m for m in _container(item)["volumeMounts"] if m["name"] == volume["name"]]
        assert settings.storage_url.startswith(f"file://{mount['mountPath']}/")
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]


@by_name
def test_a_pod_may_do_nothing_it_does_not_need(item: Object) -> None:
    pod, container = _pod(item), _container(item)
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"name": "tmp", "mountPath": "/tmp"} in container["volumeMounts"]
    assert set(container["resources"]) == {"requests", "limits"}


@pytest.mark.parametrize("queue", QUEUES)
def test_a_scaler_counts_what_waits_or_runs_in_its_queue_and_is_due(
    database_url: str, queue: str
) -> None:
    [scaler] = [each for each in _scalers() if each.scale_target_ref.name.endswith(queue)]
    [trigger] = scaler.triggers
    assert trigger.type == "postgresql"
    assert (scaler.min_replica_count, trigger.metadata.activation_target_query_value) == (0, "0")
    assert trigger.metadata.connection_from_env in {
        v["name"] for v in _container(WORKERS[0])["env"]
    }
    rows = [
        ("waits", queue, "queued", 0),
        ("runs", queue, "active", 0),
        ("is done", queue, "complete", 0),
        ("is tried again in an hour", queue, "queued", 3600),
        ("waits elsewhere", "other", "queued", 0),
    ]
    with psycopg.connect(database_url) as connection:
        assert connection.execute(trigger.metadata.query.encode()).fetchone() == (0,)
        connection.cursor().executemany(
            "insert into saq_jobs (key, job, queue, status, scheduled)"
            " values (%s, '', %s, %s, extract(epoch from now())::bigint + %s)",
            rows,
        )
        assert connection.execute(trigger.metadata.query.encode()).fetchone() == (2,)


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl, which renders, is not installed")
@pytest.mark.parametrize("folder", [BASE, *OVERLAYS], ids=lambda folder: str(folder.name))
def test_what_kustomize_renders_is_valid(folder: Path) -> None:
    command = ["kubectl", "kustomize", str(folder)]
    rendered = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    items = list(yaml.safe_load_all(rendered))
    assert {item["metadata"]["namespace"] for item in items} == {"beleg"}
    scaled = {
        item["spec"]["scaleTargetRef"]["name"] for item in items if item["kind"] == "ScaledObject"
    }
    for item in items:
        if item["kind"] != "ScaledObject":
            kubernetes_validate.validate(item, KUBERNETES[-1], strict=True)
        if item["kind"] == "Deployment":
            assert ("replicas" in item["spec"]) != (item["metadata"]["name"] in scaled)


def test_the_image_runs_as_the_user_of_the_pods() -> None:
    [user, group] = re.findall(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE)[0]
    for item in PODS:
        context = _pod(item)["securityContext"]
        assert (context["runAsUser"], context["runAsGroup"]) == (int(user), int(group))


def test_the_image_gets_all_that_the_package_is_made_of_and_nothing_unpinned() -> None:
    copied = {
        name
        for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE)
        for name in line.split()
    }
    project = PROJECT["project"]
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert copied >= {"pyproject.toml", project["readme"], *project["license-files"], *packages}
    assert all((ROOT / name).exists() for name in copied)
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {line[1:] for line in ignored if line.startswith("!")} == copied
    installs = re.findall(r"pip install .+", DOCKERFILE)
    assert all("--require-hashes" in line or "--no-deps" in line for line in installs)
    assert not re.search(r"https?://|index-url", DOCKERFILE)
