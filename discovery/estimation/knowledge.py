"""Background knowledge: what a person knows of the graph before any data.

A TOML file with any of these keys, each optional. Variables are named as in the table's header; the reward
column isn't a variable and can't be named.

tiers
    A list of groups of variables, causes before effects. There is no edge from a variable to one in an
    earlier group; edges within a group and from earlier to later groups are left to the data. Variables
    in no group are left to the data.
required
    A list of pairs [tail, head]. Each edge tail → head is in the graph.
forbidden
    A list of pairs [tail, head]. Each edge tail → head is not in the graph; head → tail still may be. With
    both pairs in the list the two variables are not adjacent.
roots
    A list of variables without causes in the table: no edge points at one.
sinks
    A list of variables without effects in the table: no edge leaves one.
search
    A table of settings of the search, each optional: method ("ges-boss", the default, "ges", "boss", "pc",
    "chow-liu" or "causal-learn-ges"; discover takes "fci", too), and what the methods take. PC takes alpha
    (above this p-value two variables count as independent, .01), uc_rule and uc_priority (causal-learn's
    rules for v-structures, 2 and 2) and max_conditions (the size of the largest conditioning sets, no limit).
    GES and BOSS take score ("bdeu" or "bic"), equivalent_sample_size (what the prior of BDeu is worth in
    rows, chosen by the data) and structure_prior (how many parents a variable is expected to have, 1). All
    but Chow-Liu and causal-learn-ges take time_limit (seconds after which all searches of a command have
    ended with the best graphs so far, those on resampled tables too; FCI has none, and ends with an error;
    no limit).

For example:

    tiers = [["age", "sex"], ["dose"], ["pressure", "outcome"]]
    required = [["dose", "outcome"]]
    forbidden = [["age", "sex"], ["sex", "age"]]
    roots = ["age"]
    sinks = ["outcome"]

    [search]
    equivalent_sample_size = 10
    time_limit = 60

Every statement is about single edges, not about paths: without dose → outcome, a dose may still act on the
outcome through other variables. Statements that contradict each other are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from discovery.documents import toml_content
from discovery.errors import KnowledgeError
from discovery.wording import did_you_mean

__all__ = ["SEARCH_SETTINGS", "Knowledge", "read_knowledge"]

Arrow = tuple[str, str]

_STATEMENTS = ("tiers", "required", "forbidden", "roots", "sinks")

#: The settings that the table `search` may have, each with its type, and that in words.
SEARCH_SETTINGS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "method": (str, "a text"),
    "alpha": ((int, float), "a number"),
    "uc_rule": (int, "a whole number"),
    "uc_priority": (int, "a whole number"),
    "max_conditions": (int, "a whole number"),
    "score": (str, "a text"),
    "equivalent_sample_size": ((int, float), "a number"),
    "structure_prior": ((int, float), "a number"),
    "time_limit": ((int, float), "a number"),
}


@dataclass(frozen=True)
class Knowledge:
    """Statements about arrows that hold whatever the data say.

    Parameters
    ----------
    tiers
        Groups of variables, causes before effects: no arrow leads from a later tier into an earlier one.
    required
        Arrows (tail, head) that are there.
    forbidden
        Arrows that are not; forbidding both ways means not adjacent.
    roots, sinks
        Variables without arrows into them, or out of them.
    search
        Settings of the search by name, out of `SEARCH_SETTINGS`: no knowledge, but said in the same place.

    Raises
    ------
    KnowledgeError
        If two statements contradict each other; the message names them.

    Examples
    --------
    >>> known = Knowledge(tiers=[["A"], ["B", "C"]], roots=["C"])
    >>> known.allows("A", "B"), known.allows("B", "A"), known.allows("B", "C")
    (True, False, False)
    >>> Knowledge(required=[("A", "B")], sinks=["A"])
    Traceback (most recent call last):
    discovery.errors.KnowledgeError: Expected knowledge without contradictions but found A → B required and
    A a sink
    """

    tiers: tuple[tuple[str, ...], ...] = ()
    required: tuple[Arrow, ...] = ()
    forbidden: tuple[Arrow, ...] = ()
    roots: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()
    search: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __init__(
        self,
        tiers: Iterable[Iterable[str]] = (),
        required: Iterable[Sequence[str]] = (),
        forbidden: Iterable[Sequence[str]] = (),
        roots: Iterable[str] = (),
        sinks: Iterable[str] = (),
        search: Mapping[str, Any] | None = None,
    ) -> None:
        object.__setattr__(self, "tiers", tuple(tuple(dict.fromkeys(tier)) for tier in tiers))
        object.__setattr__(self, "required", _arrows("required", required))
        object.__setattr__(self, "forbidden", _arrows("forbidden", forbidden))
        object.__setattr__(self, "roots", tuple(dict.fromkeys(roots)))
        object.__setattr__(self, "sinks", tuple(dict.fromkeys(sinks)))
        object.__setattr__(self, "search", _checked_search(search or {}))
        found = self._contradiction()
        if found:
            raise KnowledgeError(f"Expected knowledge without contradictions but found {found}")

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in _STATEMENTS)

    def allows(self, tail: str, head: str) -> bool:
        """Return whether nothing forbids ``tail → head``; a required arrow forbids the reverse."""
        return not self._against(tail, head) and (head, tail) not in self._sets["required"]

    def may_be_adjacent(self, one: str, other: str) -> bool:
        """Return whether one direction at least is allowed between the two."""
        return self.allows(one, other) or self.allows(other, one)

    def check_names(self, variables: Iterable[str]) -> None:
        """Make sure that only these variables are spoken of.

        Raises
        ------
        KnowledgeError
            If another one is; the message suggests the nearest.
        """
        known = tuple(variables)
        named = [
            *(name for tier in self.tiers for name in tier),
            *(name for arrow in (*self.required, *self.forbidden) for name in arrow),
            *self.roots,
            *self.sinks,
        ]
        for name in named:
            if name not in known:
                advice = did_you_mean(name, known)
                raise KnowledgeError(
                    f"Expected knowledge of the table's variables but found {name!r}: {advice}"
                )

    @cached_property
    def _tier_of(self) -> dict[str, int]:
        return {name: i for i, tier in enumerate(self.tiers) for name in tier}

    @cached_property
    def _sets(self) -> dict[str, frozenset[Any]]:
        return {name: frozenset(getattr(self, name)) for name in ("required", "forbidden", "roots", "sinks")}

    def _against(self, tail: str, head: str) -> str:
        """Return in words what forbids ``tail → head``; empty if nothing does."""
        if (tail, head) in self._sets["forbidden"]:
            return f"{tail} → {head} forbidden"
        if head in self._sets["roots"]:
            return f"{head} a root"
        if tail in self._sets["sinks"]:
            return f"{tail} a sink"
        if self._tier_of.get(head, len(self.tiers)) < self._tier_of.get(tail, -1):
            return f"{tail} in a later tier than {head}"
        return ""

    def _contradiction(self) -> str:
        for i, tier in enumerate(self.tiers):
            for name in tier:
                if self._tier_of[name] != i:
                    return f"{name!r} in two tiers"
        for tail, head in self.required:
            against = self._against(tail, head)
            if against:
                return f"{tail} → {head} required and {against}"
        import networkx as nx  # late: --help reads the settings without it

        try:
            cycle = [tail for tail, _ in nx.find_cycle(nx.DiGraph(self.required))]
        except nx.NetworkXNoCycle:
            return ""
        return f"a cycle of required arrows, {' → '.join([*cycle, cycle[0]])}"


def read_knowledge(path: str | os.PathLike[str]) -> Knowledge:
    """Read a TOML file with the keys that this module lists, each optional.

    Raises
    ------
    KnowledgeError
        If the file can't be read, isn't TOML, has another key or another shape, or contradicts itself.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        content = toml_content(text)
    except OSError as error:
        raise KnowledgeError(f"Expected a knowledge file but found {path}: {error.strerror}") from error
    except ValueError as error:
        raise KnowledgeError(f"Expected a knowledge file in TOML but found {path}: {error}") from error
    try:
        return Knowledge(**_checked_shapes(content))
    except KnowledgeError as error:
        raise KnowledgeError(f"{error} in {path}") from None


