"""The JSON Schema of a format's frontmatter, made from the format itself (IF-10)."""

from __future__ import annotations

from vaultkeeper.core.format import Format, Key, Language

_TIME = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"


def frontmatter_schema(fmt: Format, language: Language = "en") -> dict[str, object]:
    """JSON Schema (2020-12) of what the keeper itself writes; reading is more lenient (LT-30 to LT-38)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"vaultkeeper {fmt.id} frontmatter",
        "type": "object",
        "required": [key.name for key in fmt.keys if key.required],
        "properties": {key.name: _property(key, fmt, language) for key in fmt.keys},
        "additionalProperties": True,
    }


def _property(key: Key, fmt: Format, language: Language) -> dict[str, object]:
    words = {"type": fmt.types, "status": fmt.statuses, "confidence": fmt.confidences}.get(key.kind)
    if words is not None:
        listed = ", ".join(f"{word.name}: {word.label[language]}" for word in words)
        return {"enum": [word.name for word in words], "description": listed}
    id_schema = {"type": "string", "pattern": f"^{fmt.id_pattern}$"}
    plain: dict[str, dict[str, object]] = {
        "id": dict(id_schema),
        "id-ref": dict(id_schema),
        "ids": {"type": "array", "items": id_schema, "uniqueItems": True},
        "title": {"type": "string", "minLength": 1, "maxLength": fmt.title_limit},
        "time": {"type": "string", "pattern": _TIME},
        "tags": {
            "type": "array",
            "items": {"type": "string", "pattern": r"^[^#\sA-Z]+$"},
            "uniqueItems": True,
        },
        "list": {"type": "array", "items": {"type": "string"}},
        "importance": {"type": "integer", "minimum": 0, "maximum": 100},
        "flag": {"type": "boolean"},
        "text": {"type": "string"},
        "schema": {"const": fmt.schema_version},
    }
    return plain[key.kind]
