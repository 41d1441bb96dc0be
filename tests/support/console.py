"""The console script, run inside the test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from datasources import cli

__all__ = ["console_script"]


def console_script(monkeypatch, capfd) -> Callable[..., tuple[int | str, str, str]]:
    """Return a function that runs `tidemark`: arguments in, (exit status, output, errors) out.

    No variable of the environment in which the tests run has a say.
    """
    for variable in ("TIDEMARK_DEMO_KAFKA", "TIDEMARK_KAFKA", "TIDEMARK_UI"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments: str) -> tuple[int | str, str, str]:
        monkeypatch.setattr("sys.argv", ["tidemark", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capfd.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return run
