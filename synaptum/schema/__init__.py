"""Types as JSON: schemas, reading and writing values, validating against a schema."""

from synaptum.schema.annotations import json_schema_for, schema_for
from synaptum.schema.output import OutputType, output_type

__all__ = ["OutputType", "json_schema_for", "output_type", "schema_for"]
