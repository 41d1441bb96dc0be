from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import watermark.reference
from watermark import WatermarkError

_PACKAGES = (watermark, watermark.reference)
_MODULES = [
    (package, info.name)
    for package in _PACKAGES
    for info in pkgutil.iter_modules(package.__path__)
    if info.name != "__main__" and not info.ispkg
]


def _defined(module):
    """The public classes and functions of a module."""
    members = inspect.getmembers(module, lambda each: inspect.isclass(each) or inspect.isfunction(each))
    names = [name for name, member in members if member.__module__ == module.__name__ and not name.startswith("_")]
    assert names
    return names


@pytest.mark.parametrize(("package", "name"), _MODULES, ids=[name for _, name in _MODULES])
def test_each_module_exports_names_that_exist_and_the_package_exports_them_all(package, name):
    module = importlib.import_module(f"{package.__name__}.{name}")
    for exported in _defined(module):
        assert getattr(package, exported) is getattr(module, exported)
        assert exported in package.__all__


@pytest.mark.parametrize("package", _PACKAGES, ids=["product", "reference"])
def test_all_names_are_sorted_unique_and_documented(package):
    assert len(set(package.__all__)) == len(package.__all__)
    for name in package.__all__:
        value = getattr(package, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name


def test_every_error_is_a_watermark_error():
    errors = [getattr(watermark, name) for name in _defined(importlib.import_module("watermark.errors"))]
    assert all(issubclass(error, WatermarkError) for error in errors)
