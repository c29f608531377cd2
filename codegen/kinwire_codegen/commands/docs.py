"""`kinwire docs`: builds, serves or checks the site."""

from __future__ import annotations

__all__ = ("DocsCommand",)

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kinwire_codegen.commands.common import (
    SCHEMA,
    add_schema,
    count,
    project_of,
    refuse,
    usage,
)

if TYPE_CHECKING:
    from kinwire_codegen.docs.site.pages import SiteSource
    from kinwire_codegen.load.document import Documents

GUIDES = Path("docs")
PACKAGE = "kinwire"
OUT = Path("site")


class DocsCommand:
    """Builds the site, serves it with a reload on each save, or checks it."""

    name = "docs"
    summary = "build the site of the documents and guides"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {
        0: "success; also Ctrl-C while it serves",
        1: "problems were found",
    }
    examples = (
        "kinwire docs build --out site",
        "kinwire docs serve --port 8000",
        "kinwire docs check",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        text = "build: write the site; serve: on this machine, with a reload on each save; check:"
        text += " links, anchors, descriptions and pages without a link to them"
        parser.add_argument("action", choices=("build", "serve", "check"), help=text)
        add_schema(parser)
        text = f"folder of the site (default: {OUT}; check: a new build in memory)"
        parser.add_argument("--out", type=Path, metavar="DIR", help=text)
        text = f"folder of Markdown (default: {GUIDES} next to {SCHEMA})"
        parser.add_argument("--guides", type=Path, metavar="DIR", help=text)
        text = f"package whose Python interface is shown (default: {PACKAGE}, with its own guides)"
        parser.add_argument("--package", metavar="NAME", help=text)
        text = "add a page of changes since a commit, tag, branch or folder; repeatable"
        parser.add_argument("--against", action="append", metavar="REF|DIR", default=[], help=text)
        parser.add_argument("--title", metavar="TEXT", help="title of the site")
        text = "address at which it will be published; a sitemap and 404.html need it"
        parser.add_argument("--base-url", default="", metavar="URL", help=text)
        text = "a version to switch to, and its address; repeatable, the first is this one"
        parser.add_argument(
            "--version", action="append", metavar="NAME=PLACE", default=[], help=text
        )
        text = "markdown: the pages as Markdown, for other site generators"
        parser.add_argument("--format", choices=("html", "markdown"), default="html", help=text)
        parser.add_argument("--port", type=int, default=8000, help="port of serve (default: 8000)")

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0 on success, 1 on findings, 2 on wrong usage."""
        from kinwire_codegen.docs.site.pages import PackageError
        from kinwire_codegen.load.findings import DocumentError
        from kinwire_codegen.load.sources import SourceError

        guides = arguments.guides
        if guides is not None and not guides.is_dir():
            return usage(f"{guides}: there is no such folder.", "Check the path in --guides.")
        if any("=" not in one for one in arguments.version):
            return usage("a version is written as NAME=PLACE.", "Use --version 2.0=../2.0/.")
        try:
            return _ACTIONS[arguments.action](arguments)
        except DocumentError as error:
            return refuse(error)
        except SourceError as error:
            return usage(str(error), error.hint)
        except PackageError as error:
            return usage(str(error), error.hint)
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            where = error.filename or _out(arguments)
            hint = "Choose another --out, or correct the path."
            return usage(f"{where}: {error.strerror}.", hint)


def _documents(folder: Path | None) -> Documents:
    """Return documents that are free of findings."""
    from kinwire_codegen.lint import lint
    from kinwire_codegen.load.findings import DocumentError
    from kinwire_codegen.load.loading import load_documents

    documents = load_documents(folder)
    findings = lint(documents)
    if findings:
        raise DocumentError(findings, folder)
    return documents


def _out(arguments: Namespace) -> Path:
    out: Path | None = arguments.out
    return out or (project_of(arguments).root or Path()) / OUT


def _guides(arguments: Namespace) -> Path | None:
    """Return the folder of the guides: what --guides names, else that of the project."""
    root, named = project_of(arguments).root, arguments.guides
    found: Path | None = root / GUIDES if named is None and root is not None else named
    return found if found is not None and found.is_dir() else None


def _base_url(arguments: Namespace) -> str:
    base: str = arguments.base_url
    return base if not base or base.endswith("/") else f"{base}/"


def _source(arguments: Namespace) -> SiteSource:
    """Return the sources of the site."""
    from kinwire_codegen.docs.site.pages import SiteSource
    from kinwire_codegen.load.sources import open_source

    folder = project_of(arguments).schema
    documents = _documents(folder)
    own = arguments.guides is None and _guides(arguments) is not None
    package = arguments.package or (PACKAGE if own and "mcp" in documents.chosen else None)
    olds = [
        (one, open_source(one, location=folder or SCHEMA).documents) for one in arguments.against
    ]
    versions = [tuple(one.split("=", 1)) for one in arguments.version]
    return SiteSource(
        documents=documents,
        guides=_guides(arguments),
        package=package,
        olds=olds,
        rules=package == PACKAGE,
        title=arguments.title or ("kinwire" if package == PACKAGE else "Reference"),
        base_url=_base_url(arguments),
        version=versions[0][0] if versions else "",
        versions=[(name, place) for name, place in versions],
    )


def _files(source: SiteSource, form: str) -> Mapping[str, bytes]:
    from kinwire_codegen.docs.site.build import markdown_files, site_files

    return markdown_files(source) if form == "markdown" else site_files(source)


def _build(arguments: Namespace) -> int:
    from kinwire_codegen.docs.site.writing import write_site

    begun, spent = time.perf_counter(), time.process_time()
    out = _out(arguments)
    files = _files(_source(arguments), arguments.format)
    changed = write_site(files, out)
    pages = sum(path.endswith(".html" if arguments.format == "html" else ".md") for path in files)
    size = sum(map(len, files.values())) / 1e6
    took = time.perf_counter() - begun
    print(
        f"{out}: {count(pages, 'page')}, {count(len(files), 'file')}, {size:.1f} MB,"
        f" {changed} changed ({took:.1f} s, {time.process_time() - spent:.1f} s of CPU)"
    )
    return 0


def _serve(arguments: Namespace) -> int:
    from kinwire_codegen.docs.site.serving import serve

    try:
        watched = partial(_watched, arguments)
        serve(lambda: _files(_source(arguments), "html"), watched, arguments.port)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    return 0


def _watched(arguments: Namespace) -> Iterator[Path]:
    """Yield the files that the site is made from, as they are now."""
    from kinwire_codegen.docs.site.guides import Guides

    folder = project_of(arguments).schema
    guides = _guides(arguments)
    if folder is not None:
        yield from folder.glob("*.json")
    if guides is not None:
        yield from Guides(guides).paths
    yield from (Path(__file__).parents[1] / "templates" / "site").glob("*.j2")


def _check(arguments: Namespace) -> int:
    from kinwire_codegen.docs.site.check import check_site, count_places
    from kinwire_codegen.docs.site.writing import read_site
    from kinwire_codegen.load.findings import DocumentError

    if arguments.out is None:
        source = _source(arguments)
        files, documents = _files(source, "html"), source.documents
    elif arguments.out.is_dir():
        files, documents = read_site(arguments.out), _documents(project_of(arguments).schema)
    else:
        return usage(f"{arguments.out}: there is no site.", "Build it with kinwire docs build.")
    findings = check_site(files, documents, _base_url(arguments))
    if findings:
        raise DocumentError(findings, documents.folder)
    pages = sum(path.endswith(".html") for path in files)
    places = count(count_places(documents), "place")
    print(f"{count(pages, 'page')} checked for {places} of the documents, no problems found")
    return 0


_ACTIONS = {"build": _build, "serve": _serve, "check": _check}
