"""Finds Java.

``JAVA_HOME`` decides where it is set, as it does for Spark; otherwise the first ``java`` on the path. A ``JAVA_HOME``
that is wrong is an error and is never ignored: Spark would fail on it later with a vaguer message.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from datasources.errors import EnvironmentProblem

MINIMUM_JAVA: Final = 17
"""The oldest Java that Spark 4 and Kafka 4 run on."""

_HOW_TO_GET_IT: Final = (
    f"install a JDK {MINIMUM_JAVA} or newer (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless; "
    "macOS: brew install openjdk@17) or set JAVA_HOME to one"
)
_VERSION: Final = re.compile(r'version "(?:1\.)?(\d+)')
_VERSION_DEADLINE_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java that runs."""

    executable: Path
    major: int


def find_java(environment: Mapping[str, str] | None = None, *, minimum: int = MINIMUM_JAVA) -> Java:
    """Return the Java that Spark would use.

    Raises:
        EnvironmentProblem: There is none, it does not run, or it is too old; the message lists where it was looked for
            and how to get one.
    """
    variables = os.environ if environment is None else environment
    executable = _locate(variables)
    major = _major_version(executable)
    if major < minimum:
        raise EnvironmentProblem(f"{executable} is Java {major}, and at least {minimum} is needed: {_HOW_TO_GET_IT}")
    return Java(executable=executable, major=major)


def _locate(variables: Mapping[str, str]) -> Path:
    home = variables.get("JAVA_HOME", "")
    if home:
        executable = Path(home) / "bin" / "java"
        if not os.access(executable, os.X_OK):
            raise EnvironmentProblem(
                f"JAVA_HOME is {home}, but {executable} is no program: correct or unset JAVA_HOME, or {_HOW_TO_GET_IT}"
            )
        return executable
    found = shutil.which("java", path=variables.get("PATH", os.defpath))
    if found is None:
        raise EnvironmentProblem(f"no Java: JAVA_HOME is not set and no java is on the PATH: {_HOW_TO_GET_IT}")
    return Path(found)


def _major_version(executable: Path) -> int:
    try:
        answer = subprocess.run(  # noqa: S603 - the program is the Java that the user's environment names
            [executable, "-version"], capture_output=True, text=True, timeout=_VERSION_DEADLINE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentProblem(f"{executable} -version does not run ({error}): {_HOW_TO_GET_IT}") from error
    text = (answer.stderr + answer.stdout).strip()
    match = _VERSION.search(text)
    if answer.returncode != 0 or match is None:
        raise EnvironmentProblem(
            f"{executable} -version ended with {answer.returncode} and said {text[:200]!r}: {_HOW_TO_GET_IT}"
        )
    return int(match.group(1))
