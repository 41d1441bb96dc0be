"""A Prometheus of this machine that scrapes one address."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from datasources.embedded.process.ports import LOOPBACK, free_ports
from datasources.errors import EnvironmentProblem

__all__ = ["PrometheusServer", "prometheus_program", "prometheus_server"]

FETCHED = Path.home() / ".cache" / "tidemark" / "prometheus" / "usr" / "bin"
"""Where `.ci/run` unpacks Debian's package, so that no service is started."""


def prometheus_program(name: str) -> str:
    """Return the path of `prometheus` or `promtool`.

    Raises:
        EnvironmentProblem: there is none.
    """
    found = shutil.which(name) or shutil.which(str(FETCHED / name))
    if found is None:
        raise EnvironmentProblem(
            f"there is no {name}: install Debian's package 'prometheus', or unpack it to {FETCHED}"
        )
    return found


class PrometheusServer:
    """A running server."""

    def __init__(self, url: str) -> None:
        self._url = url

    def ask(self, expression: str) -> list[dict[str, Any]]:
        """Return the newest value of each series."""
        text = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"{self._url}/api/v1/query?{text}", timeout=10) as answer:  # noqa: S310 - loopback
            found: list[dict[str, Any]] = json.loads(answer.read())["data"]["result"]
        return found


@contextmanager
def prometheus_server(directory: Path, target: str, rules: Path) -> Iterator[PrometheusServer]:
    """Run one that scrapes `target` (host:port) each second and evaluates `rules`."""
    (port,) = free_ports(1)
    (directory / "prometheus.yml").write_text(
        f"global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n"
        f"rule_files: [{rules}]\n"
        f"scrape_configs:\n  - job_name: tidemark\n    static_configs: [{{targets: ['{target}']}}]\n",
        encoding="utf-8",
    )
    command = [
        prometheus_program("prometheus"),
        f"--config.file={directory / 'prometheus.yml'}",
        f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address={LOOPBACK}:{port}",
    ]
    with (directory / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield PrometheusServer(f"http://{LOOPBACK}:{port}")
        finally:
            process.terminate()
            process.wait(30)
