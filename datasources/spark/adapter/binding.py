"""What register() binds into a data source class for the processes that Spark will start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from datasources.source.coordination.server import Endpoint
from datasources.spark.adapter.application_coordinator import CoordinatorSettings
from datasources.spark.boundary.package_version import PackageVersion

if TYPE_CHECKING:
    from datasources.expressions.evaluation.function_call import ReaderFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The application's coordinator and the session's settings.

    Attributes:
        version: compared first, where the class is unpickled.
        endpoint: of the coordinator in the driver's Python; None = planners find the application's, or start it.
        coordinator: where planners start it.
        hides_secrets: whether Spark hides the values of secret options in the session's plans.
        defaults: options that hold unless the user sets them.
        is_watched: whether somebody watches the application's sources, so that planners publish their tables.
        allows_code: whether the application's administrator lets options load libraries and run commands.
        functions: the user's own functions that expressions may call, by name.
        max_tasks: into how many tasks the splits of a batch are put at most; None = one task per split.
    """

    version: PackageVersion = field(default_factory=PackageVersion, compare=False)
    endpoint: Endpoint | None = None
    coordinator: CoordinatorSettings = field(default_factory=CoordinatorSettings)
    hides_secrets: bool = False
    defaults: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, ReaderFunction] = field(default_factory=dict)
    max_tasks: int | None = None
    is_watched: bool = False
    allows_code: bool = False
