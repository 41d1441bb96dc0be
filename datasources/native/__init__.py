"""Loops in C that numpy cannot do in one pass; optional. Without them the same is done in Python, and slower."""

from datasources.native.library import NativeLibrary, native

__all__ = ["NativeLibrary", "native"]
