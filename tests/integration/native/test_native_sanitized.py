"""The C library under AddressSanitizer and UBSan: the same tests, on a build that stops at the first wrong access."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from hatch_build import SOURCES
from tests.support.forms import full
from tests.support.project import ROOT
from tests.support.servers import TEST_KAFKA_VARIABLE

pytestmark = pytest.mark.slow

NATIVE: Final = ROOT / "datasources" / "native"
SANITIZERS: Final = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
FLAGS: Final = ("-O1", "-g", *SANITIZERS, "-shared", "-fPIC", "-Wall", "-Werror")
NESTED: Final = "tests/property/formats/test_json_native_nested.py"
AVRO: Final = "tests/property/formats/test_avro_native.py"
PROTOBUF: Final = "tests/property/formats/test_protobuf_native.py"
BEYOND_THE_END: Final = """
import numpy as np
from datasources.native import native
ends = np.array([10_000_000])
print(native().first_wrong_crc32(np.zeros(100, np.uint8), np.array([0]), ends))
"""


def found_by_gcc(name: str) -> str:
    """The path of a library that comes with gcc; its bare name if it does not."""
    return subprocess.run(
        ["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory) -> Mapping[str, str]:
    """The environment of a Python that uses such a build."""
    has_all = shutil.which("gcc") is not None and Path(found_by_gcc("libasan.so")).is_absolute()
    if not has_all and not os.environ.get("TIDEMARK_TEST_REQUIRE"):
        pytest.skip("not run: needs gcc with AddressSanitizer")
    library = tmp_path_factory.mktemp("sanitized") / "native.so"
    subprocess.run(["gcc", *FLAGS, "-o", library, *(NATIVE / name for name in SOURCES)], check=True)
    return {
        **os.environ,
        "TIDEMARK_NATIVE": str(library),
        # Before all others, or it refuses to run; libstdc++ so that exceptions of C++ pass through it.
        "LD_PRELOAD": " ".join(map(found_by_gcc, ("libasan.so", "libubsan.so", "libstdc++.so.6"))),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself leaves memory behind when it ends
    }


def run_native_tests(environment: Mapping[str, str], *tests: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-6_000:]}\n{done.stderr[-6_000:]}"
    assert " passed" in done.stdout
    assert " skipped" not in done.stdout


def test_the_build_notices_a_read_beyond_the_end_of_a_buffer(sanitized):
    done = subprocess.run(
        [sys.executable, "-c", BEYOND_THE_END], cwd=ROOT, env=sanitized, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr
    assert "native.c" in done.stderr


def test_loops_over_bytes_stay_in_their_buffers(sanitized):
    run_native_tests(sanitized, "tests/unit/native/test_native.py")


def test_records_from_memory_stay_in_their_buffers(sanitized):
    run_native_tests(
        sanitized,
        "tests/unit/kafka/client/test_native_records.py",
        "tests/unit/kafka/reader/test_fetcher.py",
        "-k",
        "native",
    )


@pytest.mark.parametrize(
    "tests",
    [
        ["tests/unit/formats/json/test_json_format.py", "-k", "native"],
        [NESTED, "-k", "left or nested or fit or limits or slice or halfway or names"],
        [AVRO],
        [PROTOBUF],
        *full(["tests/property/formats/test_json_native.py"], [NESTED]),
    ],
    ids=["fixed", "nested", "avro", "protobuf", "generated", "generated nested"],
)
def test_documents_stay_in_their_buffers(sanitized, tests):
    run_native_tests(sanitized, *tests)


@pytest.mark.full
@pytest.mark.kafka
def test_records_from_a_broker_stay_in_their_buffers(sanitized, kafka):
    environment = {**sanitized, TEST_KAFKA_VARIABLE: kafka.bootstrap_servers}
    run_native_tests(
        environment,
        "tests/integration/kafka/reader/test_kafka_reading.py",
        "-k",
        "native and not restarts and not every_way",
    )
