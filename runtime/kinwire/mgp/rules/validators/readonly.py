"""The validator `readonly`: what a tool declares comes first, then its name and its arguments."""

from __future__ import annotations

__all__ = ("readonly_violations",)

import re
from collections.abc import Iterator
from typing import Final

from kinwire.mgp.rules.tools import KnownTool
from kinwire.mgp.rules.validators.command_lines import CommandReading, command_readings
from kinwire.mgp.rules.validators.judgement import ValidatorOptions, Violation
from kinwire.mgp.rules.validators.places import Leaf, leaves, words_of_name
from kinwire.mgp.rules.validators.readonly_shell import reading_problem, reading_words_problem
from kinwire.mgp.rules.validators.readonly_sql import (
    is_graphql_mutation,
    looks_like_writing_sql,
    sql_problem,
    starts_like_sql,
)
from kinwire.mgp.rules.validators.verbs import READS, WRITES, is_writing_name
from kinwire.mgp.rules.word_set import word_set
from kinwire_protocols.base import JsonObject

_DO_NOT_WRITE: Final = frozenset({"network", "process"})
"""Side effects that do not say by themselves that something is changed."""

_SQL_NAMES: Final = word_set("sql statement statements cypher sparql soql hql dml ddl")
_QUERY_NAMES: Final = word_set("query queries q expression")
_DATABASES: Final = word_set(
    """
    sql db database databases postgres postgresql pg mysql mariadb sqlite duckdb
    bigquery snowflake clickhouse redshift oracle mssql neo4j cypher sparql warehouse
    """
)
_OPERATIONS: Final = word_set("operation operations action actions op verb method task intent")
_OPERATION_KEYS: Final = word_set(
    "insert update upsert delete remove drop create write overwrite append replace truncate erase"
)
_CONTENT: Final = word_set(
    "content contents data body payload patch replacement edits changes values document record"
)
_TARGETS: Final = word_set("output out save dest destination outfile")
_FILES: Final = word_set("file path dir directory folder to filename destination dest outfile")
_MODES: Final = re.compile(
    r"[rwax]b?t?\+b?t?|[wax]b?t?|rw\+?|append|overwrite|wronly|rdwr", re.IGNORECASE
)
_OPEN_FLAGS: Final = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)", re.IGNORECASE)
_HTTP_READS: Final = frozenset({"GET", "HEAD"})
_HTTP: Final = word_set(
    """
    GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT COPY MOVE MKCOL PROPPATCH LOCK UNLOCK LINK
    UNLINK PURGE REPORT SEARCH PROPFIND
    """
)


def readonly_violations(
    tool: KnownTool, arguments: JsonObject, options: ValidatorOptions
) -> Iterator[Violation]:
    """Yield why a call is refused.

    Raises:
        TooManyValuesError: the arguments have more values than a validator reads.
    """
    declared = _declared_problem(tool)
    if declared is not None:
        yield Violation("", declared)
        return
    for leaf in leaves(arguments):
        problem = _leaf_problem(tool, leaf)
        if problem is not None:
            yield Violation(leaf.place, problem)
    for found in command_readings(tool.name, arguments):
        problem = _command_problem(found, options) if isinstance(found, CommandReading) else None
        if problem is not None:
            yield Violation(found.place, problem)


def _declared_problem(tool: KnownTool) -> str | None:
    effects = [] if tool.security is None else tool.security.side_effects or []
    writing = sorted(set(effects) - _DO_NOT_WRITE)
    if writing:
        return f"the tool declares side effects: {', '.join(writing)[:80]}"
    if (
        tool.annotations.get("readOnlyHint") is False
        or tool.annotations.get("destructiveHint") is True
    ):
        return "the annotations of the tool say that it changes something"
    return (
        "the name of the tool says that it changes something"
        if is_writing_name(tool.name)
        else None
    )


def _command_problem(reading: CommandReading, options: ValidatorOptions) -> str | None:
    text, words = reading.text, reading.words
    if not reading.is_certain or (text.isidentifier() and text.lower() in READS):
        return None
    problem = None if words is None else reading_words_problem(words)
    if problem is None and not (words and options.without_shell):
        problem = reading_problem(text)
    return problem


def _leaf_problem(tool: KnownTool, leaf: Leaf) -> str | None:
    words = words_of_name(leaf.name)
    if leaf.is_key or leaf.value is None or leaf.value is False:
        return _key_problem(leaf)
    if leaf.value is True:
        return "it asks for a change" if WRITES.intersection(words) else None
    if any(key.lower() in _OPERATION_KEYS for key in leaf.names):
        return "its name is that of an operation that writes"
    if not isinstance(leaf.value, str):
        return None
    return _text_problem(tool, words, leaf.value) or _content_problem(tool, words, leaf.value)


def _key_problem(leaf: Leaf) -> str | None:
    if leaf.is_key and leaf.value in ("$out", "$merge"):
        return "it stores the result"
    return None


def _text_problem(tool: KnownTool, words: tuple[str, ...], text: str) -> str | None:
    named = frozenset(words)
    if "method" in named or "verb" in named or (text.upper() in _HTTP and _OPERATIONS & named):
        return _method_problem(text)
    if _OPERATIONS & named:
        return "it names an operation that writes" if is_writing_name(text) else None
    if ("mode" in named and _MODES.fullmatch(text)) or _OPEN_FLAGS.search(text):
        return "it opens a file for writing"
    return _statement_problem(tool, named, text)


def _method_problem(text: str) -> str | None:
    if text.upper() in _HTTP_READS:
        return None
    if text.upper() in _HTTP or (text.isalpha() and text.isupper()) or is_writing_name(text):
        return "the method is neither GET nor HEAD"
    return None


def _statement_problem(tool: KnownTool, named: frozenset[str], text: str) -> str | None:
    if is_graphql_mutation(text):
        return "it is a mutation"
    tool_words = frozenset(words_of_name(tool.name))
    asks = bool(_QUERY_NAMES & named)
    if _SQL_NAMES & named or (asks and _DATABASES & tool_words):
        return sql_problem(text)
    if asks and tool_words & _QUERY_NAMES and starts_like_sql(text):
        return sql_problem(text)
    if asks and text.lstrip()[:7].lower() == "select ":
        return sql_problem(text)
    if starts_like_sql(text) and sql_problem(text) is None:
        return None
    return "it has a statement that writes" if looks_like_writing_sql(text) else None


def _content_problem(tool: KnownTool, words: tuple[str, ...], text: str) -> str | None:
    if not text or _is_reader(tool):
        return None
    if words[-1:] and words[-1] in _CONTENT:
        return "the tool may write this content"
    named = frozenset(words)
    if (_TARGETS & named and _FILES & named) or words[-1:] in (("destination",), ("dest",)):
        return "the tool may write to this place"
    return None


def _is_reader(tool: KnownTool) -> bool:
    """Return whether a tool says that it only reads, by its declaration or the verb of its name."""
    if tool.security is not None and tool.security.side_effects == []:
        return True
    if tool.annotations.get("readOnlyHint") is True:
        return True
    return not READS.isdisjoint(words_of_name(tool.name)[:2])
