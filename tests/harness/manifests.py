"""The programs and Kubernetes manifests of docs/KUBERNETES.md, and the probes that the manifests declare.

`probe_commands` turns probes into commands of this project, so that tests can run them against a real process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

PAGE = Path(__file__).resolve().parents[2] / "docs" / "KUBERNETES.md"
PROBE_NAMES = ("startupProbe", "livenessProbe", "readinessProbe")


class Probe(NamedTuple):
    """A probe of a container.

    Arguments:
        workload: the name of the workload.
        kind: one of `PROBE_NAMES`.
        declared: what the manifest says.
        container: the container that it belongs to.
    """

    workload: str
    kind: str
    declared: Mapping[str, Any]
    container: Mapping[str, Any]

    def command(self, address: str) -> list[str]:
        """The arguments of `kafka` that do what the kubelet does.

        Arguments:
            address: host and port that stand for the pod's.
        """
        if "exec" in self.declared:
            name, *arguments = map(str, self.declared["exec"]["command"])
            assert name == "kafka"
            return arguments
        return ["probe", "http", f"http://{address}{self.declared['httpGet']['path']}"]


def blocks(language: str) -> list[str]:
    """The blocks of a language, in their order."""
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def manifests() -> list[dict[str, Any]]:
    """All objects of the page."""
    return [each for block in blocks("yaml") for each in yaml.safe_load_all(block)]


def pod_of(manifest: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The pod's specification in a manifest; None if it has none."""
    spec: Any = manifest.get("spec", {})
    if manifest["kind"] == "Pod":
        return dict(spec)
    return spec["template"]["spec"] if "template" in spec else None


def probes() -> Iterator[Probe]:
    """All probes of all containers."""
    for manifest in manifests():
        for container in (pod_of(manifest) or {}).get("containers", ()):
            for kind in PROBE_NAMES:
                if kind in container:
                    yield Probe(manifest["metadata"]["name"], kind, container[kind], container)
