"""A SPARK_HOME without PySpark's archive."""

from __future__ import annotations

import os

from datasources.demo.spark.spark_home import installed_pyspark, link_spark_home


def test_it_has_everything_of_pyspark_but_its_archives(tmp_path):
    home = link_spark_home(tmp_path / "of" / "mine")
    assert (home / "bin" / "spark-submit").is_file()
    assert list((home / "jars").glob("spark-core_*.jar"))
    assert not (home / "python").exists()


def test_it_counts_in_the_block_only(tmp_path, monkeypatch):
    monkeypatch.delenv("SPARK_HOME", raising=False)
    with installed_pyspark(tmp_path / "home"):
        assert os.environ["SPARK_HOME"] == str(tmp_path / "home")
    assert "SPARK_HOME" not in os.environ


def test_a_users_spark_home_is_not_changed(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    with installed_pyspark(tmp_path / "home"):
        assert os.environ["SPARK_HOME"] == "/opt/spark"
    assert not (tmp_path / "home").exists()
