"""Which regular expressions need more than linear time to fail: a check of their structure.

Theory: a backtracking matcher tries every way of reading a text. Their number grows with the text only if some word can
be read in two ways around a loop (exponential growth), or if a loop can hand over to a later loop anywhere within a word
that both of them read (quadratic growth and more). Both are reachability questions in products of the automaton with
itself. Source: Weber and Seidl, On the degree of ambiguity of finite automata, 1991.

Look-around, word boundaries and greediness are ignored, and long counted repeats are shortened: the check may refuse
a pattern that is fast.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from re import _constants as code  # type: ignore[attr-defined] - the parser of `re` has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

__all__ = ["ambiguous_loops", "representatives"]

_PROBES: Final = "".join(map(chr, range(0x80))) + "é٣日\ud800\U0001f600\u2028\xa0"
"""Characters that tell the classes of the patterns apart."""
_LONGEST_COUNTED: Final = 3


@dataclass(slots=True)
class _Automaton:
    """States are numbers; a move reads one of a set of characters."""

    flags: int
    moves: list[tuple[int, frozenset[str], int]] = field(default_factory=list)
    empty: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    states: int = 0

    def state(self) -> int:
        self.states += 1
        return self.states - 1

    def read(self, start: int, characters: frozenset[str]) -> int:
        end = self.state()
        self.moves.append((start, characters, end))
        return end

    def sequence(self, items: Iterable[tuple[Any, Any]], start: int) -> int:
        for operator, argument in items:
            start = self.item(operator, argument, start)
        return start

    def item(self, operator: Any, argument: Any, start: int) -> int:
        if operator in _REPEATS:
            return self._repeat(argument, start)
        if operator is code.BRANCH:
            return self._branches(argument[1], start)
        if operator is code.SUBPATTERN:
            return self.sequence(argument[3], start)
        if operator is code.ATOMIC_GROUP:
            return self.sequence(argument, start)
        if operator in _NOTHING:
            return start
        return self.read(start, _characters(operator, argument, self.flags))

    def _branches(self, branches: Iterable[Any], start: int) -> int:
        end = self.state()
        for branch in branches:
            self.empty[self.sequence(branch, start)].add(end)
        return end

    def _repeat(self, argument: Any, start: int) -> int:
        at_least, max_count, items = argument
        for _ in range(min(at_least, _LONGEST_COUNTED)):
            start = self.sequence(items, start)
        if max_count is code.MAXREPEAT:
            loop = self.state()
            self.empty[start].add(loop)
            self.empty[self.sequence(items, loop)].add(loop)
            return loop
        end = self.state()
        self.empty[start].add(end)
        for _ in range(min(max_count - at_least, _LONGEST_COUNTED)):
            start = self.sequence(items, start)
            self.empty[start].add(end)
        return end


_REPEATS: Final = {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}
_NOTHING: Final = {code.AT, code.ASSERT, code.ASSERT_NOT}


def _characters(operator: Any, argument: Any, flags: int) -> frozenset[str]:
    tree = parser.SubPattern(parser.State(), [(operator, argument)])
    tree.state.str = ""
    tree.state.flags = flags
    matches = _compiled(tree, flags).fullmatch
    return frozenset(c for c in _PROBES if matches(c))


def _compiled(tree: Any, flags: int) -> re.Pattern[str]:
    from re import _compiler  # type: ignore[attr-defined]

    return _compiler.compile(tree, flags & ~int(re.DEBUG))  # type: ignore[no-any-return]


Step = Callable[[int, str], frozenset[int]]


def _without_empty_moves(automaton: _Automaton) -> tuple[dict[int, dict[str, frozenset[int]]], list[str]]:
    """Return state -> character -> states, each as the place in front of a move, and one character of each class."""
    closures = {state: _closure(automaton.empty, state) for state in range(automaton.states)}
    out: dict[int, list[int]] = defaultdict(list)
    for number, (start, _, _) in enumerate(automaton.moves):
        out[start].append(number)
    after = {
        number: frozenset(follower for state in closures[end] for follower in out[state])
        for number, (_, _, end) in enumerate(automaton.moves)
    }
    classes: dict[tuple[bool, ...], str] = {}
    for character in _PROBES:
        classes.setdefault(tuple(character in characters for _, characters, _ in automaton.moves), character)
    table = {
        number: {c: after[number] for c in classes.values() if c in characters}
        for number, (_, characters, _) in enumerate(automaton.moves)
    }
    return table, list(classes.values())


def _closure(empty: dict[int, set[int]], state: int) -> set[int]:
    found, pending = {state}, [state]
    while pending:
        for reached in empty.get(pending.pop(), set()) - found:
            found.add(reached)
            pending.append(reached)
    return found


def _reachable(start: Any, steps: Callable[[Any], Iterator[Any]]) -> set[Any]:
    found: set[Any] = set()
    pending = [start]
    while pending:
        for reached in steps(pending.pop()):
            if reached not in found:
                found.add(reached)
                pending.append(reached)
    return found


def _automaton_of(pattern: re.Pattern[Any], *, is_searched: bool) -> _Automaton:
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = (pattern.flags & ~re.UNICODE & ~re.LOCALE) if isinstance(pattern.pattern, bytes) else pattern.flags
    automaton = _Automaton(flags)
    start = automaton.state()
    if is_searched:
        automaton.moves.append((start, frozenset(_PROBES), start))
    automaton.sequence(parser.parse(text, flags & ~re.DEBUG), start)
    return automaton


def representatives(pattern: re.Pattern[Any]) -> list[str]:
    """Return one character of each class that the pattern distinguishes."""
    return _without_empty_moves(_automaton_of(pattern, is_searched=False))[1]


def ambiguous_loops(pattern: re.Pattern[Any], *, is_searched: bool = False) -> bool:
    """Return whether a text may exist on which the pattern needs more than linear time to fail.

    Args:
        pattern: it.
        is_searched: it may begin anywhere in the text (`search`, `sub`, `split`, `finditer`).
    """
    table, _ = _without_empty_moves(_automaton_of(pattern, is_searched=is_searched))
    reachable = {
        move: _reachable(move, lambda at: iter({n for ends in table[at].values() for n in ends})) for move in table
    }
    loops = [move for move in table if move in reachable[move]]
    same = {move: {other for other in reachable[move] if move in reachable[other]} for move in loops}
    return any(_two_ways(table, same, move) for move in loops) or any(
        _hands_over(table, same, one, other)
        for one, other in product(loops, loops)
        if other in reachable[one] and other not in same[one]
    )


def _two_ways(table: dict[int, dict[str, frozenset[int]]], same: dict[int, set[int]], move: int) -> bool:
    """Return whether a word leads from a move back to it in two ways."""

    def steps(at: tuple[int, int, bool]) -> Iterator[tuple[int, int, bool]]:
        one, other, differ = at
        for character, ends in table[one].items():
            for a, b in product(ends & same[move], table[other].get(character, frozenset()) & same[move]):
                yield a, b, differ or a != b

    return (move, move, True) in _reachable((move, move, False), steps)


def _hands_over(table: dict[int, dict[str, frozenset[int]]], same: dict[int, set[int]], one: int, other: int) -> bool:
    """Return whether a word leads from `one` to itself and to `other`, and from `other` to itself."""

    def steps(at: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
        for character, ends in table[at[0]].items():
            middle = table[at[1]].get(character, frozenset())
            last = table[at[2]].get(character, frozenset()) & same[other]
            yield from product(ends & same[one], middle, last)

    return (one, other, other) in _reachable((one, one, other), steps)
