"""Fetches jars with the Ivy that PySpark ships, so that pip and Java are all that an embedded server needs."""

from __future__ import annotations

import importlib.util
import os
import re
import selectors
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

from datasources.distribution import WITH_SPARK
from datasources.embedded.fetch.settings import IVY_SETTINGS_VARIABLE
from datasources.errors import EnvironmentProblem

_STALL_S: Final = 180.0
_READ_BYTES: Final = 65536
_FETCHED: Final = re.compile(r"\[SUCCESSFUL ?\]\s+(\S+)")
# Causes first: Ivy lists the modules that it did not find before the reason why.
_INFORMATIVE: Final = (
    re.compile(
        r"access error|UnknownHost|refused|timed out|Forbidden|Unauthorized|SSL|PKIX|No space left|unreachable",
        re.IGNORECASE,
    ),
    re.compile(r"not found|download failed|Exception|\berror\b", re.IGNORECASE),
)
_MAX_INFORMATIVE_LINES: Final = 6
_ARCHIVE: Final = "tar.gz"
_MAVEN: Final = "http://ant.apache.org/ivy/maven"
_NETWORK_HELP: Final = (
    f"behind a proxy set JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=HOST -Dhttps.proxyPort=PORT', for a mirror of Maven "
    f"Central set {IVY_SETTINGS_VARIABLE} to an ivysettings.xml that names it"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One module of a Maven repository.

    Attributes:
        organisation, name, revision: where it is.
        archive: the classifier of a .tar.gz that is fetched in place of the module's jar and what that needs.
    """

    organisation: str
    name: str
    revision: str
    archive: str | None = None

    def __str__(self) -> str:
        return f"{self.organisation}:{self.name}:{self.revision}"


def find_ivy(jars: Path | None = None) -> Path:
    """Return the Ivy jar of the installed PySpark.

    Args:
        jars: The folder to look in; by default that of the installed PySpark, which is not imported for it.

    Raises:
        EnvironmentProblem: PySpark is not installed, or this build of it has no Ivy.
    """
    if jars is None:
        spec = importlib.util.find_spec("pyspark")
        if spec is None or spec.origin is None:
            raise EnvironmentProblem(
                f"servers are fetched with the Ivy inside PySpark, which is not installed: {WITH_SPARK}"
            )
        jars = Path(spec.origin).parent / "jars"
    found = sorted(jars.glob("ivy-*.jar"))
    if not found:
        raise EnvironmentProblem(
            f"servers are fetched with the Ivy that PySpark ships, and there is no ivy-*.jar in {jars}: "
            "install the pyspark distribution from PyPI (pyspark-client and some vendors' builds come without it)"
        )
    return found[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ivy:
    """A way to run Ivy.

    Settings are a file or URL, None = Ivy's own (Maven Central). A fetch that prints nothing for ``stall_s`` seconds is
    given up.
    """

    java: Path
    jar: Path
    settings: str | None = None
    stall_s: float = _STALL_S

    def retrieve(
        self,
        artifacts: Sequence[Artifact],
        *,
        excluded: Sequence[Artifact],
        work: Path,
        fetched: Callable[[str], None],
    ) -> Path:
        """Fetch the artifacts and all that they need.

        Of ``excluded`` modules the revisions are ignored; ``work`` is an empty directory; ``fetched`` is called with
        the name of each artifact that has arrived.

        Returns:
            The directory inside ``work`` that holds the jars.

        Raises:
            EnvironmentProblem: Ivy failed or stalled; the message has its informative lines and what can be done.
        """
        description = work / "ivy.xml"
        description.write_text(_ivy_xml(artifacts, excluded), encoding="utf-8")
        jars = work / "jars"
        output = self._run(self._command(description, jars, work / "cache"), fetched)
        if not any(jars.glob("*")):
            raise EnvironmentProblem(_explain(output))
        return jars

    def _command(self, description: Path, jars: Path, cache: Path) -> list[str]:
        command = [str(self.java), "-jar", str(self.jar)]
        if self.settings is not None:
            command += ["-settings", self.settings]
        command += [
            "-cache",
            str(cache),
            "-ivy",
            str(description),
            "-confs",
            "default",
            "-types",
            "jar",
            "bundle",
            _ARCHIVE,
        ]
        # Without the revision in the name a leftover of another version cannot remain beside the right one.
        return [*command, "-retrieve", f"{jars}/[organisation]-[artifact](-[classifier]).[ext]"]

    def _run(self, command: list[str], fetched: Callable[[str], None]) -> str:
        with subprocess.Popen(  # noqa: S603 - our own command line
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            try:
                output = self._follow(process, fetched)
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            raise EnvironmentProblem(_explain(output))
        return output

    def _follow(self, process: subprocess.Popen[bytes], fetched: Callable[[str], None]) -> str:
        assert process.stdout is not None
        text, seen = "", 0
        # select() takes no descriptor above 1,023, which a busy driver has.
        with selectors.DefaultSelector() as output:
            output.register(process.stdout, selectors.EVENT_READ)
            while True:
                if not output.select(self.stall_s):
                    raise EnvironmentProblem(
                        f"Ivy printed nothing for {self.stall_s:g} s and was ended; {_NETWORK_HELP}; "
                        f"its last words: {text[-300:]!r}"
                    )
                received = os.read(process.stdout.fileno(), _READ_BYTES)
                if not received:
                    return text
                text += received.decode(errors="replace")
                whole = text.rfind("\n") + 1
                for match in _FETCHED.finditer(text, seen, whole):
                    fetched(match.group(1))
                seen = max(seen, whole)


def _ivy_xml(artifacts: Sequence[Artifact], excluded: Sequence[Artifact]) -> str:
    wanted = "".join(map(_dependency, artifacts))
    unwanted = "".join(
        f"<exclude org={quoteattr(each.organisation)} module={quoteattr(each.name)}/>" for each in excluded
    )
    return (
        f'<ivy-module version="2.0" xmlns:m="{_MAVEN}"><info organisation="tidemark" module="embedded"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{wanted}{unwanted}</dependencies></ivy-module>"
    )


def _dependency(artifact: Artifact) -> str:
    module = (
        f"<dependency org={quoteattr(artifact.organisation)} name={quoteattr(artifact.name)} "
        f'rev={quoteattr(artifact.revision)} conf="default->default"'
    )
    if artifact.archive is None:
        return f"{module}/>"
    return (
        f'{module} transitive="false"><artifact name={quoteattr(artifact.name)} type="{_ARCHIVE}" ext="{_ARCHIVE}" '
        f"m:classifier={quoteattr(artifact.archive)}/></dependency>"
    )


def _explain(output: str) -> str:
    lines = [line.strip() for line in output.splitlines()]
    informative = [line for pattern in _INFORMATIVE for line in lines if pattern.search(line)]
    shown = list(dict.fromkeys(informative))[:_MAX_INFORMATIVE_LINES] or [output[-500:].strip()]
    return f"Ivy could not fetch it; {_NETWORK_HELP}; its output:\n" + "\n".join(f"    {line}" for line in shown)
