"""Loops in C that numpy cannot do in one pass; optional. Without them slower Python code gives the same results."""

from datasources.native.library import NativeLibrary, native

__all__ = ["NativeLibrary", "native"]
