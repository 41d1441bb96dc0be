"""A token endpoint of OAuth on loopback: client credentials in, a token for the unsecured validator of a broker out."""

from __future__ import annotations

import base64
import json
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from datasources.embedded.process.ports import LOOPBACK
from watermark import SystemClock

__all__ = ["TokenEndpoint", "token_endpoint", "unsecured_token"]


class TokenEndpoint:
    """What the endpoint accepts, and what it was asked.

    Args:
        client_id, client_secret: of the one client that it knows.
        lifetime_s: of a token.
    """

    def __init__(self, client_id: str, client_secret: str, *, lifetime_s: int) -> None:
        self.client_id, self.client_secret, self.lifetime_s = client_id, client_secret, lifetime_s
        self.requests: list[dict[str, str]] = []
        self.refused = 0
        self.url = ""

    def answer(self, authorization: str, form: str) -> tuple[int, dict[str, Any]]:
        """Return the status and the JSON for a request."""
        wanted = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        if authorization != f"Basic {wanted}":
            self.refused += 1
            return 401, {"error": "invalid_client"}
        self.requests.append(dict(urllib.parse.parse_qsl(form)))
        return 200, {"access_token": self._token(), "token_type": "Bearer", "expires_in": self.lifetime_s}

    def _token(self) -> str:
        return unsecured_token(self.client_id, SystemClock().now_us() // 1_000_000, self.lifetime_s)


def unsecured_token(subject: str, now_s: int, lifetime_s: int) -> str:
    """Return a token without signature, which the unsecured validator of a broker accepts."""
    claims = {"sub": subject, "iat": now_s, "exp": now_s + lifetime_s, "scope": ["kafka"]}
    return ".".join((*(_encoded(each) for each in ({"alg": "none"}, claims)), ""))


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@contextmanager
def token_endpoint(client_id: str, client_secret: str, *, lifetime_s: int) -> Iterator[TokenEndpoint]:
    """Serve one until the block ends."""
    endpoint = TokenEndpoint(client_id, client_secret, lifetime_s=lifetime_s)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, found = endpoint.answer(self.headers.get("Authorization", ""), form)
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        endpoint.url = f"http://{LOOPBACK}:{server.server_address[1]}/token"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield endpoint
        finally:
            server.shutdown()
            thread.join()
