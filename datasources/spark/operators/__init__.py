"""Tidemark's stateful operators, on Spark's transformWithState. They take streams before they are attached."""

from datasources.spark.operators.buckets.state_settings import configure_state
from datasources.spark.operators.over.frames.frame_spec import OverFrame
from datasources.spark.operators.over.operator import over
from datasources.spark.operators.sessions.session_windows import session_windows
from datasources.spark.operators.temporal.temporal_join import temporal_join

__all__ = ["OverFrame", "configure_state", "over", "session_windows", "temporal_join"]
