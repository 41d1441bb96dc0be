"""The rewrites of a block, in the order of execution.

A rule takes a block's context and changes it: the relations that the block reads (`relations`), its text (`edits`), and
the time properties of its columns. Rules that create relations come first; rules that reword parts come before rules
that rewrite the whole block as a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.rules.changelog_functions import read_changelogs
from datasources.sql.query.rules.current_watermark import rewrite_current_watermark
from datasources.sql.query.rules.group_windows import rewrite_group_windows
from datasources.sql.query.rules.outer_interval_joins import bound_outer_interval_joins
from datasources.sql.query.rules.over import rewrite_over
from datasources.sql.query.rules.processing_time import rewrite_lookup_joins, rewrite_processing_time
from datasources.sql.query.rules.row_watermarks import carry_row_watermark
from datasources.sql.query.rules.sources import read_sources, rewrite_nested_queries
from datasources.sql.query.rules.spellings import rewrite_spellings
from datasources.sql.query.rules.substitute_relations import substitute_relations
from datasources.sql.query.rules.temporal_joins import rewrite_temporal_joins
from datasources.sql.query.rules.time_attributes import note_time_attributes
from datasources.sql.query.rules.time_rounding import rewrite_time_rounding
from datasources.sql.query.rules.window_functions import expand_window_functions
from datasources.sql.query.rules.window_top_n import rewrite_window_top_n

__all__ = ["RULES"]

RULES: Final[tuple[Callable[[BlockContext], None], ...]] = (
    rewrite_window_top_n,
    expand_window_functions,
    read_changelogs,
    read_sources,
    rewrite_nested_queries,
    rewrite_spellings,
    rewrite_processing_time,
    rewrite_lookup_joins,
    rewrite_temporal_joins,
    rewrite_current_watermark,
    rewrite_group_windows,
    rewrite_time_rounding,
    bound_outer_interval_joins,
    rewrite_over,
    note_time_attributes,
    carry_row_watermark,
    substitute_relations,
)
"""All rewrites."""
