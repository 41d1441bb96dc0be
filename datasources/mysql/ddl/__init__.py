"""What statements about captured tables mean for the changelog."""

from datasources.mysql.ddl.judge import concerns, judge
from datasources.mysql.ddl.verdict import Action, Verdict

__all__ = ["Action", "Verdict", "concerns", "judge"]
