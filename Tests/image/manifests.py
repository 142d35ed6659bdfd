#!/usr/bin/env python3
"""Validates the manifests for Kubernetes: by the schemas of Kubernetes, and by what docs/containers.md says of them."""

import sys
from pathlib import Path

import kubernetes_validate
import yaml

FOLDER = Path("Sources/Packaging/kubernetes")
# Values of a Helm chart, and a file of kubectl: no objects of a cluster.
OTHERS = {"prometheus-adapter.yaml", "kustomization.yaml"}
VERSIONS = ["1.31", kubernetes_validate.latest_version()]


def equal(what, found, wanted):
    if found != wanted:
        sys.exit(f"FAILED: {what}: {found} instead of {wanted}")


def objects():
    for path in sorted(FOLDER.glob("*.yaml")):
        if path.name not in OTHERS:
            for document in yaml.safe_load_all(path.read_text()):
                yield path.name, document


def check_pods(name, template):
    spec = template["spec"]
    equal(f"{name}: runs as root", spec["securityContext"]["runAsNonRoot"], True)
    # The standard `restricted`, which the namespace enforces, refuses Unconfined.
    equal(f"{name}: filter", spec["securityContext"]["seccompProfile"]["type"] in ("RuntimeDefault", "Localhost"), True)
    volumes = {volume["name"] for volume in spec["volumes"]}
    for container in spec["containers"]:
        security = container["securityContext"]
        equal(f"{name}: root", security["readOnlyRootFilesystem"], True)
        equal(f"{name}: capabilities", security["capabilities"], {"drop": ["ALL"]})
        equal(f"{name}: privileges", security["allowPrivilegeEscalation"], False)
        equal(f"{name}: command", "command" in container, False)
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            ports = {port["name"] for port in container["ports"]}
            equal(f"{name}: {probe}", container[probe]["httpGet"]["port"] in ports, True)
        volumes |= {"data"} if name == "StatefulSet" else set()
        equal(f"{name}: volumes", {mount["name"] for mount in container["volumeMounts"]} <= volumes, True)


def main():
    found = list(objects())
    for version in VERSIONS:
        for name, document in found:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                sys.exit(f"FAILED: {name}, {document['kind']}, Kubernetes {version}: {error.message}")
    pods = {document["kind"]: document["spec"]["template"] for _, document in found if "template" in document.get("spec", {})}
    equal("workloads", set(pods), {"StatefulSet", "Deployment"})
    for kind, template in pods.items():
        check_pods(kind, template)
    labels = [template["metadata"]["labels"] for template in pods.values()]
    for name, document in found:
        if document["kind"] == "PodDisruptionBudget":
            equal(f"{name}: the budget has pods", document["spec"]["selector"]["matchLabels"] in labels, True)
    rules = yaml.safe_load((FOLDER / "prometheus-adapter.yaml").read_text())["rules"]["external"]
    scaler = next(document for _, document in found if document["kind"] == "HorizontalPodAutoscaler")
    wanted = [metric["external"]["metric"]["name"] for metric in scaler["spec"]["metrics"]]
    equal("the metrics of the autoscaler", wanted, [rule["name"]["as"] for rule in rules])
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    equal("the resources", sorted(listed), sorted({name for name, _ in found}))
    print(f"{len(found)} objects are valid for Kubernetes {', '.join(VERSIONS)}")


if __name__ == "__main__":
    main()
