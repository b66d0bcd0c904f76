"""The names that a tool's JSON Schema tells a model, which are those that annotations name.

A tool may take an argument by another name as well (an alias of a field), which nobody has annotated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_PARTS = ("anyOf", "oneOf", "allOf")


def untold(value: object, schema: Mapping[str, Any]) -> str | None:
    """Returns a name of the value, at any depth, that the schema does not tell, or `None` if it tells them all."""
    return _untold(value, [schema], schema)


def _untold(value: object, schemas: list[Any], root: Mapping[str, Any]) -> str | None:
    told = [part for schema in schemas for part in _parts(schema, root, set())]
    if isinstance(value, list | tuple):
        items = [item for part in told for item in (part.get("items"), *part.get("prefixItems", ())) if isinstance(item, Mapping)]
        return next((name for item in value if (name := _untold(item, items, root)) is not None), None) if items else None
    if not isinstance(value, Mapping):
        return None
    is_open = not told or any(_is_open(part) for part in told)
    others = [other for part in told if isinstance(other := part.get("additionalProperties"), Mapping)]
    for key, inner in value.items():
        named = [part["properties"][key] for part in told if key in part.get("properties", {})]
        if not named and not is_open:
            return str(key)
        name = _untold(inner, named or others, root)
        if name is not None:
            return name
    return None


def _parts(schema: Any, root: Mapping[str, Any], seen: set[int]) -> Iterator[Mapping[str, Any]]:
    """The schemas that a schema is made of, without references."""
    if not isinstance(schema, Mapping) or id(schema) in seen:
        return
    seen.add(id(schema))
    reference = schema.get("$ref")
    inner = [part for key in _PARTS for part in schema.get(key, ())]
    if isinstance(reference, str):
        inner.append(_referred(reference, root))
    for part in inner:
        yield from _parts(part, root, seen)
    if not inner or "properties" in schema:
        yield schema


def _referred(reference: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return found


def _is_open(schema: Mapping[str, Any]) -> bool:
    """Returns `True` if the schema leaves names to the model: a mapping, or anything at all."""
    if schema.get("additionalProperties", False) is not False or "patternProperties" in schema:
        return True
    return schema.get("type", "object") == "object" and "properties" not in schema and "additionalProperties" not in schema
