"""The zone of timestamps that name none."""

from __future__ import annotations

from datasources.errors import OptionError
from datasources.grammar.zones import Zone, find_zone


def session_zone(name: str | None) -> Zone | None:
    """Return the zone of text without one; None if none is given.

    Raises:
        OptionError: there is no such time zone.
    """
    if name is None:
        return None
    zone = find_zone(name)
    if zone is None:
        raise OptionError(
            f"there is no time zone '{name}'; give 'scan.session.time-zone' a region such as Europe/Berlin, "
            "or an offset such as +02:00"
        )
    return zone
