"""Runs the claims on a Spark of its own; exits with 1 if one does not hold.

Prints the table of docs/spark-watermarks.md line by line, and one line of JSON at the end. What Spark itself prints
goes to a file that is shown only if a proof breaks.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, TextIO

from pyspark.sql import SparkSession

from datasources.demo.spark.local_spark import local_spark
from datasources.demo.spark.silenced_output import silenced_output
from examples.spark_watermarks.claim import Claim, Observed
from examples.spark_watermarks.claims import CLAIMS
from examples.spark_watermarks.settings import SETTINGS
from examples.spark_watermarks.sides import Stage
from watermark import SystemClock

_HEAD: Final = "| claim | Spark | Tidemark |\n|---|---|---|"
_NS_PER_S: Final = 1_000_000_000
_SHOWN_BYTES: Final = 4_000


def main(names: Sequence[str]) -> int:
    """Run the named claims, or all; return the exit status."""
    chosen = [claim for claim in CLAIMS if not names or claim.name in names]
    unknown = set(names) - {claim.name for claim in chosen}
    if unknown:
        print(f"no such claim: {', '.join(sorted(unknown))}; there are {', '.join(c.name for c in CLAIMS)}")
        return 2
    with tempfile.TemporaryDirectory(prefix="tidemark-claims-", ignore_cleanup_errors=True) as name:
        log = Path(name) / "output.log"
        try:
            return _run(chosen, Path(name), log)
        except Exception:
            print(log.read_text(errors="replace")[-_SHOWN_BYTES:], file=sys.stderr)
            raise


def mismatch(found: Mapping[str, Observed], claims: Sequence[Claim]) -> tuple[dict[str, object], int]:
    """Return the figures of a run and its exit status.

    Args:
        found: What each claim's proof gave, by name.
        claims: The page's claims.
    """
    wrong = [claim.name for claim in claims if found[claim.name] != claim.expected]
    observed = {name: asdict(what) for name, what in found.items()}
    return {"claims": len(found), "wrong": wrong, "observed": observed}, 1 if wrong else 0


def _run(chosen: Sequence[Claim], directory: Path, log: Path) -> int:
    clock = SystemClock()
    began_ns = clock.monotonic_ns()
    with silenced_output(log) as terminal, local_spark(directory) as spark:
        for key, value in SETTINGS.items():
            spark.conf.set(key, value)
        print(_HEAD, file=terminal, flush=True)
        found = {claim.name: _prove(claim, spark, directory, terminal) for claim in chosen}
        version = spark.version
    figures, status = mismatch(found, chosen)
    seconds = round((clock.monotonic_ns() - began_ns) / _NS_PER_S, 1)
    print(json.dumps({"spark": version, "seconds": seconds, **figures}))
    return status


def _prove(claim: Claim, spark: SparkSession, directory: Path, terminal: TextIO) -> Observed:
    place = directory / claim.name
    place.mkdir()
    observed = claim.prove(Stage(spark, place))
    print(claim.line(observed), file=terminal, flush=True)
    if observed != claim.expected:
        print(f"WRONG: the page claims {claim.line(claim.expected)}", file=terminal, flush=True)
    return observed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
