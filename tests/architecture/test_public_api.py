"""What the packages show, and what no module may do. Modules are read, not run, wherever that is enough."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import types

import pytest

import datasources
import watermark
from datasources.options import OptionGroup, render_options
from datasources.options_page import CONNECTORS, SHARED_GROUPS
from tests.support.project import ROOT

MODULES = sorted(path for package in ("watermark", "datasources") for path in (ROOT / package).rglob("*.py"))
CLOCK = ROOT / "watermark" / "clock.py"
DEMO = ROOT / "datasources" / "demo"

CLOCK_CALLS = frozenset(
    {
        "time.time",
        "time.time_ns",
        "time.monotonic",
        "time.monotonic_ns",
        "time.perf_counter",
        "time.perf_counter_ns",
        "time.sleep",
        "datetime.now",
        "datetime.utcnow",
        "datetime.today",
        "date.today",
        "datetime.datetime.now",
        "datetime.datetime.utcnow",
        "datetime.datetime.today",
        "datetime.date.today",
    }
)


def name_of(path):
    return str(path.relative_to(ROOT))


@functools.cache
def tree(path):
    return ast.parse(path.read_text(), name_of(path))


def dotted(node):
    """`a.b.c` of an expression, or None."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = dotted(node.value)
        return None if head is None else f"{head}.{node.attr}"
    return None


@functools.cache
def nodes(path):
    return tuple(ast.walk(tree(path)))


@functools.cache
def attributes(path):
    """Every `a.b.c` that a module uses."""
    return frozenset(dotted(node) for node in nodes(path) if isinstance(node, ast.Attribute))


@functools.cache
def imports(path):
    """Every dotted name that a module imports."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def all_of(module_tree):
    """The names in a module's `__all__`, or None."""
    for node in module_tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return [element.value for element in node.value.elts]
    return None


def is_property_setter(node):
    return any(isinstance(d, ast.Attribute) and d.attr in {"setter", "deleter"} for d in node.decorator_list)


def undocumented(node, inside):
    """Public classes, functions and methods below `node` without a docstring."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if child.name.startswith("_") or is_property_setter(child):
                continue
            if ast.get_docstring(child) is None:
                yield f"{inside}{child.name}"
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, f"{inside}{child.name}.")


# -- what is visible --


def test_watermark_shows_exactly_what_it_promises():
    own = {
        name
        for name, value in vars(watermark).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert own - {"annotations"} == set(watermark.__all__)


def test_datasources_shows_exactly_what_it_promises():
    assert set(datasources.__all__) == {
        "KafkaDataSource",
        "MySqlDataSource",
        "OverFrame",
        "ScriptedDataSource",
        "TimeWindow",
        "keep_time_attribute",
        "over",
        "read_stream",
        "register",
        "show_stream",
        "temporal_join",
        "windowed",
        "with_source_watermark",
    }
    assert datasources.__all__ == sorted(datasources.__all__, key=lambda name: (name.islower(), name))
    for name in datasources.__all__:
        value = getattr(datasources, name)
        assert value.__name__ == name
        assert inspect.getdoc(value), name


def test_what_datasources_does_not_promise_is_not_there():
    with pytest.raises(AttributeError, match="module 'datasources' has no attribute 'KafkaSource'"):
        _ = datasources.KafkaSource


@pytest.mark.parametrize("package", [watermark, datasources])
def test_a_package_promises_each_name_once(package):
    assert len(set(package.__all__)) == len(package.__all__)


def public_names(module_tree):
    """The names without an underscore that a module binds itself."""
    targets = [
        target
        for node in module_tree.body
        for target in (node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)])
    ]
    assigned = {node.id for target in targets if target is not None for node in ast.walk(target) if hasattr(node, "id")}
    defined = {node.name for node in module_tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return {name for name in assigned | defined if not name.startswith("_")}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_lists_its_public_names_only_where_they_are_others_than_those_it_binds(path):
    exported = all_of(tree(path))
    if exported is None:
        return
    assert len(set(exported)) == len(exported)
    assert path.name == "__init__.py" or set(exported) != public_names(tree(path)), "an underscore says it already"
    if path.parent == ROOT / "datasources" and path.name == "__init__.py":
        return  # its names are loaded when first used; tested above
    bound = {
        name
        for node in nodes(path)
        for name in (
            [getattr(node, "name", None)]
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.alias)
            else [node.id]
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            else []
        )
    }
    assert set(exported) <= bound


# -- documentation --


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_everything_public_has_a_docstring(path):
    module = tree(path)
    assert ast.get_docstring(module), "the module says what it is for"
    assert list(undocumented(module, "")) == []


GROUPS = {
    group
    for path in MODULES
    for group in vars(importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))).values()
    if path.name in {"options.py", "scan_options.py", "source.py"}
    if inspect.isclass(group) and issubclass(group, OptionGroup) and group is not OptionGroup
}


def test_every_group_of_options_is_on_the_page():
    shown = {group for connector in CONNECTORS for group in connector.option_groups} | {*SHARED_GROUPS}
    assert shown == GROUPS


@pytest.mark.parametrize("group", sorted(GROUPS, key=lambda group: group.__name__), ids=lambda group: group.__name__)
def test_every_option_is_documented(group):
    page = (ROOT / "docs" / "options.md").read_text()
    assert group.__doc__
    for key, _, _, description in render_options(group):
        assert description, key
        assert any(f"`{name}`" in page for name in (key, re.sub(r"^(key|value)\.", "", key))), key
    assert all(field.alias for field in group.model_fields.values())


# -- what no module may do --


@pytest.mark.parametrize("path", [path for path in MODULES if path != CLOCK], ids=name_of)
def test_no_module_but_the_clock_reads_the_time_or_sleeps(path):
    assert not attributes(path) & CLOCK_CALLS
    assert not imports(path) & {"time", *CLOCK_CALLS}, "time is imported in watermark/clock.py only"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_module_throws_dice(path):
    if DEMO in path.parents:  # its orders come from a seed, from which the truth is computed too
        assert {name for name in attributes(path) if name and name.startswith("random.")} <= {"random.Random"}
        assert not [name for name in imports(path) if name.startswith("random.")]
        return
    assert not [name for name in imports(path) if name.split(".")[0] == "random" or name.startswith("numpy.random")]
    assert not attributes(path) & {"np.random", "numpy.random"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_is_unpickled_or_evaluated(path):
    assert not [name for name in imports(path) if name.split(".")[0] in {"pickle", "marshal", "shelve", "cloudpickle"}]
    calls = {dotted(node.func) for node in nodes(path) if isinstance(node, ast.Call)}
    assert not calls & {"eval", "exec"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_exception_is_swallowed_whatever_it_is(path):
    for node in nodes(path):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type is None or dotted(node.type) in {"Exception", "BaseException"}
            is_raised_again = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
            assert not caught or is_raised_again, f"line {node.lineno}"
