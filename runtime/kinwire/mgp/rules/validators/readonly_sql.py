"""Statements of SQL, Cypher and SPARQL that only read.

Strings, quoted names and comments are left out first. What servers read in different ways, such as
backslashes in strings and comments that one of them runs, is refused.
"""

from __future__ import annotations

__all__ = ("is_graphql_mutation", "looks_like_writing_sql", "sql_problem", "starts_like_sql")

import re
from typing import Final

from kinwire.mgp.rules.word_set import word_set

_LONGEST: Final = 100_000
_READING: Final = word_set(
    """
    select with values table show describe desc explain pragma match optional unwind return ask
    construct prefix base from
    """
)
_STARTS: Final = _READING | word_set(
    """
    insert update delete merge replace create drop alter truncate grant revoke call exec execute do
    load copy attach detach vacuum reindex set begin upsert rename lock commit rollback analyze
    reset comment refresh install kill shutdown flush handler notify discard listen unlisten
    prepare deallocate use optimize repair backup restore import export cluster checkpoint
    start clear
    """
)
_WRITING: Final = word_set(
    "insert update delete merge create drop alter truncate grant revoke into detach upsert"
)
_GRAPH_WRITING: Final = word_set("set remove foreach load call clear")
_GRAPH: Final = word_set("match optional unwind return prefix base")
_PRAGMAS: Final = word_set(
    """
    table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list
    database_list compile_options collation_list function_list integrity_check quick_check
    """
)
_FUNCTIONS: Final = word_set(
    """
    nextval setval edit writefile load_extension dblink dblink_exec query_to_xml cursor_to_xml
    query_to_xmlschema database_to_xml sys_exec sys_eval xp_cmdshell openrowset openquery sleep
    pg_sleep benchmark lo_import lo_export fts3_tokenizer txid_current readfile
    """
)
_FUNCTION_WORDS: Final = word_set(
    """
    write set create unlink put import export drop terminate cancel reload rotate switch promote
    reset notify exec execute eval load shutdown kill delete update lock advisory
    """
)
_VALUE_FUNCTIONS: Final = re.compile(
    r"(?:json|array|regexp|str|map|list|overlay|replace|insert|set_b)"
)

_TOKEN: Final = re.compile(
    r"""
    (?P<skip>\s+|'(?:[^'\\]|''|\\[^'\\])*'|"(?:[^"\\]|""|\\[^"\\])*"|`[^`]*`
        |--(?:[ \t](?:[^\n\r]|\r(?=\n))*+)?(?:\n|$)|/\*(?![!+M])(?:(?!\*/|/\*)[\s\S])*\*/)
    |(?P<word>[^\W\d]\w*(?:\$\w+)*)
    |(?P<unclear>['"`\\]|/\*|--|\$\w*\$|\#(?=[^\n]*['"`]))
    |(?P<other>.)
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_PREFIXED: Final = re.compile(r"\b[qQ]'|[uU]&['\"]")
_FIRST: Final = re.compile(r"(?>[\s(;]|--[^\n]*(?:\n|$)|/\*[\s\S]*?\*/)*+([a-z]+)", re.IGNORECASE)
_NAME: Final = r"[\w.\"`\[\]]+"
_WRITE_SHAPE: Final = re.compile(
    rf"\b(?:(?:insert|replace)\s+(?:or\s+\w+\s+)?into\s+{_NAME}\s*(?:\(|values\b|select\b|set\b|def)"
    rf"|delete\s+from\s+{_NAME}\s*(?:;|$|\)|where\b|using\b|returning\b|--|/\*)"
    rf"|update\s+{_NAME}\s+set\b|merge\s+into\s+{_NAME}\s|truncate\s+table\s"
    r"|(?:drop|alter)\s+(?:table|index|view|database|schema|user|role|trigger|function|procedure)\s"
    r"|create\s+(?:or\s+replace\s+|temp\w*\s+|unique\s+)*(?:table|index|view|trigger|function)\s+"
    rf"(?:if\s+not\s+exists\s+)?{_NAME}\s*(?:\(|as\b|on\b|like\b|for\b|before\b|after\b)"
    r"|(?:grant|revoke)\s+(?:all|select|insert|update|delete|execute|usage|create|connect)\b)",
    re.IGNORECASE,
)
_MUTATION: Final = re.compile(r"(?:^|[\s}])mutation\b(?:\s+\w+)?\s*[({@]")
_GRAPHQL_TEXT: Final = re.compile(r'"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*')


def sql_problem(text: str) -> str | None:
    """Return why one or several statements are refused, as a clause, or None."""
    if len(text) > _LONGEST:
        return f"a statement has at most {_LONGEST} characters"
    if _PREFIXED.search(text):
        return "it has a string that servers read in different ways"
    tokens: list[str] = []
    for found in _TOKEN.finditer(text):
        if found.lastgroup == "unclear":
            return "it has quotes or comments that servers read in different ways"
        if found.lastgroup != "skip":
            tokens.append(found[0].lower())
    return next(filter(None, map(_statement_problem, _statements(tokens))), None)


def _statements(tokens: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for token in tokens:
        if token == ";":
            found.append([])
        elif token != "(" or found[-1]:
            found[-1].append(token)
    return [one for one in found if one]


def _statement_problem(tokens: list[str]) -> str | None:
    first = tokens[0]
    if first not in _READING:
        return "a statement does not begin like one that only reads"
    if first == "pragma":
        return _pragma_problem(tokens)
    is_graph = first in _GRAPH
    refused = _WRITING | _GRAPH_WRITING if is_graph else _WRITING
    for before, token, after in zip(("", *tokens), tokens, (*tokens[1:], ""), strict=False):
        if token in refused and (is_graph or after != "(") and before not in (".", "show"):
            return "a statement has a part that writes"
        if after == "(" and _is_writing_function(token):
            return "a statement calls a function that writes or starts something"
    return None


def _pragma_problem(tokens: list[str]) -> str | None:
    names = [token for token in tokens[1:4] if token.isidentifier()]
    if "=" in tokens or ("(" in tokens and _PRAGMAS.isdisjoint(names)):
        return "a pragma sets a value"
    return None


def _is_writing_function(name: str) -> bool:
    if name in _FUNCTIONS or (name.startswith("lo_") and name != "lo_get"):
        return True
    return not _VALUE_FUNCTIONS.match(name) and not _FUNCTION_WORDS.isdisjoint(
        name.split("_") if "_" in name else ()
    )


def looks_like_writing_sql(text: str) -> bool:
    """Return whether a text that may be anything has a statement that writes."""
    return _WRITE_SHAPE.search(text) is not None


def starts_like_sql(text: str) -> bool:
    """Return whether the first word is one that a statement begins with."""
    found = _FIRST.match(text)
    return found is not None and found[1].lower() in _STARTS


def is_graphql_mutation(text: str) -> bool:
    """Return whether a text is a document of GraphQL with a mutation."""
    return _MUTATION.search(_GRAPHQL_TEXT.sub(" ", text)) is not None
