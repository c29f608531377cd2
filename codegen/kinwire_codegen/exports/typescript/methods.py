"""`NAME.methods.d.ts`: the types of methods, tools, augments and errors by their wire names."""

from __future__ import annotations

__all__ = ("methods_file",)

from collections.abc import Iterable, Iterator
from typing import Any

from kinwire_codegen.exports.messages import served_methods
from kinwire_codegen.exports.typescript.comments import comment, header
from kinwire_codegen.exports.typescript.constants import named_values
from kinwire_codegen.exports.typescript.expressions import (
    TypeNames,
    literal,
    property_key,
    tuple_of,
)
from kinwire_codegen.load.augmented import target_of
from kinwire_codegen.load.document import Document, Documents, resolve
from kinwire_codegen.load.shape_reading import ShapeReader
from kinwire_codegen.load.shapes import NamedShape, ObjectShape

Row = dict[str, Any]

_HELPERS = """\
export type MethodName = keyof Methods;
export type ParamsOf<M extends MethodName> = Methods[M]["params"];
/** What the receiver answers; `void` for a notification. */
export type ResultOf<M extends MethodName> = Methods[M]["result"];
/** The methods that one end sends. */
export type SentBy<End extends "client" | "server"> = {
  [M in MethodName]: Methods[M]["from"] extends End | "both" ? M : never;
}[MethodName];
/** The methods that one end receives. */
export type ReceivedBy<End extends "client" | "server"> = SentBy<
  End extends "client" ? "server" : "client"
>;
/** A function for each method that one end receives. */
export type Handlers<End extends "client" | "server"> = {
  [M in ReceivedBy<End>]: (params: ParamsOf<M>) => ResultOf<M> | Promise<ResultOf<M>>;
};
/** The params of a message: optional if all their fields are, absent if the method takes none. */
export type WithParams<P> = [P] extends [undefined]
  ? { params?: undefined }
  : {} extends P
    ? { params?: P }
    : { params: P };
/** A request as it is on the wire. */
export type RequestOf<M extends MethodName> = {
  [K in M]: Methods[K]["kind"] extends "request" | "either"
    ? { jsonrpc: "2.0"; id: string | number; method: K } & WithParams<ParamsOf<K>>
    : never;
}[M];
/** A notification as it is on the wire. */
export type NotificationOf<M extends MethodName> = {
  [K in M]: Methods[K]["kind"] extends "notification" | "either"
    ? { jsonrpc: "2.0"; method: K; id?: never } & WithParams<ParamsOf<K>>
    : never;
}[M];
/** A response without an error as it is on the wire. */
export type ResponseOf<M extends MethodName> = {
  jsonrpc: "2.0";
  id: string | number;
  result: ResultOf<M>;
};
"""


def methods_file(documents: Documents, document: Document, reader: ShapeReader) -> str:
    """Return the file with the method table of a document."""
    writer = _MethodTableWriter(documents, document, reader)
    parts = [part for part in writer.parts() if part]
    imports = writer.names.imports()
    head = [header(document, "Methods and errors")]
    return "\n".join([*head, *(["\n".join(imports) + "\n"] if imports else []), *parts])


