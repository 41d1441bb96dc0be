"""The newest MySQL as Debian's unstable distribution has it, unpacked beside the system.

Theory of operation. apt is asked with a configuration directory, lists and an empty list of installed packages of our
own, so it changes nothing of the system, needs no root, and computes everything that the server needs down to the C
library. `dpkg -x` unpacks that into one directory, and the server is run by the dynamic linker of that directory: it
does not depend on the system's libraries, however old they are. The mirror is the one that the system's own apt uses.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from datasources.errors import EnvironmentProblem

_KEYRING: Final = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_MIRROR: Final = re.compile(r"\S+/debian/?", re.MULTILINE)
_SUITE: Final = "sid"
_DEADLINE_S: Final = 600.0
_QUOTED_LINES: Final = 6
_NOT_NEEDED: Final = re.compile(r"(perl|libperl|libc-gconv-modules)")
_UNREAD: Final = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian", "usr/share/gcc")
_LINKERS: Final[Mapping[str, str]] = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}


def debian_mirror() -> str:
    """Return the address of the Debian mirror that this system's apt is set up with.

    Raises:
        EnvironmentProblem: This system has no apt, or takes no packages from Debian.
    """
    for program in ("apt-get", "dpkg"):
        if shutil.which(program) is None:
            raise EnvironmentProblem(f"it comes as a Debian package, and there is no {program} on this machine")
    mirrors = _MIRROR.findall(_run(["apt-get", "indextargets", "--format", "$(REPO_URI)"]))
    if not mirrors:
        raise EnvironmentProblem("it comes as a Debian package, and no source of this machine's apt is a Debian mirror")
    return str(mirrors[0])


def fetch_packages(package: str, work: Path) -> Path:
    """Fetch a package of Debian's unstable distribution with all that it needs, and unpack it.

    Returns:
        The directory inside ``work`` that is the root of what was unpacked.

    Raises:
        EnvironmentProblem: apt does not get it; the message has its last words.
    """
    apt = _configure(work / "apt", debian_mirror())
    _run([*apt, "update"])
    _run([*apt, "install", "--download-only", "--yes", package])
    root = work / "root"
    for archive in sorted((work / "apt" / "cache" / "archives").glob("*.deb")):
        if not _NOT_NEEDED.match(archive.name):
            _run(["dpkg", "-x", str(archive), str(root)])
    for unread in _UNREAD:
        shutil.rmtree(root / unread, ignore_errors=True)
    return root


def package_version(package: str, work: Path) -> str:
    """Return the upstream version of a package that `fetch_packages` has fetched into ``work``, such as ``9.7.4``."""
    [archive] = (work / "apt" / "cache" / "archives").glob(f"{package}_*.deb")
    return re.split(r"[-+~]", archive.name.removeprefix(f"{package}_").split("_")[0].split("%3a")[-1])[0]


def linker_of(root: Path) -> list[str]:
    """Return the start of a command line that runs a program of an unpacked root with the libraries in it.

    Raises:
        EnvironmentProblem: This kind of processor is not known.
    """
    machine = platform.machine()
    if machine not in _LINKERS:
        raise EnvironmentProblem(f"it is run on {', '.join(_LINKERS)} only, and this is {machine}")
    [linker] = root.glob(f"usr/lib/*/{_LINKERS[machine]}")
    return [str(linker), "--library-path", str(linker.parent)]


def _configure(directory: Path, mirror: str) -> list[str]:
    """Make apt's directories, and return the command line that uses nothing else."""
    for name in ("sources", "state/lists/partial", "cache/archives/partial"):
        (directory / name).mkdir(parents=True)
    status = directory / "status"
    status.touch()
    signed = f"Signed-By: {_KEYRING}\n" if _KEYRING.is_file() else ""
    source = f"Types: deb\nURIs: {mirror}\nSuites: {_SUITE}\nComponents: main\n{signed}"
    (directory / "sources" / "unstable.sources").write_text(source, encoding="utf-8")
    settings = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": str(directory / "sources"),
        "Dir::State": str(directory / "state"),
        "Dir::State::status": str(status),
        "Dir::Cache": str(directory / "cache"),
        "APT::Install-Recommends": "false",
        # The download runs with the rights of this process, whatever user that is.
        "APT::Sandbox::User": "root" if os.geteuid() == 0 else "",
        "Debug::NoLocking": "true",
    }
    return ["apt-get", "--quiet", *(f"--option={key}={value}" for key, value in settings.items())]


def _run(command: Sequence[str]) -> str:
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(  # noqa: S603 - our own command line
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            timeout=_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentProblem(f"{command[0]} was not done in {_DEADLINE_S:g} s and was ended") from error
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        informative = [line for line in lines if line.startswith(("E:", "Err:", "W:", "dpkg"))] or lines
        shown = "\n".join(f"    {line.strip()}" for line in informative[-_QUOTED_LINES:])
        raise EnvironmentProblem(f"{Path(command[0]).name} failed; its output:\n{shown}")
    return done.stdout
