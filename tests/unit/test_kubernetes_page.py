"""The manifests of docs/KUBERNETES.md fit together, and name commands, paths and options that exist."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from harness.manifests import Probe, blocks, manifests, pod_of, probes
from kafka.cli.commands import commands
from kafka.config import load_properties
from kafka.probes.probe_server import PATHS

pytestmark = pytest.mark.once

VERSIONS = {
    "ConfigMap": "v1",
    "Deployment": "apps/v1",
    "Ingress": "networking.k8s.io/v1",
    "Pod": "v1",
    "PodDisruptionBudget": "policy/v1",
    "Secret": "v1",
    "Service": "v1",
    "StatefulSet": "apps/v1",
}
MANIFESTS = manifests()
WITH_PODS = [each for each in MANIFESTS if pod_of(each) is not None]
EXPECTED = {"startupProbe": "/startupz", "livenessProbe": "/livez", "readinessProbe": "/readyz"}
UI_PATH = "/static/icon.svg"


def name_of(manifest: dict[str, Any]) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def parsed(arguments: list[str]) -> tuple[click.Command, dict[str, Any]]:
    """The command that click finds, and its parameters; it is not run."""
    command: click.Command = commands
    context = click.Context(commands)
    while isinstance(command, click.Group):
        name, found, arguments = command.resolve_command(context, arguments)
        assert found is not None, name
        context, command = click.Context(found, info_name=name, parent=context), found
    return command, command.make_context(command.name, list(arguments)).params


def test_objects_have_the_current_version_of_their_kind_and_different_names() -> None:
    assert {each["kind"] for each in MANIFESTS} == VERSIONS.keys()
    assert [each["apiVersion"] for each in MANIFESTS] == [VERSIONS[each["kind"]] for each in MANIFESTS]
    names = [name_of(each) for each in MANIFESTS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("manifest", WITH_PODS, ids=name_of)
def test_volumes_settings_and_ports_that_pods_name_exist(manifest: dict[str, Any]) -> None:
    pod = pod_of(manifest)
    assert pod is not None
    stored = {name_of(each): each.get("data", each.get("stringData", {})) for each in MANIFESTS}
    volumes = {each["name"]: each for each in pod.get("volumes", ())}
    for volume in volumes.values():
        assert "secret" not in volume or f"Secret {volume['secret']['secretName']}" in stored
    for container in pod["containers"]:
        assert {each["name"] for each in container.get("volumeMounts", ())} <= volumes.keys()
        for variable in container.get("env", ()):
            source = variable.get("valueFrom", {})
            for kind, key in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
                if key in source:
                    assert source[key]["key"] in stored[f"{kind} {source[key]['name']}"]
    if manifest["kind"] != "Pod":
        labels = manifest["spec"]["template"]["metadata"]["labels"]
        assert manifest["spec"]["selector"]["matchLabels"].items() <= labels.items()
        assert all("requests" in container["resources"] for container in pod["containers"])


def test_services_budgets_and_ingresses_select_what_is_there() -> None:
    labels = [each["spec"]["template"]["metadata"]["labels"] for each in WITH_PODS if each["kind"] != "Pod"]
    services = {each["metadata"]["name"]: each for each in MANIFESTS if each["kind"] == "Service"}
    for service in services.values():
        assert service["spec"]["selector"] in labels
    for each in MANIFESTS:
        if each["kind"] == "PodDisruptionBudget":
            assert each["spec"]["selector"]["matchLabels"] in labels
        if each["kind"] == "StatefulSet":
            assert each["spec"]["serviceName"] in services
        if each["kind"] == "Ingress":
            for rule in each["spec"]["rules"]:
                for path in rule["http"]["paths"]:
                    backend = path["backend"]["service"]
                    ports = services[backend["name"]]["spec"]["ports"]
                    assert backend["port"]["name"] in [port["name"] for port in ports]


@pytest.mark.parametrize("probe", list(probes()), ids=lambda probe: f"{probe.workload} {probe.kind}")
def test_probes_name_paths_ports_and_commands_that_exist(probe: Probe) -> None:
    assert probe.declared["periodSeconds"] >= 2
    if "httpGet" in probe.declared:
        asked = probe.declared["httpGet"]
        assert asked["port"] in [each["name"] for each in probe.container["ports"]]
        assert asked["path"] == (UI_PATH if probe.workload == "kafka-ui" else EXPECTED[probe.kind])
        assert asked["path"] == UI_PATH or asked["path"] in PATHS
    else:
        command, given = parsed(probe.command(""))
        assert command.name == "file"
        assert f"/{given['probe']}" in {path.removesuffix("z") for path in PATHS if path == EXPECTED[probe.kind]}
        assert given["max_age_s"] > 2 * 5.0
        mounted = [each["mountPath"] for each in probe.container["volumeMounts"]]
        assert str(given["path"].parent) in mounted


def test_the_arguments_of_the_ui_are_options_of_its_command() -> None:
    (ui,) = (each for each in WITH_PODS if each["metadata"]["name"] == "kafka-ui")
    pod = pod_of(ui)
    assert pod is not None
    (container,) = pod["containers"]
    options = {name for each in commands.get_command(click.Context(commands), "ui").params for name in each.opts}  # type: ignore[union-attr]
    assert {each.partition("=")[0] for each in container["args"]} <= options
    port = int(container["args"][0].rpartition(":")[2])
    assert [each["containerPort"] for each in container["ports"]] == [port]


def test_the_properties_in_the_secret_are_those_of_clients(tmp_path: Path) -> None:
    (secret,) = (each for each in MANIFESTS if name_of(each) == "Secret kafka-client")
    (tmp_path / "client.properties").write_text(secret["stringData"]["client.properties"])
    found = load_properties(tmp_path / "client.properties", "consumer")
    assert found["sasl_plain_username"] == "warehouse"
    assert found["ssl_truststore_location"] == "/etc/kafka/ca.pem"


def test_the_command_of_the_pipeline_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flights.yaml").touch()
    (block,) = blocks("sh")
    _, given = parsed(block.replace("\\\n", " ").split()[1:])
    assert given["master"].startswith("k8s://")
