"""Builds the source archive and the wheel of each platform into `dist/`, and checks what is in them.

    python -m release.build_wheels      needs the extra `release`

A wheel works with every Python, as the C library uses nothing of Python's API. It is built from the source archive, so
the archive is complete. What this machine can run is installed into an environment of its own and tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path
from typing import Final

from packaging.tags import sys_tags

from hatch_build import PLATFORM, PURE, STARTUP, TARGETS

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"
LIBRARY: Final = "datasources/native/_native.so"
MAGIC: Final = {"manylinux": b"\x7fELF", "macosx": b"\xcf\xfa\xed\xfe"}
MACHINES: Final = {
    "manylinux_2_28_x86_64": (18, b"\x3e\x00"),
    "manylinux_2_28_aarch64": (18, b"\xb7\x00"),
    "macosx_12_0_x86_64": (4, b"\x07\x00\x00\x01"),
    "macosx_12_0_arm64": (4, b"\x0c\x00\x00\x01"),
}
"""Where a library has the number of its machine, and that number."""
TRIAL: Final = """
import pyarrow as pa
from datasources.formats.json.json_format import JsonDecoder
from datasources.formats.schema_text.ddl import parse_schema
from datasources.native import native

assert (native() is not None) is {has_library}, "the C library"
found = JsonDecoder(parse_schema("id INT, ts TIMESTAMP"), time_zone="UTC").decode(pa.array([b'{{"id": 7}}']))
assert found.columns.to_pylist() == [{{"id": 7, "ts": None}}], found
print("decoded a record")
"""


def main() -> None:
    """Build everything, check it, and list it."""
    shutil.rmtree(DIST, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(DIST), str(ROOT))
    (archive,) = DIST.glob("*.tar.gz")
    for platform in (*TARGETS, PURE):
        _run(
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-cache-dir"),
            *("--wheel-dir", str(DIST), str(archive)),
            **{PLATFORM: platform},
        )
        (wheel,) = DIST.glob(f"*-py3-none-{platform}.whl")
        _check(wheel, platform)
    _run(sys.executable, "-m", "twine", "check", "--strict", *map(str, sorted(DIST.iterdir())))
    own = {tag.platform for tag in sys_tags()}
    for platform in (*TARGETS, PURE):
        if platform in own or platform == PURE:
            _try(next(DIST.glob(f"*-py3-none-{platform}.whl")), has_library=platform != PURE)
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size // 1024:6,} kB  {path.name}")


def _check(wheel: Path, platform: str) -> None:
    """Require the library of the platform, or none.

    Raises:
        SystemExit: the wheel has something else.
    """
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        library = content.read(LIBRARY) if LIBRARY in names else b""
    if STARTUP not in names or not any(name.endswith("licenses/LICENSE") for name in names):
        raise SystemExit(f"{wheel.name} lacks {STARTUP} or the licence")
    if any(name.startswith(("tests/", "benchmarks/", "docs/", "release/")) for name in names):
        raise SystemExit(f"{wheel.name} has more than the packages")
    if platform == PURE:
        if library:
            raise SystemExit(f"{wheel.name} has a library")
        return
    at, number = MACHINES[platform]
    if not library.startswith(MAGIC[platform.partition("_")[0]]) or library[at : at + len(number)] != number:
        raise SystemExit(f"the library of {wheel.name} is not one for {platform}")


def _try(wheel: Path, *, has_library: bool) -> None:
    """Install a wheel into an empty environment and decode a record."""
    with tempfile.TemporaryDirectory() as directory:
        venv.create(directory, with_pip=True)
        python = str(Path(directory) / "bin" / "python")
        _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
        print(wheel.name, end=": ", flush=True)
        _run(python, "-I", "-c", TRIAL.format(has_library=has_library), cwd=directory)  # this wheel, nothing else


def _run(*command: str, cwd: str | Path = ROOT, **environment: str) -> None:
    subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, check=True)  # noqa: S603 - our own commands


if __name__ == "__main__":
    main()
