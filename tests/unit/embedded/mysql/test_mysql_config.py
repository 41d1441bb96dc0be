"""The command line of an embedded MySQL, its address, and what a machine without its parts is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasources.embedded import MySqlAddress, MySqlVersion
from datasources.embedded.fetch import mysql_debian, mysql_programs
from datasources.embedded.fetch.mysql_debian import debian_mirror
from datasources.embedded.fetch.mysql_programs import check_machine
from datasources.embedded.mysql.mysql_config import server_options
from datasources.errors import EnvironmentProblem, OptionError
from tests.support.mysql.mysql_url import mysql_url, parse_mysql_url


def options(version: MySqlVersion = MySqlVersion.V8_0, **config: str) -> list[str]:
    return server_options(version, config, server_id=7, port=20_001, directory=Path("/d"))


def test_the_server_listens_on_loopback_with_an_id_of_its_own():
    given = options()
    for part in ("--bind-address=127.0.0.1", "--port=20001", "--server-id=7", "--socket=/d/mysql.sock"):
        assert part in given


def test_gtids_are_on_in_each_flavours_own_way():
    assert {"--gtid-mode=ON", "--enforce-gtid-consistency=ON"} <= set(options())
    mariadb = options(MySqlVersion.MARIADB)
    assert "--gtid-strict-mode=ON" in mariadb
    assert not any(part.startswith("--gtid-mode") for part in mariadb)


def test_the_callers_settings_win_in_either_spelling():
    given = options(binlog_row_image="MINIMAL", GTID_MODE="OFF", server_id="9")
    assert "--binlog-row-image=MINIMAL" in given
    assert "--gtid-mode=OFF" in given
    assert "--server-id=9" in given
    assert not {"--binlog-row-image=FULL", "--gtid-mode=ON", "--server-id=7"} & set(given)


@pytest.mark.parametrize("off", ["OFF", "0", "false"])
def test_the_binlog_can_be_off(off: str):
    given = options(log_bin=off)
    assert "--skip-log-bin=ON" in given
    assert not any(part.startswith("--log-bin") for part in given)


@pytest.mark.parametrize("key", ["port", "DataDir", "ssl_cert", "bind-address", "user"])
def test_what_makes_the_server_an_embedded_one_cannot_be_set(key: str):
    with pytest.raises(OptionError, match=rf"'{key}' is made by the embedded MySQL itself"):
        options(**{key: "1"})


@pytest.mark.parametrize(("key", "value"), [("a b", "1"), ("", "1"), ("key", "1\n--user=root"), ("-x", "1")])
def test_what_is_no_setting_is_refused(key: str, value: str):
    with pytest.raises(OptionError, match=r"is no option of a command line"):
        options(**{key: value})


def test_a_setting_in_two_spellings_is_refused():
    with pytest.raises(OptionError, match=r"given twice"):
        server_options(MySqlVersion.V8_0, {"a_b": "1", "a-b": "2"}, server_id=1, port=1, directory=Path("/d"))


def test_an_address_is_its_url_and_hides_its_password():
    address = MySqlAddress(host="db.example", port=3307, user="r@x", password="p:/@%")
    assert parse_mysql_url(mysql_url(address), what="X") == address
    assert parse_mysql_url("mysql://u@[::1]", what="X") == MySqlAddress(host="::1", port=3306, user="u")
    assert mysql_url(MySqlAddress(host="::1", port=3306, user="u")) == "mysql://u:@[::1]:3306"
    assert "p:/" not in repr(address) + str(address)


@pytest.mark.parametrize(
    "text",
    ["host:3306", "mysql://host", "mysql://u:p@host:x", "mysql://u:p@host/db", "http://u:p@h", "mysql://u:secret/1@h"],
)
def test_what_is_no_address_is_refused_without_repeating_it(text: str):
    with pytest.raises(OptionError, match=r"^\[TIDEMARK_OPTION\] X is not a URL of the form mysql://") as caught:
        parse_mysql_url(text, what="X")
    assert text not in str(caught.value)


def test_a_missing_library_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mysql_programs.platform, "system", lambda: "Linux")
    monkeypatch.setattr(mysql_programs.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(mysql_programs, "_LIBRARIES", {"libaio.so.1": ("libno-such-aio.so.1",)})
    with pytest.raises(EnvironmentProblem, match=r"needs libaio.so.1, .*apt-get install libaio1.*TIDEMARK_TEST_MYSQL="):
        check_machine(MySqlVersion.V8_0)


def test_a_library_with_another_name_is_linked_under_the_one_that_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mysql_programs, "_LIBRARIES", {"libold.so.1": ("libold.so.1", "libz.so.1")})
    assert mysql_programs._linked_libraries(tmp_path) == {"LD_LIBRARY_PATH": str(tmp_path)}
    assert (tmp_path / "libold.so.1").resolve().name.startswith("libz.so.1")


@pytest.mark.parametrize("version", [MySqlVersion.V8_0, MySqlVersion.MARIADB])
def test_another_machine_type_is_an_error(monkeypatch: pytest.MonkeyPatch, version: MySqlVersion):
    monkeypatch.setattr(mysql_programs.platform, "machine", lambda: "riscv64")
    with pytest.raises(EnvironmentProblem, match=r"for Linux on x86_64 only, and this is .* on riscv64"):
        check_machine(version)


def test_a_system_without_apt_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mysql_debian.shutil, "which", lambda _name: None)
    with pytest.raises(EnvironmentProblem, match=r"there is no apt-get on this machine"):
        debian_mirror()


def test_another_distribution_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mysql_debian.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(mysql_debian, "_run", lambda _command: "http://archive.example/ubuntu/\n")
    with pytest.raises(EnvironmentProblem, match=r"no source of this machine's apt is a Debian mirror"):
        debian_mirror()
    monkeypatch.setattr(mysql_debian, "_run", lambda _command: "https://h/apt/\nhttp://mirror.example/debian/\n")
    assert debian_mirror() == "http://mirror.example/debian/"


def test_a_failing_program_is_quoted_by_its_informative_lines():
    script = "echo reading lists; echo 'E: Unable to locate package x'; exit 100"
    with pytest.raises(EnvironmentProblem, match=r"^\[TIDEMARK_ENVIRONMENT\] sh failed; its output:\n    E: Unable to"):
        mysql_debian._run(["sh", "-c", script])


def test_the_version_of_a_package_is_read_from_its_archive(tmp_path: Path):
    archives = tmp_path / "apt" / "cache" / "archives"
    archives.mkdir(parents=True)
    (archives / "mysql-server-core_9.7.4-2_amd64.deb").touch()
    (archives / "other_1%3a2.0-1_all.deb").touch()
    assert mysql_debian.package_version("mysql-server-core", tmp_path) == "9.7.4"
    assert mysql_debian.package_version("other", tmp_path) == "2.0"
