"""Renders a chart with Helm's library, and reads what Kubernetes would: `kubernetes.py CHART`, with a list of values as JSON on standard input.

Prints one object of JSON: what Helm says of the chart (`lint`), and for each of the values why Helm refuses them (`refused`), or the text
of the manifests, their objects, and what Kubernetes' schemas say against them (`faults`).
"""

import json
import sys

import helm_python
import kubernetes_validate
import yaml

# The oldest that the chart takes, and the newest that there are schemas of.
VERSIONS = ["1.30.0", kubernetes_validate.latest_version()]


def faults(objects):
    for one in objects:
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(one, version, strict=True)
            except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
                yield f"{one['kind']}, {version}: {error.message}"


def rendered(chart, values):
    try:
        chart.validate_schema(values)
        manifests = chart.render(values, name="callgate", namespace="mcp")
    except helm_python.HelmError as error:
        return {"refused": str(error)}
    texts = [text.strip() for _, text in sorted(manifests.items()) if text.strip()]
    text = "\n---\n".join(texts) + "\n"
    objects = list(yaml.safe_load_all(text))
    return {"text": text, "objects": objects, "faults": list(faults(objects))}


def main():
    path = sys.argv[1]
    asked = [yaml.safe_load(values) for values in json.load(sys.stdin)]
    with helm_python.Chart.load(path) as chart:
        answers = [rendered(chart, values) for values in asked]
    lint = [message["error"] for message in helm_python.lint(path, asked[0])["messages"] if message["severity"] > 1]
    json.dump({"lint": lint, "answers": answers}, sys.stdout)


main()
