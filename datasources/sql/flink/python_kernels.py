"""Functions of Flink's that Spark has no expression for: Python functions of Arrow arrays, under names of ours.

They are registered in Spark and known to readers as those that CREATE FUNCTION makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from datasources.expressions.arrow_function import ArrowFunction
from datasources.expressions.json_query import json_query

JSON_QUERY: Final = "tidemark_json_query"
PYTHON_KERNELS: Final[Mapping[str, ArrowFunction]] = {JSON_QUERY: json_query}
"""By name."""
