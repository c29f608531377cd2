"""Docstrings are read in three styles, and nothing is lost in any other."""

from __future__ import annotations

import pytest

from kinwire.mcp.functions.docstring import split_docstring
from tests.each import each

GOOGLE = """Add two numbers.

    They may be negative.

    Args:
        a (int): the first,
            in any base
        b: the second

    Returns:
        The sum.
    """

NUMPY = """Add two numbers.

    They may be negative.

    Parameters
    ----------
    a : int
        the first,
        in any base
    b
        the second

    Returns
    -------
    int
        The sum.
    """

REST = """Add two numbers.

    They may be negative.

    :param int a: the first,
        in any base
    :param b: the second
    :returns: The sum.
    """


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, REST], ids=["Google", "NumPy", "reST"])
def test_parameters_are_described_and_leave_the_text(docstring: str) -> None:
    text, parameters = split_docstring(docstring)
    assert parameters == {"a": "the first, in any base", "b": "the second"}
    assert text.startswith("Add two numbers.\n\nThey may be negative.\n\n")
    assert "The sum." in text
    assert "the first" not in text


@each(
    ("docstring", "text"),
    [
        pytest.param(None, "", id="no docstring"),
        pytest.param("Add.", "Add.", id="one line"),
        pytest.param("Args: a dozen of them", "Args: a dozen of them", id="a title in a sentence"),
        pytest.param("Parameters\nare many", "Parameters\nare many", id="a title without a rule"),
        pytest.param(
            "Add.\n\n    See also:\n        sub", "Add.\n\nSee also:\n    sub", id="other"
        ),
    ],
)
def test_text_without_parameters_stays_whole(docstring: str | None, text: str) -> None:
    assert split_docstring(docstring) == (text, {})
