"""Scripts inside arguments: sed, awk, modes of chmod, clients of databases."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kinwire.mgp.rules.validators.readonly_sql import sql_problem
from kinwire.mgp.rules.validators.shell_lexer import _LineReader
from kinwire.mgp.rules.validators.shell_scripts import (
    awk_problem,
    mode_problem,
    sql_client_problem,
)
from kinwire.mgp.rules.validators.shell_sed import sed_problem
from tests.each import each
from tests.runtime.fixtures_steps import steps

REFUSED: list[tuple[Callable[[str], str | None], list[str]]] = [
    (
        sed_problem,
        [
            *("1e id", "e", "s/a/b/e", "s/a/b/gw out", "w out", "r f", "R f", "W f", "1,2w x"),
            *("/a/e id", "\\,a,e id", "$!e", "{p;e id}", "p\ne id", "s/[/]/e/e", "s/a", "y/a", "s"),
            *(
                "5",
                "/a",
                "k",
                "F;e",
                "y/a/b/;e x",
                "a\\\ntext\ne id",
                "bx;e id",
                "s/a/b/m",
            ),
            *("1~2e", "/a/I,+3e id", "s[a[b[", "#n\ne id", "s\\a\\b\\", "1 , 2 e id"),
        ],
    ),
    (
        awk_problem,
        [
            *('BEGIN{system("id")}', 'BEGIN { system\\\n("id") }', '"id" | getline', "getline < f"),
            *(
                '{print | "sh"}',
                '{print > "f"}',
                '{print "a" > f}',
                '@load "x"',
                "@f()",
                '{print "/}" > "f"}',
            ),
            *('{print /"/ > "f"}', 'BEGIN{s="/inet/tcp/0/h/1"}', "\0", '{printf "x" | "id"}'),
        ],
    ),
    (
        mode_problem,
        ["777", "0777", "4755", "2755", "o+w", "a=rwx", "+s", "u+s", "g=s", "666", "ug+xs"],
    ),
    (
        sql_client_problem,
        [
            *("\\! id", ".shell id", "select 1;\n.system id", "system id", "copy t to program 'x'"),
            *("select load_extension('x')", "select 1 into outfile 'x'", ".read f", ".output f"),
        ],
    ),
]
ALLOWED: list[tuple[Callable[[str], str | None], list[str]]] = [
    (
        sed_problem,
        [
            *(
                "p",
                "1,5p",
                "$d",
                "/a/d",
                "s/a/b/g",
                "s/a/b/2p",
                "s|/usr|/opt|",
                "y/ab/xy/",
                "1!G;h;$!d",
            ),
            *(
                "/a/,/b/p",
                "n;d",
                "a text; e id",
                "1i\\\n  e id\\\n e id",
                ":a;N;$!ba;s/\\n/ /g",
                "{p;p}",
                "",
            ),
            *(
                "s/\\//x/",
                "\\,a,d",
                "s/[a-z]*/x/I",
                "=",
                "$!N",
                "1~2d",
                "2q",
                "/a/!d",
                "# e id",
                "5q1",
            ),
        ],
    ),
    (
        awk_problem,
        [
            *("{print $1}", "$3 > 5 {print $1}", '{print $1 " -> " $2}', "/a|b/", "NR==1 || NR==2"),
            *('{print "a|b"}', "{n[$1]++} END {for (k in n) print k, n[k]}", "/user@example/"),
        ],
    ),
    (mode_problem, ["644", "755", "+x", "u+w", "go-w", "u=rw,go=r", "1755", "a+r", "notes"]),
    (
        sql_client_problem,
        ["select 1", ".tables", ".schema t", "select 'a.b'", "select programs from t"],
    ),
]


def test_scripts_that_do_more_than_to_edit_text_are_refused() -> None:
    missed = [(rule.__name__, one) for rule, many in REFUSED for one in many if not rule(one)]
    falsely = [
        (rule.__name__, one, rule(one)) for rule, many in ALLOWED for one in many if rule(one)
    ]
    assert missed == []
    assert falsely == []


def read(text: str) -> object:
    return _LineReader(text).read()


HARD = ["a ", "'a' ", '"a"', '"\\$', "\\a", "{a,", "{a..b} ", ";", "$a", "#", "a{", "\u200b", "'"]


@each("piece", HARD)
def test_reading_a_command_line_takes_steps_in_proportion_to_its_length(piece: str) -> None:
    counts = [steps(partial(read, piece * size)) for size in (2**8, 2**10, 2**12)]
    assert counts[1] <= 4.2 * counts[0] + 100
    assert counts[2] <= 4.2 * counts[1] + 100


@each(
    ("rule", "piece"),
    [
        (sed_problem, "s/a/b/;"),
        (sed_problem, "/a"),
        (sed_problem, "{"),
        (sed_problem, "1,"),
        (sql_problem, "a 'b' "),
        (sql_problem, "select 1;"),
        (sql_problem, "/* "),
        (sql_problem, "("),
    ],
)
def test_reading_a_script_takes_steps_in_proportion_to_its_length(
    rule: Callable[[str], str | None], piece: str
) -> None:
    short, long = (steps(partial(rule, piece * size)) for size in (2**8, 2**10))
    assert long <= 4.2 * short + 100
