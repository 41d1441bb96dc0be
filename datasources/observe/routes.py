"""The responses of each address, without sockets: a request in, a response out.

Rules of this file: the addresses are a fixed list, never paths of files; what comes from a request is never sent back;
every response carries the security headers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib.resources import files
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qs

from datasources.distribution import WITH_OBSERVE, installed_version
from datasources.errors import OptionError
from datasources.observe.access import Access
from datasources.observe.sampler import Sampler
from datasources.task_counters import TASK_COUNTERS

_COUNTERS: Final = {each.key: each.label for each in TASK_COUNTERS}

SERVER_NAME: Final = "tidemark"
"""The Server header of every response."""

SECURITY_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
)
"""Nothing inline, nothing from elsewhere, no frame around it, nothing kept by caches."""

_ORIGIN: Final = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")


def security_headers(frames: Sequence[str] = ()) -> Mapping[str, str]:
    """Return the headers of every response.

    Args:
        frames: origins of pages that may show this one in a frame.

    Raises:
        OptionError: one is not an origin.
    """
    wrong = [origin for origin in frames if not _ORIGIN.fullmatch(origin)]
    if wrong:
        raise OptionError(
            f"spark.tidemark.ui.frames has '{wrong[0]}', which is not an origin: write the beginning of the notebook's "
            f"address, such as http://localhost:8888, and nothing behind it."
        )
    if not frames:
        return SECURITY_HEADERS
    policy = SECURITY_HEADERS["Content-Security-Policy"].replace("ancestors 'none'", f"ancestors {' '.join(frames)}")
    headers = {**SECURITY_HEADERS, "Content-Security-Policy": policy}
    del headers["X-Frame-Options"]
    return headers


_TEXT: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json"
_FOR_ITSELF: Final = (
    "This page is for its own machine: open it as http://localhost with its port. To show it to others, set "
    "spark.tidemark.ui.host."
)
_OTHER_NAME: Final = (
    "This page is not known under that name: open it by the driver's address or host name, or add the name to "
    "spark.tidemark.ui.names."
)
_LOCKED: Final = (
    "This page needs its token: open the address that the driver's log names, with ?token=..., or send the token as "
    "'Authorization: Bearer'. It is the Spark setting spark.tidemark.ui.token, or made by the driver."
)
_MAX_TARGET_CHARACTERS: Final = 2_048
_MAX_FIELDS: Final = 8
_MAX_NUMBER_CHARACTERS: Final = 15
_FILES: Final = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    **{
        f"/{name}.js": (f"{name}.js", "text/javascript; charset=utf-8")
        for name in (
            "page",
            "source",
            "chart",
            "lines",
            "scales",
            "marks",
            "readout",
            "splits",
            "history",
            "format",
            "dom",
        )
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A GET or HEAD request."""

    target: str
    hosts: tuple[str, ...]
    authorization: str | None = None
    cookies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response."""

    status: HTTPStatus = HTTPStatus.OK
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def problem(status: HTTPStatus, sentence: str, **headers: str) -> Response:
    """Return an error response with a one-sentence reason."""
    return Response(status=status, content_type=_TEXT, body=f"{sentence}\n".encode(), headers=headers)


class Routes:
    """Answers requests from the sampler's newest tables."""

    def __init__(self, sampler: Sampler, access: Access) -> None:
        self._sampler = sampler
        self._access = access
        folder = files(__package__).joinpath("static")
        self._files = {
            path: Response(content_type=kind, body=folder.joinpath(name).read_bytes())
            for path, (name, kind) in _FILES.items()
        }
        self._routes: dict[str, Callable[[str], Response]] = {
            "/metrics": self._metrics,
            "/api/sources": self._sources,
            "/api/history": self._history,
        }

    def answer(self, request: Request) -> Response:
        """Return the response to a request; an invalid one gets a 4xx."""
        if len(request.target) > _MAX_TARGET_CHARACTERS:
            return problem(
                HTTPStatus.REQUEST_URI_TOO_LONG, f"An address has at most {_MAX_TARGET_CHARACTERS} characters."
            )
        if len(request.hosts) != 1:
            return problem(HTTPStatus.BAD_REQUEST, "A request has one Host header.")
        path, _, query = request.target.partition("?")
        return self._refused(request, path, query) or self._allowed(path, query)

    def _refused(self, request: Request, path: str, query: str) -> Response | None:
        """Return the response to a request without access, or one that logs in; None if access is granted."""
        if not self._access.knows(request.hosts[0]):
            return problem(HTTPStatus.FORBIDDEN, _FOR_ITSELF if self._access.is_local else _OTHER_NAME)
        if path == "/" and self._access.token_in(query):  # the token does not stay in the address
            extra_headers = {"Location": "/", "Set-Cookie": self._access.set_cookie}
            return problem(HTTPStatus.SEE_OTHER, "The page is at /.", **extra_headers)
        if not self._access.admits(request.authorization, request.cookies):
            return problem(HTTPStatus.UNAUTHORIZED, _LOCKED, **{"WWW-Authenticate": "Bearer"})
        return None

    def _allowed(self, path: str, query: str) -> Response:
        if path in self._files:
            return self._files[path]
        route = self._routes.get(path)
        if route is None:
            return problem(HTTPStatus.NOT_FOUND, "There is nothing at this address; the page is at /.")
        return route(query)

    def _metrics(self, _query: str) -> Response:
        try:
            from datasources.observe.prometheus import CONTENT_TYPE

            body = self._sampler.latest.metrics
        except ImportError:
            return problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"Metrics need prometheus-client where the driver runs: {WITH_OBSERVE}.",
            )
        return Response(content_type=CONTENT_TYPE, body=body)

    def _sources(self, _query: str) -> Response:
        latest = self._sampler.latest
        head = {
            "tidemark": installed_version(),
            "time": self._sampler.now_ms(),
            "sampled": latest.time_ms,
            "counters": _COUNTERS,
        }
        body = f'{json.dumps(head)[:-1]}, "sources": {latest.json}}}'
        return Response(content_type=_JSON, body=body.encode("ascii"))

    def _history(self, query: str) -> Response:
        try:
            fields = parse_qs(query, strict_parsing=True, max_num_fields=_MAX_FIELDS, errors="strict")
        except ValueError:
            return problem(HTTPStatus.BAD_REQUEST, "Write /api/history?source=ID&since=NUMBER.")
        sources, since = fields.pop("source", []), fields.pop("since", ["0"])
        if fields or len(sources) != 1 or len(since) != 1 or not _is_number(since[0]):
            return problem(HTTPStatus.BAD_REQUEST, "Write /api/history?source=ID&since=NUMBER.")
        found = self._sampler.history.read(sources[0], since=int(since[0]))
        if found is None:
            return problem(HTTPStatus.NOT_FOUND, "No source has this id, or it ended more than a minute ago.")
        return Response(content_type=_JSON, body=json.dumps(found, separators=(",", ":")).encode("ascii"))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_NUMBER_CHARACTERS
