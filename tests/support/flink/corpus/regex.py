"""Patterns: LIKE, SIMILAR TO and regular expressions, constant ones, columns and malformed ones."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import each, lines

_LIKE: Final = tuple(
    each(
        """
        s LIKE {p}
        s NOT LIKE {p}
        s SIMILAR TO {p}
        """,
        p=(
            "'Hello%'",
            "'%World'",
            "'%o%'",
            "'_b%'",
            "'%'",
            "''",
            "'_'",
            "'%\\_%'",
            "'%.%'",
            "'____'",
            "p",
            "s2",
            "CAST(NULL AS STRING)",
        ),
    )
)
_PATTERNS: Final = tuple(
    each(
        """
        REGEXP(s, {p})
        REGEXP_REPLACE(s, {p}, '<$0>')
        REGEXP_EXTRACT(s, {p})
        REGEXP_EXTRACT(s, {p}, 1)
        REGEXP_EXTRACT_ALL(s, {p})
        REGEXP_EXTRACT_ALL(s, {p}, 0)
        REGEXP_COUNT(s, {p})
        REGEXP_INSTR(s, {p})
        REGEXP_SUBSTR(s, {p})
        """,
        p=(
            "'l+'",
            "'(\\w+) (\\w+)'",
            "'a|b'",
            "''",
            "'.'",
            "'[a'",
            "'^[a-z]'",
            "'(?i)HELLO'",
            "p",
            "CAST(NULL AS STRING)",
        ),
    )
)
_SPECIAL: Final = lines(
    r"""
    # LIKE
    'abc' LIKE 'a_c'
    'abc' LIKE 'a%'
    'abc' LIKE 'abc'
    'abc' LIKE 'ABC'
    'abc' LIKE ''
    '' LIKE ''
    '' LIKE '%'
    'a_c' LIKE 'a\_c'
    'a%c' LIKE 'a\%c'
    'a\c' LIKE 'a\c'
    'a\c' LIKE 'a\\c'
    'a%c' LIKE 'a!%c' ESCAPE '!'
    'abc' LIKE 'a!%c' ESCAPE '!'
    'a!c' LIKE 'a!!c' ESCAPE '!'
    'abc' LIKE 'a!bc' ESCAPE '!'
    'abc' LIKE 'abc!' ESCAPE '!'
    'a%c' LIKE 'a\%c' ESCAPE '\'
    'a%c' LIKE 'a!%c' ESCAPE '!!'
    'a%c' LIKE 'a!%c' ESCAPE ''
    'a%c' LIKE 'a!%c' ESCAPE NULL
    'a.c' LIKE 'a.c'
    'abc' LIKE 'a.c'
    'a(b' LIKE 'a(%'
    'a[b' LIKE 'a[b'
    'a*' LIKE 'a*'
    '😀' LIKE '_'
    '😀' LIKE '__'
    'é' LIKE '_'
    s LIKE '%😀%'
    s LIKE 'a!%%' ESCAPE '!'
    s LIKE '%!_%' ESCAPE '!'
    s NOT LIKE '%!_%' ESCAPE '!'
    s LIKE '%a%' ESCAPE 'x'
    s LIKE p ESCAPE '\'
    s LIKE s
    s LIKE s2 || '%'
    s LIKE '%' || s2 || '%'
    s LIKE NULL
    NULL LIKE 'a'
    c LIKE 'a'
    c LIKE 'a  '
    c LIKE 'a%'
    c LIKE 'ab_'
    vc LIKE 'ab'
    vc LIKE '%b'
    i LIKE '7'
    bin LIKE 'abc'
    s LIKE 1
    U&'a\000Ab' LIKE 'a_b'
    U&'a\000Ab' LIKE '%b'
    s LIKE '%x_'
    'ab' LIKE 'a%b%'
    'aXbXc' LIKE 'a%b%c'
    'abc' LIKE '%b%'
    'abc' LIKE '%%'
    'abc' LIKE '_%_'
    # SIMILAR TO
    'abc' SIMILAR TO 'abc'
    'abc' SIMILAR TO 'a%'
    'abc' SIMILAR TO 'a_c'
    'abc' SIMILAR TO '(a|b)%'
    'abc' SIMILAR TO '[a-c]+'
    'abc' SIMILAR TO '[a-c]{3}'
    'abc' SIMILAR TO '[a-c]{1,2}'
    'abc' SIMILAR TO 'b'
    'abc' SIMILAR TO 'a.c'
    'a.c' SIMILAR TO 'a.c'
    'abc' SIMILAR TO '[^x]bc'
    'abc' SIMILAR TO '[[:alpha:]]+'
    'ABC' SIMILAR TO '[[:LOWER:]]+'
    '123' SIMILAR TO '[[:DIGIT:]]+'
    'abc' SIMILAR TO '(ab)?c'
    'aab' SIMILAR TO 'a*b'
    'a%c' SIMILAR TO 'a!%c' ESCAPE '!'
    'abc' SIMILAR TO 'a!%c' ESCAPE '!'
    'a|b' SIMILAR TO 'a!|b' ESCAPE '!'
    'abc' NOT SIMILAR TO 'a%'
    'abc' SIMILAR TO '[a'
    'abc' SIMILAR TO '*'
    '' SIMILAR TO ''
    '' SIMILAR TO '%'
    s SIMILAR TO '%(World|Welt)'
    s SIMILAR TO '[a-z,]+'
    s NOT SIMILAR TO '[a-z,]+'
    s SIMILAR TO '%!_%' ESCAPE '!'
    NULL SIMILAR TO 'a'
    c SIMILAR TO 'a *'
    # REGEXP
    REGEXP('foobar', 'o+')
    REGEXP('foobar', '^o')
    REGEXP('foobar', '')
    REGEXP('foobar', '[')
    REGEXP('', 'a')
    REGEXP('', '')
    REGEXP(NULL, 'a')
    REGEXP('a', NULL)
    REGEXP(s, '^[A-Z]')
    REGEXP(i, '7')
    s REGEXP 'a'
    s RLIKE 'a'
    # REGEXP_REPLACE
    REGEXP_REPLACE('foobar', 'oo|ar', '')
    REGEXP_REPLACE('foobar', '(o)', '[$1]')
    REGEXP_REPLACE('foobar', '(o)', '[$2]')
    REGEXP_REPLACE('foobar', '(?<x>o)', '[${x}]')
    REGEXP_REPLACE('foobar', 'o', '\\')
    REGEXP_REPLACE('foobar', 'o', '\$')
    REGEXP_REPLACE('foobar', 'o', '$')
    REGEXP_REPLACE('foobar', 'o', '\')
    REGEXP_REPLACE('foobar', '', '-')
    REGEXP_REPLACE('foobar', '[', '-')
    REGEXP_REPLACE('', '', '-')
    REGEXP_REPLACE('foobar', 'x*', '-')
    REGEXP_REPLACE('a.b.c', '.', 'x')
    REGEXP_REPLACE('a.b.c', '\.', 'x')
    REGEXP_REPLACE('a😀b', '.', 'x')
    REGEXP_REPLACE('foobar', NULL, '-')
    REGEXP_REPLACE(NULL, 'o', '-')
    REGEXP_REPLACE('foobar', 'o', NULL)
    REGEXP_REPLACE(s, '[aeiou]', s2)
    REGEXP_REPLACE(s, '\s+', ' ')
    REGEXP_REPLACE(num, '[^0-9]', '')
    # REGEXP_EXTRACT
    REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)
    REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 0)
    REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)')
    REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 3)
    REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', -1)
    REGEXP_EXTRACT('foothebar', 'x(.)', 1)
    REGEXP_EXTRACT('foothebar', '(x)?foo', 1)
    REGEXP_EXTRACT('foothebar', '(', 1)
    REGEXP_EXTRACT('foothebar', NULL, 1)
    REGEXP_EXTRACT(NULL, 'a', 0)
    REGEXP_EXTRACT('foothebar', 'foo', NULL)
    REGEXP_EXTRACT(s, '([a-z]+)', 1)
    REGEXP_EXTRACT(s, '([a-z]+)', i2)
    REGEXP_EXTRACT(url, '^(\w+)://([^/:@]*)', 2)
    REGEXP_EXTRACT(tst, '(\d{4})-(\d+)-(\d+)', 1)
    # newer ones
    REGEXP_EXTRACT_ALL('100-200, 300-400', '(\d+)-(\d+)', 1)
    REGEXP_EXTRACT_ALL('100-200, 300-400', '(\d+)-(\d+)', 2)
    REGEXP_EXTRACT_ALL('100-200, 300-400', '(\d+)-(\d+)', 0)
    REGEXP_EXTRACT_ALL('100-200, 300-400', '(\d+)-(\d+)')
    REGEXP_EXTRACT_ALL('100-200, 300-400', '(\d+)-(\d+)', 3)
    REGEXP_EXTRACT_ALL('100-200', '\d+')
    REGEXP_EXTRACT_ALL('abc', '\d+', 0)
    REGEXP_COUNT('Steven Jones and Stephen Smith', 'Ste(v|ph)en')
    REGEXP_COUNT('abc', '')
    REGEXP_COUNT('abc', '[')
    REGEXP_COUNT('aaa', 'aa')
    REGEXP_INSTR('Steven Jones', 'Jo')
    REGEXP_INSTR('abc', 'x')
    REGEXP_INSTR('😀ab', 'b')
    REGEXP_INSTR('abc', '')
    REGEXP_SUBSTR('Steven Jones', 'J.*')
    REGEXP_SUBSTR('abc', 'x')
    REGEXP_SUBSTR('abc', '[')
    """
)
EXPRESSIONS: Final = (*_LIKE, *_PATTERNS, *_SPECIAL)
