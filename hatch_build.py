"""Builds the C library of `datasources/native` into the wheel; without a compiler the wheel is pure Python.

With TIDEMARK_WHEEL_PLATFORM the wheel is one for that platform, built on any machine by zig's C compiler
(`make wheels`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FLAGS = ("-O3", "-shared", "-fPIC")
SOURCES = ("native.c", "kafka_fetch.c", "json_rows.c", "avro_rows.c", "protobuf_rows.c")
STARTUP = "tidemark-spark.pth"
COMPILERS = ("cc", "gcc", "clang")
PLATFORM = "TIDEMARK_WHEEL_PLATFORM"
PURE = "any"
TARGETS = {
    "manylinux_2_28_x86_64": "x86_64-linux-gnu.2.28",
    "manylinux_2_28_aarch64": "aarch64-linux-gnu.2.28",
    "macosx_12_0_x86_64": "x86_64-macos.12.0",
    "macosx_12_0_arm64": "aarch64-macos.12.0",
}
"""The platforms of the wheels that are published, and zig's names of them. For all others there is a pure one."""


class NativeBuild(BuildHookInterface[Any]):
    """Compiles one library, for any Python."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Add the file that Python reads as it starts; compile the library, or say why there is none."""
        build_data["force_include"][str(Path(self.root) / STARTUP)] = STARTUP
        build_data.setdefault("force_include_editable", {})[str(Path(self.root) / STARTUP)] = STARTUP
        directory = Path(self.root) / "datasources" / "native"
        library = directory / "_native.so"
        platform = os.environ.get(PLATFORM)
        if platform == PURE:
            library.unlink(missing_ok=True)
            return
        target = None if platform is None else TARGETS[platform]
        if problem := _build([directory / name for name in SOURCES], library, target):
            if target is not None:
                raise RuntimeError(f"the library for {platform} was not built: {problem}")
            library.unlink(missing_ok=True)
            self.app.display_warning(f"Tidemark works without its C library, and slower: {problem}")
            return
        own = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform or own}"
        build_data["artifacts"].append("datasources/native/_native.so")


def _build(sources: list[Path], library: Path, target: str | None = None) -> str | None:
    """Compile files; processes that load the library meanwhile find the old one or the new one. Return what failed.

    Without a target it is for this machine, by its own compiler.
    """
    compiler = _compiler(target)
    if compiler is None:
        return "there is no C compiler"
    fresh = library.with_suffix(f".{os.getpid()}")
    done = subprocess.run(  # noqa: S603 - our own files
        [*compiler, *FLAGS, "-o", str(fresh), *map(str, sources)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return done.stderr.strip()
    fresh.replace(library)
    return None


def _compiler(target: str | None) -> list[str] | None:
    if target is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", target, "-g0", "-fno-sanitize=all"]
    found = os.environ.get("CC") or next(filter(shutil.which, COMPILERS), None)
    return None if found is None else [found]
