"""Types as JSON: schemas, reading and writing values, validating against a schema."""

from synaptum.schema.annotations import json_schema_for, schema_for

__all__ = ["json_schema_for", "schema_for"]
