"""The one call of the model generator, and one formatting of everything at the end."""

from __future__ import annotations

__all__ = ("formatted", "models")

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kinwire_codegen.emit.package import OWNED


def models(schema: dict[str, Any], shared: str) -> dict[str, str]:
    """Return the modules with the classes of `schema`, by path below the package, unformatted.

    `shared` is the package that has the base class.
    """
    from datamodel_code_generator import generate
    from datamodel_code_generator.config import GenerateConfig
    from datamodel_code_generator.enums import DataModelType, InputFileType, TargetPydanticVersion
    from datamodel_code_generator.format import PythonVersion
    from datamodel_code_generator.parser import LiteralType

    config = GenerateConfig(
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        target_pydantic_version=TargetPydanticVersion.V2_14,
        base_class=f"{shared}.base.Message",
        custom_file_header=f'"""Messages. Generated {OWNED}."""',
        snake_case_field=True,
        remove_special_field_name_prefix=True,
        use_exact_imports=True,
        treat_dot_as_module=True,
        skip_root_model=True,
        keep_model_order=False,  # dependencies first: no name is used before it exists
        disable_future_imports=True,  # text for annotations costs pydantic a compilation each
        use_annotated=True,
        use_type_alias=True,
        strict_nullable=True,
        use_missing_sentinel=True,
        enum_field_as_literal=LiteralType.All,
        use_one_literal_as_default=True,
        use_schema_description=True,
        use_field_description=True,
        use_inline_field_description=True,
        use_single_line_docstring=True,
        disable_timestamp=True,
        strict_refs=True,
        allow_remote_refs=False,
        use_double_quotes=True,
        formatters=[],
    )
    found = generate(schema, config=config)
    if not isinstance(found, dict):
        raise TypeError(
            f"the model generator made one module, not one a protocol: {type(found).__name__}"
        )
    return {"/".join(path): text for path, text in found.items() if path[-1] != "__init__.py"}


def formatted(files: dict[str, str], package: str) -> dict[str, str]:
    """Return `files` with the Python ones sorted and laid out by ruff, in one run over all."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        python = [path for path in files if path.endswith(".py")]
        for path in python:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(files[path], encoding="utf-8")
        settings = ["--isolated", "--no-cache", "--quiet"]
        for setting in ("line-length=100", "target-version='py311'"):
            settings += ["--config", setting]
        isort = ["--config", "lint.isort.combine-as-imports=true"]
        isort += ["--config", f"lint.isort.known-first-party=['{package}']"]
        _ruff("check", "--fix-only", "--select", "I,F401", *settings, *isort, folder)
        _ruff("format", *settings, folder)
        return files | {path: (root / path).read_text(encoding="utf-8") for path in python}


def _ruff(*arguments: str) -> None:
    from ruff import find_ruff_bin  # type: ignore[import-untyped]

    command = [find_ruff_bin(), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"ruff {arguments[0]} failed on the generated code:\n{done.stderr or done.stdout}"
        )
