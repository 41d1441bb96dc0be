"""The reference of all options, made from their declarations: ``python -m datasources.options_page > docs/options.md``.

A test asserts that docs/options.md is what this module writes, so that no option is undocumented.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from datasources.kafka.source import KafkaSource
from datasources.mysql.source import MySqlSource
from datasources.options import OptionGroup, render_options
from datasources.scripted.source import ScriptedSource
from datasources.source.api.connector import ScanSource
from datasources.spark.options.scan_options import SHARED_GROUPS

__all__ = ["CONNECTORS", "SHARED_GROUPS", "main", "render_page"]

CONNECTORS: tuple[type[ScanSource], ...] = (KafkaSource, MySqlSource, ScriptedSource)
"""The sources that the page describes, in its order."""

_HEAD = """# Options

<!-- Made by `python -m datasources.options_page > docs/options.md`. Change the declarations, not this file. -->

Keys ignore case. An unknown key is an error that names the nearest ones. A **duration** is a number with a unit
(`200 ms`, `5 s`, `1 min`, `2 h`, `1 d`), an ISO duration (`PT1M30S`), or a bare number of milliseconds.
"""
_HANDED_THROUGH = {
    "kafka.": "`kafka.*` and `properties.*` are handed to the client (librdkafka): `kafka.bootstrap.servers` is "
    "required. Keys that belong to the source (such as `auto.offset.reset`) or exist in Java only are rejected with a "
    "hint; logins in JAAS lines (user and password, OAuth's client credentials), stores in PEM and key stores in "
    "PKCS#12 are translated ([kafka.md](kafka.md#logins-and-certificates)). Passwords are never shown.",
    "format.dead-letter.kafka.": "`format.dead-letter.kafka.*` and `format.dead-letter.properties.*` are the same for "
    "the client that writes [dead letters](formats.md#dead-letters): added to those of the source, or, with "
    "`format.dead-letter.kafka.bootstrap.servers`, in their place.",
}
_SHARED_TEXT = (
    "The keys under `table.exec.` and `pipeline.` can be set for all sources of a session: in Spark's configuration as "
    "`spark.tidemark.<key>`, before `register(spark)`. The keys under `scan.session.` are filled in by `register` and "
    "`read_stream`."
)
_SIDES_TEXT = "With `value.` before it an option means the same; with `key.` it is of the key's format."


def render_page() -> str:
    """Return the whole page as Markdown."""
    parts = [_HEAD]
    for connector in CONNECTORS:
        parts.append(f"## `{connector.format_name}`\n")
        parts.extend(text + "\n" for prefix, text in _HANDED_THROUGH.items() if prefix in connector.option_prefixes)
        parts.extend(_render_group(group) for group in connector.option_groups)
    parts.append(f"## All sources\n\n{_SHARED_TEXT}\n")
    parts.extend(_render_group(group) for group in SHARED_GROUPS)
    return "\n".join(parts)


def main() -> None:
    """Write the page to standard output."""
    sys.stdout.write(render_page())


def _render_group(group: type[OptionGroup]) -> str:
    title = (group.__doc__ or "").strip().splitlines()[0]
    options = render_options(group)
    once = {key for key, *_ in options} - _repeated(key for key, *_ in options)
    rows = (_row(f"`{key}`", kind, default, text) for key, kind, default, text in options if key in once)
    table = "\n".join([_row("Option", "Type", "Default", "Meaning"), _row("---", "---", "---", "---"), *rows])
    note = "" if len(once) == len(options) else f"{_SIDES_TEXT}\n\n"
    return f"### {title.rstrip('.')}\n\n{note}{table}\n"


def _repeated(keys: Iterable[str]) -> set[str]:
    """Return those of some keys that are another one behind the side of a record."""
    known = set(keys)
    sides = ("key.", "value.")
    return {f"{side}{key}" for key in known for side in sides if "." in key} & known


def _row(*cells: str) -> str:
    return f"| {' | '.join(_escaped(cells))} |"


def _escaped(cells: Iterable[str]) -> Iterable[str]:
    """A bar inside a cell would end it; the types come escaped already."""
    return (cell.replace("\\|", "|").replace("|", "\\|") for cell in cells)


if __name__ == "__main__":
    main()
