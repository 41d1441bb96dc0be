"""Builds the C library of `datasources/native` into the wheel; without a compiler the wheel is pure Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FLAGS = ("-O3", "-shared", "-fPIC")
COMPILERS = ("cc", "gcc", "clang")


class NativeBuild(BuildHookInterface[Any]):
    """Compiles one file, for any Python."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Compile the library for the wheel, or say why there is none."""
        directory = Path(self.root) / "datasources" / "native"
        library = directory / "_native.so"
        library.unlink(missing_ok=True)
        compiler = os.environ.get("CC") or next(filter(shutil.which, COMPILERS), None)
        if compiler is None:
            self.app.display_warning("no C compiler: Tidemark works without its C library, and slower")
            return
        command = [compiler, *FLAGS, "-o", str(library), str(directory / "native.c")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own file
        if done.returncode:
            self.app.display_warning(f"Tidemark works without its C library, and slower: {done.stderr.strip()}")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["artifacts"].append("datasources/native/_native.so")
