"""Validates events of the Open Cybersecurity Schema Framework, one JSON line each, from standard input, and prints what is wrong."""

import json
import sys

from jsonschema import Draft202012Validator
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

for line in sys.stdin:
    event = json.loads(line)
    metadata = event["metadata"]
    schema = OcsfJsonSchemaEmbedded(get_ocsf_schema(metadata["version"]))
    schema = schema.get_class_schema("api_activity", profiles=metadata["profiles"])
    # Members that the schema does not know are errors, but for those that are the product's own.
    for error in Draft202012Validator(schema).iter_errors(event):
        print(f"{error.json_path}: {error.message}")
