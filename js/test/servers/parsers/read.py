"""A server on Python's json: each line of its input as it reads it. See parsers.mjs for the form of its output."""

import json
import sys


def spell(value):
    if isinstance(value, str):
        return "t" + value.encode("utf-8", "surrogatepass").hex()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"n{value}"
    return "-"


def names_of(value):
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from names_of(member)
    elif isinstance(value, list):
        for item in value:
            yield from names_of(item)


def read(line):
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return "error"
    if not isinstance(message, dict):
        return "error"
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    names = sorted(name.encode("utf-8", "surrogatepass") for name in names_of(params.get("arguments")))
    fields = [spell(message.get("method")), spell(message.get("id")), spell(params.get("name"))]
    return " ".join([*fields, ",".join(name.hex() for name in names)])


for line in sys.stdin.buffer:
    print(read(line))
