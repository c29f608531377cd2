"""Texts as HTML: what documents and guides say cannot become markup."""

from __future__ import annotations

import json

from kinwire_codegen.docs.reference.shapes import json_code
from kinwire_codegen.docs.site.inline import breakable, coloured, inline, plain
from tests.each import each


@each(
    ("text", "html"),
    [
        ("plain", "plain"),
        ("a < b & c", "a &lt; b &amp; c"),
        ("`a`", "<code>a</code>"),
        ("`a` or `b`", "<code>a</code> or <code>b</code>"),
        ("`a<b>`", "<code>a&lt;b&gt;</code>"),
        ("x > `_`", "x &gt; <code>_</code>"),
        ("**a**", "<strong>a</strong>"),
        ("[a](../../mcp/README.md#x)", '<a href="../../mcp/index.html#x">a</a>'),
        ("[a](../../mcp/types/B.md)", '<a href="../../mcp/types/B.html">a</a>'),
        ("[a](https://x.example/b.md)", '<a href="https://x.example/b.md">a</a>'),
        (
            "[`a/<b`](c_d.md#e), [f g](h.md): i",
            '<a href="c_d.html#e"><code>a/&lt;b</code></a>, <a href="h.html">f g</a>: i',
        ),
        ("[`a`*](b.md)", '<a href="b.html"><code>a</code>*</a>'),
        ("[a](javascript:alert)", "[a](javascript:alert)"),
        ("<script>", "&lt;script&gt;"),
        ("`notifications/a_b.c`", "<code>notifications/<wbr>a_<wbr>b.<wbr>c</code>"),
    ],
)
def test_inline_text_becomes_html(text: str, html: str) -> None:
    assert str(inline(text)) == html


def test_a_text_without_its_marks() -> None:
    assert plain("a `b` & [c](d.md)") == "a b & c"
    assert breakable("a/b") == "a/<wbr>b"


@each("value", ["a", "`b` [c](d.md)", "``b", "`", ["``` `[c](#)"]])
def test_json_is_code_whatever_signs_it_has(value: object) -> None:
    html = str(inline(json_code(value)))
    assert "<a" not in html
    assert plain(json_code(value)) == json.dumps(value)


def test_long_json_is_cut() -> None:
    assert json_code("abc", 3) == '`"ab …`'


def test_json_is_coloured_by_what_a_part_is() -> None:
    assert str(coloured("json", '{"a": ["<", -1.5e3, true]}')) == (
        '{<i class="nt">"a"</i>: [<i class="s2">"&lt;"</i>,'
        ' <i class="mi">-1.5e3</i>, <i class="kc">true</i>]}'
    )


def test_python_is_coloured_by_what_a_part_is() -> None:
    text = '@a.b\nasync def f():\n    """A # "b"."""\n    return "x" + \'y\'  # if 5\n'
    assert str(coloured("python", text)) == (
        '<i class="nd">@a.b</i>\n'
        '<i class="k">async</i> <i class="k">def</i> <i class="nf">f</i>():\n'
        '    <i class="s2">"""A # "b"."""</i>\n'
        '    <i class="k">return</i> <i class="s2">"x"</i>'
        ' + <i class="s2">\'y\'</i>  <i class="c1"># if 5</i>\n'
    )


def test_other_languages_are_known_or_left_as_they_are() -> None:
    assert '<i class="gp">$ </i>' in coloured("console", "$ ls <x>\nout")
    assert str(coloured("nonsense", "<x>")) == "&lt;x&gt;"
