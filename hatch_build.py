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
SOURCES = ("native.c", "kafka_fetch.c", "json_rows.c", "avro_rows.c", "protobuf_rows.c")
STARTUP = "tidemark-spark.pth"
COMPILERS = ("cc", "gcc", "clang")


class NativeBuild(BuildHookInterface[Any]):
    """Compiles one library, for any Python."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Add the file that Python reads as it starts; compile the library, or say why there is none."""
        build_data["force_include"][str(Path(self.root) / STARTUP)] = STARTUP
        build_data.setdefault("force_include_editable", {})[str(Path(self.root) / STARTUP)] = STARTUP
        directory = Path(self.root) / "datasources" / "native"
        library = directory / "_native.so"
        if problem := _build([directory / name for name in SOURCES], library):
            library.unlink(missing_ok=True)
            self.app.display_warning(f"Tidemark works without its C library, and slower: {problem}")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["artifacts"].append("datasources/native/_native.so")


def _build(sources: list[Path], library: Path) -> str | None:
    """Compile files; processes that load the library meanwhile find the old one or the new one. Return what failed."""
    compiler = os.environ.get("CC") or next(filter(shutil.which, COMPILERS), None)
    if compiler is None:
        return "there is no C compiler"
    fresh = library.with_suffix(f".{os.getpid()}")
    done = subprocess.run(  # noqa: S603 - our own files
        [compiler, *FLAGS, "-o", str(fresh), *map(str, sources)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return done.stderr.strip()
    fresh.replace(library)
    return None