class _MethodTableWriter:
    def __init__(self, documents: Documents, document: Document, reader: ShapeReader) -> None:
        self._documents = documents
        self._document = document
        self._reader = reader
        self.names = TypeNames(documents, None)

    def parts(self) -> Iterator[str]:
        """Yield the declarations; all that is declared as a value is in `NAME.methods.js`."""
        methods = served_methods(self._document)
        if methods:
            yield _map("Methods", "The methods by their names.", map(self._method, methods))
            yield _HELPERS
        tools = self._document.table("tools").items()
        if tools:
            yield _map("Tools", "The tools by their names.", map(self._tool, tools))
        if self._document.augments:
            what = "Fields that are added to messages of other protocols."
            yield _map("Augments", what, self._augments())
        if methods:
            yield (
                "/** What a program needs to know of a method when it runs. */\n"
                "export declare const methods: {\n"
                "  readonly [M in MethodName]: {\n"
                '    readonly kind: Methods[M]["kind"];\n'
                '    readonly from: Methods[M]["from"];\n'
                "    /** The capability that must be negotiated. */\n"
                "    readonly gate?: string;\n"
                "    /** The first name of the method, if this is another one. */\n"
                "    readonly aliasOf?: MethodName;\n"
                "  };\n};\n"
            )
        yield self._error_data()
        yield self._errors()
        yield self._enums()

    def _type(self, text: str) -> str:
        return self.names.of(resolve(text, self._document.name))

    def _method(self, item: tuple[str, Row]) -> str:
        wire, row = item
        fields = [
            f"kind: {literal(row['kind'])}",
            f"from: {literal(row['from'])}",
            f"params: {self._params(row)}",
            f"result: {self._type(row['result']) if 'result' in row else 'void'}",
            f"errors: {_errors_of(row)}",
        ]
        extra = ("partialResult", "registrationOptions")
        fields += [f"{key}: {self._type(row[key])}" for key in extra if key in row]
        if "registrationMethod" in row:
            fields.append(f"registrationMethod: {literal(row['registrationMethod'])}")
        return _entry(wire, row, fields)

    def _params(self, row: Row) -> str:
        if "params" not in row:
            return "undefined"
        if row.get("paramsBy") == "position":
            named = NamedShape(resolve(row["params"], self._document.name))
            shape = self._reader.follow(named)
            if isinstance(shape, ObjectShape):
                return tuple_of(shape, self.names, self._reader)
        return self._type(row["params"])

    def _tool(self, item: tuple[str, Row]) -> str:
        name, row = item
        fields = [
            f"arguments: {self._type(row['params'])}",
            f"result: {self._type(row['result'])}",
            f"errors: {_errors_of(row)}",
        ]
        return _entry(name, row, fields)

    def _augments(self) -> Iterator[str]:
        """Yield for each message that gets fields an object with those fields."""
        fields: dict[str, list[str]] = {}
        for row in self._document.augments:
            target = target_of(self._document, self._documents, row["to"])
            if target is None:
                raise ValueError(f"lint should have refused this target: {row['to']}")
            text = f"    {property_key(row['member'])}?: {self._type(row['schema']['$ref'])};\n"
            said = comment({}, "    ", text=row["summary"])
            fields.setdefault(target.label, []).append(said + text)
        for label, lines in fields.items():
            yield f"  {literal(label)}: {{\n{''.join(lines)}  }};\n"

    def _error_data(self) -> str:
        rows = [
            f"  {name}: {self._type(row['data'])};\n"
            for name, row in self._document.content["errors"].items()
            if "data" in row
        ]
        return _map("ErrorData", "The types of the data of errors.", rows) if rows else ""

    def _errors(self) -> str:
        rows = (
            f"{comment(row, '  ')}  readonly {name}: "
            f"{{ readonly code: {row['code']}; readonly message: {literal(row['message'])} }};\n"
            for name, row in self._document.content["errors"].items()
        )
        what = "/** The errors by their names. */\n"
        return f"{what}export declare const errors: {{{_lines(rows)}}};\n"

    def _enums(self) -> str:
        enums = []
        for name, values in named_values(self._document).items():
            rows = "".join(
                f"{comment(one.node, '    ')}    readonly {one.name}: {one.value};\n"
                for one in values
            )
            enums.append(f"  readonly {name}: {{\n{rows}  }};\n")
        if not enums:
            return ""
        what = "/** The names of integers. */\n"
        return f"{what}export declare const enums: {{{_lines(enums)}}};\n"


def _entry(name: str, row: Row, fields: list[str]) -> str:
    """Return a method or a tool with its comment."""
    text = " ".join(filter(None, (row["summary"], row.get("description"))))
    said = comment(row, "  ", text=f"{text} Section: {row['section']}.")
    lines = "".join(f"    {field};\n" for field in fields)
    return f"{said}  {literal(name)}: {{\n{lines}  }};\n"


def _errors_of(row: Row) -> str:
    return " | ".join(map(literal, row.get("errors", ()))) or "never"


def _map(name: str, what: str, rows: Iterable[str]) -> str:
    return f"/** {what} */\nexport type {name} = {{{_lines(rows)}}};\n"


def _lines(rows: Iterable[str]) -> str:
    text = "".join(rows)
    return f"\n{text}" if text else ""
