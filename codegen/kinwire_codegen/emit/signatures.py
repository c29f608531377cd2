"""What a generated class takes, read from its source, so that stubs repeat it exactly."""

from __future__ import annotations

__all__ = ("Models", "Parameter", "argument_name", "read_models")

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import cleandoc
from textwrap import indent

from kinwire_codegen.load.names import docstring

TAKEN = {"self", "methods", "tools", "params"}  # names that mean something else inside a stub


@dataclass(frozen=True, slots=True)
class Parameter:
    """One member of a message, as a keyword argument of a stub."""

    name: str
    """The attribute of the class."""
    argument: str
    """The name in the stub's signature."""
    annotation: str
    default: str | None
    """The source of the default; None where the member is required."""
    description: str | None

    @property
    def sends_only_if_given(self) -> bool:
        """Whether it has a default of the document, which only the other end applies."""
        is_constant = self.annotation == f"Literal[{self.default}]"
        return self.default not in (None, "None", "MISSING") and not is_constant

    @property
    def declaration(self) -> str:
        """The parameter as it stands in a signature."""
        if self.sends_only_if_given:
            return f"{self.argument}: {self.annotation} | MISSING = MISSING"
        return f"{self.argument}: {self.annotation}" + (
            f" = {self.default}" if self.default is not None else ""
        )

    @property
    def passed(self) -> str:
        """The parameter as the stub passes it on."""
        plain = f"{self.name}={self.argument}"
        return f"**given({plain})" if self.sends_only_if_given else plain


@dataclass(frozen=True)
class Models:
    """The modules of models of one protocol, as `models.py` writes them."""

    homes: dict[str, str]
    """The module of everything that they define, in order."""
    imports: dict[str, str]
    """Imported name -> the statement that brings it."""
    classes: dict[str, tuple[Parameter, ...]]
    sources: dict[str, str]
    """The source of each module, in which the docstring of each class lists its fields."""

    def imports_for(self, parameters: tuple[Parameter, ...], models: str) -> set[str]:
        """Return the import statements that annotations and defaults of `parameters` need."""
        found: set[str] = set()
        for parameter in parameters:
            if parameter.sends_only_if_given:
                found.add("from pydantic_core import MISSING")
            default = None if parameter.sends_only_if_given else parameter.default
            for source in (parameter.annotation, default or "None"):
                for node in ast.walk(ast.parse(source, mode="eval")):
                    if isinstance(node, ast.Name) and node.id in self.homes:
                        found.add(f"from {models} import {node.id}")
                    elif isinstance(node, ast.Name) and node.id in self.imports:
                        found.add(self.imports[node.id])
        return found


def read_models(sources: Mapping[str, str]) -> Models:
    """Return what modules define: their sources by full name."""
    found = Models({}, {}, {}, {})
    for name, source in sources.items():
        _read(found, name, source)
    return found


def _read(found: Models, name: str, source: str) -> None:
    body = ast.parse(source).body
    for node in body:
        if isinstance(node, ast.ImportFrom):
            # Dots count from the module itself: one is its package.
            home = name.split(".")[: -node.level] if node.level else []
            source_module = ".".join([*home, *([node.module] if node.module else [])])
            for alias in node.names:
                spelled = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
                found.imports[alias.asname or alias.name] = f"from {source_module} import {spelled}"
        elif isinstance(node, ast.ClassDef):
            found.homes[node.name] = name
            found.classes[node.name] = tuple(_parameters(node))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.homes[node.targets[0].id] = name
    found.sources[name] = _with_attributes(source, body, found.classes)


def _with_attributes(
    source: str, body: list[ast.stmt], classes: dict[str, tuple[Parameter, ...]]
) -> str:
    lines = [f"{line}\n" for line in source.split("\n")]  # the parser knows no other ends
    for node in reversed(body):
        if isinstance(node, ast.ClassDef):
            first, text = node.body[0], _docstring(node.body[0])
            described = [one for one in classes[node.name] if one.description is not None]
            if text is not None and described:
                lines[first.lineno - 1 : first.end_lineno] = [_listing(text, described)]
    return "".join(lines).removesuffix("\n")


def _listing(text: str, described: list[Parameter]) -> str:
    """Return the lines of a docstring that ends with the fields."""
    fields = (f"{one.name}: {_indented(cleandoc(one.description or ''))}" for one in described)
    listed = "\n".join(f"    {field}" for field in fields)
    whole = docstring(f"{cleandoc(text)}\n\nAttributes:\n{listed}")
    return indent(f'"""{whole}\n"""\n', "    ")


def _indented(text: str) -> str:
    return text.replace("\n", "\n        ")


def argument_name(name: str) -> str:
    """Return what an attribute is called as an argument of a stub."""
    return f"{name}_" if name in TAKEN else name


def _parameters(node: ast.ClassDef) -> list[Parameter]:
    found = []
    for index, statement in enumerate(node.body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            default = None if statement.value is None else ast.unparse(statement.value)
            following = node.body[index + 1] if index + 1 < len(node.body) else None
            annotation = ast.unparse(_bare(statement.annotation))
            found.append(
                Parameter(name, argument_name(name), annotation, default, _docstring(following))
            )
    return found


def _bare(annotation: ast.expr) -> ast.expr:
    """Return what type checkers look at: `X` of `Annotated[X, Field(...)]`, and of text."""
    match annotation:
        case ast.Constant(value=str() as text):
            annotation = ast.parse(text, mode="eval").body
    return _without_marks(annotation)


def _without_marks(node: ast.expr) -> ast.expr:
    match node:
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[first, *_])):
            return _without_marks(first)
        case ast.Subscript():
            node.slice = _without_marks(node.slice)
        case ast.BinOp():
            node.left, node.right = _without_marks(node.left), _without_marks(node.right)
        case ast.Tuple():
            node.elts = [*map(_without_marks, node.elts)]
    return node


def _docstring(node: ast.stmt | None) -> str | None:
    match node:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return text
    return None
