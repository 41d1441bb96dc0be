"""More time attributes: `watermark.1.for`, `watermark.1.as`, `watermark.1.rowtime`, `watermark.2.for`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from datasources.errors import OptionError
from datasources.source.api.abilities import ProcessingTime
from datasources.spark.options.watermark_options import WatermarkOptions

_KEY = re.compile(r"watermark\.([1-9][0-9]*)\.(for|as|rowtime)")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditionalAttributeOptions:
    """The options of one additional attribute, as `watermark.for`, `watermark.as`, `watermark.rowtime`."""

    number: int
    attribute: str
    expression: str
    rowtime: str | None


def is_numbered(key: str) -> bool:
    """Whether a lower-case key belongs to an additional attribute."""
    return _KEY.fullmatch(key) is not None


def additional_attribute_options(options: Mapping[str, str]) -> tuple[AdditionalAttributeOptions, ...]:
    """Return the additional attributes by number; other keys are left alone.

    Raises:
        OptionError: one has no name or no expression.
    """
    found: dict[int, dict[str, str]] = {}
    for key, value in options.items():
        match = _KEY.fullmatch(key)
        if match is not None:
            found.setdefault(int(match[1]), {})[match[2]] = value
    return tuple(_one(number, parts) for number, parts in sorted(found.items()))


def require_compatible(additional: tuple[AdditionalAttributeOptions, ...], options: WatermarkOptions) -> None:
    """Raise if other options are incompatible with additional attributes.

    Raises:
        OptionError: naming the option.
    """
    if not additional:
        return
    key = f"watermark.{additional[0].number}.for"
    if options.expression is None:
        raise OptionError(f"option '{key}' needs the first attribute, 'watermark.for' and 'watermark.as', beside it.")
    if options.alignment is not None:
        raise OptionError(
            f"option '{key}': a source with several time attributes cannot be in an alignment group: leave "
            f"'scan.watermark.alignment.group' out."
        )
    if options.processing_time is not ProcessingTime.NEVER:
        raise OptionError(
            f"option '{key}': a source with several time attributes has no processing time: leave "
            f"'watermark.processing-time' out."
        )
    names = [options.rowtime or "", *(each.attribute for each in additional)]
    for number, name in enumerate(names):
        if name.lower() in (other.lower() for other in names[:number]):
            raise OptionError(f"'{name}' is named as a time attribute twice: one watermark is enough for it.")


def _one(number: int, parts: Mapping[str, str]) -> AdditionalAttributeOptions:
    for needed in ("for", "as"):
        if needed not in parts:
            given = next(iter(parts))
            raise OptionError(f"option 'watermark.{number}.{given}' needs 'watermark.{number}.{needed}' beside it.")
    return AdditionalAttributeOptions(
        number=number, attribute=parts["for"], expression=parts["as"], rowtime=parts.get("rowtime")
    )
