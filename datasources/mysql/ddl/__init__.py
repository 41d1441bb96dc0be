"""What statements about captured tables mean for the changelog."""

from datasources.mysql.ddl.columns import ColumnDefinition
from datasources.mysql.ddl.ddl_classifier import concerns, judge, redefinitions
from datasources.mysql.ddl.ddl_effect import Action, Verdict
from datasources.mysql.ddl.stored_type import StoredType

__all__ = ["Action", "ColumnDefinition", "StoredType", "Verdict", "concerns", "judge", "redefinitions"]
