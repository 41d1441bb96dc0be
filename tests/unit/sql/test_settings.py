"""What SET sets."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.sql.settings import LateRowsMode, RuntimeMode, Settings


def test_settings_are_typed_and_have_defaults():
    settings = Settings()
    assert settings.typed.runtime_mode is RuntimeMode.STREAMING
    assert settings.typed.late_rows is LateRowsMode.SPARK
    assert settings.typed.state_ttl_ms is None
    settings.set("Execution.Runtime-Mode", "batch")
    settings.set("table.exec.source.idle-timeout", "5 s")
    settings.set("table.exec.state.ttl", "1 min")
    assert settings.typed.state_ttl_ms == 60_000
    settings.reset("table.exec.state.ttl")
    assert settings.typed.runtime_mode is RuntimeMode.BATCH
    assert settings.typed.idle_timeout_ms == 5_000
    assert settings.texts() == {"execution.runtime-mode": "batch", "table.exec.source.idle-timeout": "5 s"}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("execution.runtime-mod", "batch", "Did you mean 'execution.runtime-mode'"),
        ("execution.runtime-mode", "bach", "execution.runtime-mode"),
        ("table.exec.late-rows", "yes", "table.exec.late-rows"),
        ("pipeline.auto-watermark-interval", "soon", "is not a duration"),
    ],
)
def test_a_wrong_setting_is_refused_and_changes_nothing(key, value, expected):
    settings = Settings({"execution.trigger": "5 s"})
    with pytest.raises(OptionError, match=expected):
        settings.set(key, value)
    assert settings.texts() == {"execution.trigger": "5 s"}


def test_session_settings_of_a_scan():
    settings = Settings({"table.exec.source.idle-timeout": "5 s", "execution.trigger": "1 s"})
    assert settings.scan_options() == {"table.exec.source.idle-timeout": "5 s"}


def test_reset_forgets_one_or_all():
    settings = Settings({"execution.trigger": "5 s", "pipeline.name": "q"})
    settings.reset("Execution.Trigger")
    assert settings.texts() == {"pipeline.name": "q"}
    settings.reset()
    assert settings.texts() == {}
    with pytest.raises(OptionError, match="unknown option"):
        settings.reset("pipeline.nam")
