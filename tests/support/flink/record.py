"""Records what Flink answers to the expressions of the corpus: `python -m tests.support.flink.record [--new] [area ...]`.

A file per area in `tests/golden/flink/expressions`, a case per line. `tests/support/flink/answers.py` reads them. With
`--new`, only what has no answer yet is asked; answers to what has left the corpus go.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from benchmarks.flink import FLINK_VERSION
from tests.support.flink.answers import DIRECTORY, answer_file
from tests.support.flink.corpus.areas import AGGREGATES, AREAS, aggregate_calls, queries, scalar_expressions
from tests.support.flink.evaluation import CellError, Evaluator, Refusal
from tests.support.flink.inputs import ZONE, input_table, plain_rows
from tests.support.flink.session import FlinkFailed, FlinkRefused, FlinkSession, open_session

Case = dict[str, Any]

_NEW: Final = "--new"

_VARIES: Final = re.compile(
    r"\b(RAND|RAND_INTEGER|UUID|NOW|PROCTIME|LOCALTIME|LOCALTIMESTAMP|CURRENT_(DATE|TIME|TIMESTAMP|ROW_TIMESTAMP|WATERMARK))\b"
    r"|\bUNIX_TIMESTAMP\(\)"
)
"""Only the type of these is recorded."""
_ORDERED: Final = re.compile(r"ORDER BY [^()]*$")
_GROUPS: Final = {"a": "g = 'a'", "b": "g = 'b'", "c": "g = 'c'", "NULL": "g IS NULL"}
_WHOLE: Final = {"whole": "", "empty": " WHERE k < 0"}


def main(areas: Sequence[str], *, only_new: bool = False) -> None:
    """Record areas, or all, and write their files.

    Args:
        areas: Their names; none: all.
        only_new: Whether earlier answers are kept.

    Raises:
        AssertionError: Flink does not read the rows of `t` as they are written.
    """
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    with open_session(_report) as session:
        _check_table(session)
        for area in areas or AREAS:
            known = _recorded(area) if only_new else {}
            corpus = (*aggregate_calls(), *queries()) if area == AGGREGATES else scalar_expressions(area)
            unknown = [text for text in corpus if text not in known]
            known |= _aggregate_cases(session, unknown) if area == AGGREGATES else _scalar_cases(session, unknown)
            cases = [known[text] for text in corpus]
            _write(area, cases)
            _report(f"{area}: {len(unknown)} asked, {_counted(cases)}")


def _recorded(area: str) -> dict[str, Case]:
    path = answer_file(area)
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else []
    return {case.get("expression") or case.get("call") or case["query"]: case for case in cases}


def _check_table(session: FlinkSession) -> None:
    """Raise unless the types and values of `t` arrived."""
    table = input_table()
    assert session.types("SELECT * FROM t") == table.types
    assert session.rows("SELECT * FROM t") == plain_rows(table)


def _scalar_cases(session: FlinkSession, expressions: Sequence[str]) -> dict[str, Case]:
    cases = {expression: _planned(session, expression) for expression in expressions}
    planned = [e for e, case in cases.items() if "refused" not in case and not _VARIES.search(e)]
    constant = {e for e in planned if _is_constant(session, e)}
    for rows, some in ((1, constant), (len(input_table().rows), set(planned) - constant)):
        answers = Evaluator(session, rows).values([e for e in planned if e in some])
        for expression, answer in answers.items():
            if isinstance(answer, Refusal):
                cases[expression] = {"expression": expression, "refused": answer.message}
            else:
                cases[expression]["values"] = [_cell(answer[row]) for row in range(1, rows + 1)]
    return cases


def _planned(session: FlinkSession, expression: str) -> Case:
    try:
        (kind,) = session.types(f"SELECT {expression} AS c0 FROM t")
    except FlinkRefused as refused:
        return {"expression": expression, "refused": str(refused)}
    return {"expression": expression, "type": kind}


def _is_constant(session: FlinkSession, expression: str) -> bool:
    try:
        session.types(f"SELECT {expression} AS c0")
    except FlinkRefused:
        return False
    return True


def _cell(value: Any) -> Any:
    return {"error": value.message} if isinstance(value, CellError) else value


def _aggregate_cases(session: FlinkSession, texts: Sequence[str]) -> dict[str, Case]:
    whole = set(queries())
    return {text: (_query_case if text in whole else _aggregate_case)(session, text) for text in texts}


def _aggregate_case(session: FlinkSession, call: str) -> Case:
    try:
        (kind,) = session.types(f"SELECT {call} FROM t")
        grouped = session.types(f"SELECT g, {call} FROM t GROUP BY g")[1]
        groups = {name: _group(session, call, where) for name, where in _WHOLE.items()}
        groups |= _grouped(session, call)
    except FlinkRefused as refused:
        return {"call": call, "refused": str(refused)}
    return {"call": call, "type": kind, **({"grouped_type": grouped} if grouped != kind else {}), "groups": groups}


def _grouped(session: FlinkSession, call: str) -> Case:
    try:
        rows = session.rows(f"SELECT g, {call} FROM t GROUP BY g")
    except FlinkFailed:
        return {name: _group(session, call, f" WHERE {where}") for name, where in _GROUPS.items()}
    values = {"NULL" if key is None else key: value for key, value in rows}
    return {name: values[name] for name in _GROUPS}


def _group(session: FlinkSession, call: str, where: str) -> Any:
    try:
        ((value,),) = session.rows(f"SELECT {call} FROM t{where}")
    except FlinkFailed as failed:
        return {"error": str(failed)}
    return value


def _query_case(session: FlinkSession, query: str) -> Case:
    try:
        types = session.types(query)
        rows = session.rows(query)
    except FlinkRefused as refused:
        return {"query": query, "refused": str(refused)}
    except FlinkFailed as failed:
        return {"query": query, "types": types, "error": str(failed)}
    return {"query": query, "types": types, "rows": rows if _ORDERED.search(query) else sorted(rows, key=_text)}


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write(area: str, cases: Iterable[Mapping[str, Any]]) -> None:
    lines = ",\n".join(_text(case) for case in cases)
    header = f'{{"flink": "{FLINK_VERSION}", "zone": "{ZONE}", "cases": [\n'
    answer_file(area).write_text(f"{header}{lines}\n]}}\n", encoding="utf-8")


def _counted(cases: Sequence[Case]) -> str:
    refused = sum("refused" in case for case in cases)
    return f"{len(cases)} cases, {refused} of them refused"


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main([area for area in sys.argv[1:] if area != _NEW], only_new=_NEW in sys.argv)