def _checked_shapes(content: Mapping[str, Any]) -> dict[str, Any]:
    _check_keys(content, [one.name for one in fields(Knowledge)])
    for key, value in content.items():
        if key == "search":
            if not isinstance(value, dict):
                raise KnowledgeError(f"Expected 'search' to be a table but found {value!r}")
            continue
        lists = value if key not in ("roots", "sinks") else [value]
        if not (isinstance(value, list) and all(_is_list_of_text(one) for one in lists)):
            wanted = "a list of names" if key in ("roots", "sinks") else "a list of lists of names"
            raise KnowledgeError(f"Expected {key!r} to be {wanted} but found {value!r}")
    return dict(content)


def _check_keys(content: Iterable[str], known: Sequence[str]) -> None:
    for key in content:
        if key not in known:
            raise KnowledgeError(
                f"Expected the keys {', '.join(known)} but found {key!r}: {did_you_mean(key, known)}"
            )


def _checked_search(search: Mapping[str, Any]) -> dict[str, Any]:
    _check_keys(search, list(SEARCH_SETTINGS))
    for key, value in search.items():
        kind, words = SEARCH_SETTINGS[key]
        if isinstance(value, bool) or not isinstance(value, kind):
            raise KnowledgeError(f"Expected {key!r} of 'search' to be {words} but found {value!r}")
    return dict(search)


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _arrows(key: str, arrows: Iterable[Sequence[str]]) -> tuple[Arrow, ...]:
    checked: dict[Arrow, None] = {}
    for arrow in arrows:
        if isinstance(arrow, str) or len(arrow) != 2 or arrow[0] == arrow[1]:
            raise KnowledgeError(f"Expected {key!r} arrows between two variables but found {arrow!r}")
        checked[arrow[0], arrow[1]] = None
    return tuple(checked)
