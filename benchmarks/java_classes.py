"""Compiles the Java of a side."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from datasources.java import find_java

__all__ = ["compiled"]


def compiled(sources: Path, classes: Path, jars: Sequence[Path]) -> Path:
    """Compile a directory of sources into a new one, and return it; services are copied."""
    compiler = find_java().executable.with_name("javac")
    class_path = ":".join(map(str, jars))
    shutil.copytree(sources, classes, ignore=shutil.ignore_patterns("*.java"))
    files = map(str, sources.rglob("*.java"))
    subprocess.run([compiler, "-nowarn", "-proc:none", "-cp", class_path, "-d", classes, *files], check=True)
    return classes
