"""The DDL classifier: the effect of statements about captured tables on the changelog."""

from datasources.mysql.ddl.columns import ColumnDefinition
from datasources.mysql.ddl.ddl_classifier import additions, classify, concerns, redefinitions
from datasources.mysql.ddl.ddl_effect import Action, DdlEffect
from datasources.mysql.ddl.stored_type import StoredType

__all__ = [
    "Action",
    "ColumnDefinition",
    "DdlEffect",
    "StoredType",
    "additions",
    "classify",
    "concerns",
    "redefinitions",
]
