"""The jar cache: complete or not there, fetched by one process, with errors that say what to do."""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from datasources.embedded.fetch import ivy, jars, mysql_programs
from datasources.embedded.fetch.ivy import Artifact, Ivy, find_ivy
from datasources.embedded.fetch.jars import JarBundle, JarCache, is_complete
from datasources.embedded.kafka import kafka_server as kafka
from datasources.errors import EnvironmentProblem

BUNDLE = JarBundle(
    title="Server 1.0",
    directory_name="server-1.0",
    size_mb=1,
    artifacts=(Artifact(organisation="org", name="server", revision="1.0"),),
    excluded=(Artifact(organisation="org", name="unused", revision=""),),
    instead="Or set SERVER=host.",
)

# Stands in for Java: behaves like Ivy where the tests look. `$@` ends with "-retrieve PATTERN".
FAKE_JAVA = """#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "17.0.1"' >&2; exit 0; fi
for last; do :; done
folder=$(dirname "$last")
echo run >> "{log}"
{body}
"""
SUCCEED = """
mkdir -p "$folder"
printf 12345 > "$folder/org-server.jar"
printf 123 > "$folder/org-needed.jar"
echo '	[SUCCESSFUL ] org#server;1.0!server.jar (10ms)'
"""


class Machine:
    """A machine whose Java is a script and whose Ivy is never read."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.cache, self.lines = folder, folder / "cache", []
        self.log = folder / "runs"
        self.directory = self.cache / "server-1.0"
        monkeypatch.setenv("JAVA_HOME", str(folder / "java"))
        monkeypatch.delenv("TIDEMARK_IVY_SETTINGS", raising=False)
        monkeypatch.setattr(jars, "find_ivy", lambda: folder / "ivy.jar")
        self.set_java(SUCCEED)

    def set_java(self, body: str) -> None:
        program = self.folder / "java" / "bin" / "java"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(FAKE_JAVA.format(log=self.log, body=body))
        program.chmod(0o755)

    def provide(self, bundle: JarBundle = BUNDLE) -> Path:
        return JarCache(self.cache, report=self.lines.append).provide(bundle)

    @property
    def runs(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_a_bundle_is_fetched_once_and_announced(machine: Machine):
    assert machine.provide() == machine.directory
    assert machine.provide() == machine.directory
    assert machine.runs == 1
    assert machine.lines == [f"fetching Server 1.0 (1 MB), once, into {machine.cache}", "fetched Server 1.0"]
    assert sorted(path.name for path in machine.directory.glob("*.jar")) == ["org-needed.jar", "org-server.jar"]


def test_the_manifest_names_every_jar_with_its_size(machine: Machine):
    machine.provide()
    manifest = json.loads((machine.directory / "manifest.json").read_text())
    assert manifest == {"files": {"org-needed.jar": 3, "org-server.jar": 5}}


@pytest.mark.parametrize("damage", ["missing", "short", "no manifest", "broken manifest", "strange manifest"])
def test_an_incomplete_bundle_is_fetched_anew(machine: Machine, damage: str):
    machine.provide()
    jar, manifest = machine.directory / "org-server.jar", machine.directory / "manifest.json"
    {
        "missing": jar.unlink,
        "short": lambda: jar.write_text("1"),
        "no manifest": manifest.unlink,
        "broken manifest": lambda: manifest.write_text('{"files": '),
        "strange manifest": lambda: manifest.write_text("{}"),
    }[damage]()
    assert not is_complete(machine.directory)
    assert is_complete(machine.provide())
    assert machine.runs == 2


def test_a_failed_fetch_leaves_nothing_behind_and_the_next_one_works(machine: Machine):
    machine.set_java("mkdir -p $folder; printf 1 > $folder/org-server.jar; exit 1")
    with pytest.raises(EnvironmentProblem):
        machine.provide()
    assert [path.name for path in machine.cache.iterdir()] == [".lock"]
    machine.set_java(SUCCEED)
    assert is_complete(machine.provide())


def test_leftovers_of_a_killed_fetch_are_removed_by_the_next(machine: Machine):
    leftover = machine.cache / ".fetching-abc" / "jars"
    leftover.mkdir(parents=True)
    machine.provide()
    assert not leftover.parent.exists()


def test_a_failure_quotes_ivy_and_has_a_hint(machine: Machine):
    machine.set_java("echo ':: loading settings'; echo '  module not found: org#server;1.0'; exit 1")
    with pytest.raises(EnvironmentProblem) as caught:
        machine.provide()
    message = caught.value.message
    assert message.startswith("Server 1.0 could not be fetched: Ivy could not fetch it; ")
    for part in ("module not found: org#server;1.0", "TIDEMARK_IVY_SETTINGS", "https.proxyHost", "Or set SERVER=host."):
        assert part in message
    assert "loading settings" not in message


def test_the_cause_of_a_failure_comes_before_its_many_consequences(machine: Machine):
    consequences = "; ".join(f"echo 'module not found: org#m{number};1'" for number in range(20))
    machine.set_java(f"{consequences}; echo 'Server access error at url x (Connection refused)'; exit 1")
    with pytest.raises(
        EnvironmentProblem, match=r"its output:\n    Server access error at url x .*\n    module not found"
    ):
        machine.provide()


def test_success_without_jars_is_a_failure(machine: Machine):
    machine.set_java("echo nothing")
    with pytest.raises(EnvironmentProblem, match=r"Ivy could not fetch it[^$]*nothing"):
        machine.provide()


def test_a_machine_without_java_is_an_error_with_a_hint(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JAVA_HOME", str(machine.folder / "none"))
    with pytest.raises(EnvironmentProblem, match=r"Server 1.0 could not be fetched: JAVA_HOME is [^$]*Or set SERVER"):
        machine.provide()


def test_a_cache_that_cannot_be_written_names_the_variable(machine: Machine):
    machine.cache.write_text("a file stands in the way")
    with pytest.raises(EnvironmentProblem, match=r"could not be stored in .*set TIDEMARK_CACHE"):
        machine.provide()


def test_ivy_gets_the_settings_that_the_user_named(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TIDEMARK_IVY_SETTINGS", "https://host/ivysettings.xml")
    machine.set_java(f'echo "$@" > "{machine.folder}/command"' + SUCCEED)
    machine.provide()
    assert "-settings https://host/ivysettings.xml " in (machine.folder / "command").read_text()


def test_ivy_is_asked_for_the_artifacts_without_the_excluded_ones(machine: Machine):
    machine.set_java(f'cp "$(dirname "$folder")/ivy.xml" "{machine.folder}/asked.xml"' + SUCCEED)
    machine.provide()
    asked = (machine.folder / "asked.xml").read_text()
    assert '<dependency org="org" name="server" rev="1.0" conf="default->default"/>' in asked
    assert '<exclude org="org" module="unused"/>' in asked


def test_concurrent_fetches_download_once_and_report_the_wait(machine: Machine):
    machine.cache.mkdir()
    with (machine.cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting, results = threading.Event(), []

        def report(line: str) -> None:
            machine.lines.append(line)
            if line.startswith("waiting"):
                waiting.set()

        threads = [
            threading.Thread(target=lambda: results.append(JarCache(machine.cache, report=report).provide(BUNDLE)))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        assert waiting.wait(10)
        assert machine.runs == 0
    for thread in threads:
        thread.join(30)
    assert results == [machine.directory, machine.directory]
    assert machine.runs == 1


def test_a_fetch_that_goes_silent_is_ended(machine: Machine, tmp_path: Path):
    machine.set_java("echo downloading; exec sleep 60")
    stalled = Ivy(java=tmp_path / "java" / "bin" / "java", jar=tmp_path / "ivy.jar", stall_s=0.2)
    with pytest.raises(EnvironmentProblem, match=r"Ivy printed nothing for 0.2 s and was ended; .*downloading"):
        stalled.retrieve(BUNDLE.artifacts, excluded=(), work=tmp_path, fetched=lambda _name: None)


def test_each_artifact_is_reported_as_it_arrives(machine: Machine, tmp_path: Path):
    arrived: list[str] = []
    one = Ivy(java=tmp_path / "java" / "bin" / "java", jar=tmp_path / "ivy.jar")
    one.retrieve(BUNDLE.artifacts, excluded=(), work=tmp_path, fetched=arrived.append)
    assert arrived == ["org#server;1.0!server.jar"]


def test_the_newest_ivy_of_pyspark_is_taken(tmp_path: Path):
    for name in ("ivy-2.5.2.jar", "ivy-2.5.3.jar", "spark-core.jar"):
        (tmp_path / name).touch()
    assert find_ivy(tmp_path).name == "ivy-2.5.3.jar"


def test_a_pyspark_without_ivy_is_a_clear_error(tmp_path: Path):
    with pytest.raises(EnvironmentProblem, match=r"there is no ivy-\*.jar in .*install the pyspark distribution"):
        find_ivy(tmp_path)


def test_no_pyspark_is_a_clear_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ivy.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(EnvironmentProblem, match=r"not installed: pip install 'tidemark-spark\[spark\]'"):
        find_ivy()


@pytest.mark.parametrize("name", ["org-server.jar", "org.apache.kafka-kafka_2.13.jar"])
def test_jars_that_are_not_those_that_are_known_are_refused(machine: Machine, name: str):
    machine.set_java(SUCCEED.replace("org-server.jar", name).replace("org-needed.jar", name))
    with pytest.raises(EnvironmentProblem, match=rf"{name} was fetched with the digest sha256:[0-9a-f]{{64}}, and "):
        machine.provide(replace(BUNDLE, is_pinned=True))
    assert not machine.directory.exists()


def test_jars_that_are_known_are_taken(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    known = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in (("org-server.jar", b"12345"), ("org-needed.jar", b"123"))
    )
    (machine.folder / "known").write_text(f"# a comment\n{known}")
    monkeypatch.setattr(jars, "_DIGESTS", str(machine.folder / "known"))
    assert machine.provide(replace(BUNDLE, is_pinned=True)) == machine.directory


def test_the_servers_of_maven_central_are_pinned():
    bundles = (kafka._BUNDLE, *mysql_programs._JARS.values())
    assert [bundle.title for bundle in bundles if not bundle.is_pinned] == []
    lines = (Path(jars.__file__).parent / "digests.sha256").read_text().splitlines()[1:]
    assert [line for line in lines if not re.fullmatch(r"[0-9a-f]{64}  [A-Za-z0-9._-]+\.jar", line)] == []
    names = {line.split()[1] for line in lines}
    assert len(names) == len(lines)
    mains = {f"{each.organisation}-{each.name}.jar" for bundle in bundles for each in bundle.artifacts}
    assert mains <= names
