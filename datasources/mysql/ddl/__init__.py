"""What statements about captured tables mean for the changelog."""

from datasources.mysql.ddl.columns import ColumnDefinition
from datasources.mysql.ddl.judge import concerns, judge, redefinitions
from datasources.mysql.ddl.stored_type import StoredType
from datasources.mysql.ddl.verdict import Action, Verdict

__all__ = ["Action", "ColumnDefinition", "StoredType", "Verdict", "concerns", "judge", "redefinitions"]
