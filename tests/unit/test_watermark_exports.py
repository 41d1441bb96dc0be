from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import watermark
from watermark import WatermarkError

_MODULES = [info.name for info in pkgutil.iter_modules(watermark.__path__) if info.name != "__main__"]


@pytest.mark.parametrize("name", _MODULES)
def test_each_module_exports_names_that_exist_and_the_package_exports_them_all(name):
    module = importlib.import_module(f"watermark.{name}")
    for exported in module.__all__:
        assert getattr(watermark, exported) is getattr(module, exported)
        assert exported in watermark.__all__


def test_all_names_are_sorted_unique_and_documented():
    assert len(set(watermark.__all__)) == len(watermark.__all__)
    for name in watermark.__all__:
        value = getattr(watermark, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name


def test_every_error_is_a_watermark_error():
    errors = [getattr(watermark, name) for name in importlib.import_module("watermark.errors").__all__]
    assert all(issubclass(error, WatermarkError) for error in errors)
