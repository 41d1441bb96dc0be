"""Options of an `iceberg` table: the keys of Flink's connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import Field

from datasources.options import OptionGroup, Secret, parse_group, reject_unknown
from datasources.sinks.change_sink import SinkTable

_CATALOG_PREFIXES: Final = ("adls.", "client.", "gcs.", "glue.", "header.", "io.", "jdbc.", "rest.", "s3.")
"""Properties of catalogs and of their files, which Iceberg itself knows."""


class IcebergOptions(OptionGroup):
    """Which table of which catalog."""

    catalog_name: str = Field(..., alias="catalog-name", min_length=1, description="Name of the catalog.")
    catalog_type: str | None = Field(
        None, alias="catalog-type", min_length=1, description="`hadoop`, `hive`, `rest`, `jdbc`, `glue` or `nessie`."
    )
    catalog_impl: str | None = Field(
        None, alias="catalog-impl", min_length=1, description="Class of another catalog, in place of `catalog-type`."
    )
    catalog_database: str = Field(
        "default", alias="catalog-database", min_length=1, description="Database; made if it is not there."
    )
    catalog_table: str | None = Field(
        None, alias="catalog-table", min_length=1, description="Table; by default its name in the statement."
    )
    warehouse: str | None = Field(None, alias="warehouse", min_length=1, description="Directory of the catalog.")
    uri: str | None = Field(None, alias="uri", min_length=1, description="Address of the catalog's server.")
    io_impl: str | None = Field(None, alias="io-impl", min_length=1, description="Class that reads and writes files.")
    credential: Secret | None = Field(None, alias="credential", description="Of a REST catalog: id:secret.")
    token: Secret | None = Field(None, alias="token", description="Of a REST catalog, in place of `credential`.")


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergTarget:
    """A table of a catalog.

    Attributes:
        catalog: name of the catalog.
        database: names of the levels above the table, joined by dots.
        table: name of the table.
        properties: of the catalog; not in the repr, because some are secrets.
    """

    catalog: str
    database: str
    table: str
    properties: Mapping[str, str] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.catalog}.{self.database}.{self.table}"


def iceberg_target(table: SinkTable) -> IcebergTarget:
    """Return what the options of a table name.

    Raises:
        OptionError: an option is unknown, missing or malformed.
    """
    reject_unknown(
        table.options, [IcebergOptions], prefixes=_CATALOG_PREFIXES, what="iceberg", page="docs/changing-tables.md"
    )
    options = parse_group(IcebergOptions, table.options)
    kind = options.catalog_type or (None if options.catalog_impl else "hive")  # as Flink's connector has it
    given = {
        "type": kind,
        "catalog-impl": options.catalog_impl,
        "warehouse": options.warehouse,
        "uri": options.uri,
        "io-impl": options.io_impl,
        "credential": options.credential,
        "token": options.token,
    }
    passed = {key: value for key, value in table.options.items() if key.startswith(_CATALOG_PREFIXES)}
    return IcebergTarget(
        catalog=options.catalog_name,
        database=options.catalog_database,
        table=options.catalog_table or table.name,
        properties=passed | {key: value for key, value in given.items() if value is not None},
    )
