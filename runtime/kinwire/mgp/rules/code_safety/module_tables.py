"""Modules of Python and what code may use of them (MGP 0.2.0 section 7.2).

Of the standard library the tables name what is allowed: a module that Python gets later is blocked
until it is added. Of packages of others they name those that run programs or read code.
"""

from __future__ import annotations

__all__ = (
    "COMPUTING",
    "CORE",
    "HARMFUL_PACKAGES",
    "NEVER",
    "ONLY",
    "SAFE",
    "SAME_NAME",
    "STANDARD_LIBRARY",
    "STAR",
    "SUBMODULES",
)

import sys
from typing import Final

STANDARD_LIBRARY: Final = frozenset(
    {
        *sys.stdlib_module_names,
        *("asynchat", "asyncore", "cgi", "cgitb", "crypt", "distutils", "imp", "lib2to3", "msilib"),
        *("nis", "nntplib", "nt", "ntpath", "ossaudiodev", "pipes", "posix", "pwd", "smtpd"),
        *("spwd", "telnetlib", "test", "uu", "winreg", "commands", "popen2", "__builtin__"),
        *("annotationlib", "compression", "xx", "idlelib"),
    }
)
"""The names of its modules: those of this Python, and those of earlier and later ones."""

COMPUTING: Final = frozenset(
    {
        *("__future__", "abc", "array", "asyncio", "base64", "binascii", "bisect", "calendar"),
        *("cmath", "collections", "colorsys", "concurrent", "contextlib", "contextvars", "copy"),
        *("csv", "dataclasses", "datetime", "decimal", "difflib", "email", "enum", "errno"),
        *("fractions", "functools", "graphlib", "hashlib", "heapq", "hmac", "html", "http", "io"),
        *("ipaddress", "itertools", "json", "keyword", "locale", "logging", "math", "mimetypes"),
        *("numbers", "operator", "os", "pathlib", "pprint", "queue", "random", "re", "reprlib"),
        *("sched", "secrets", "statistics", "string", "struct", "sys", "textwrap", "time"),
        *("tomllib", "traceback", "types", "typing", "unicodedata", "urllib", "uuid", "warnings"),
        *("weakref", "xml", "zlib", "zoneinfo"),
    }
)
"""Modules that compute, format and read: what the levels `strict` and `readonly` allow of the
standard library, of some of them only the members in `ONLY`."""

SAFE: Final = COMPUTING | {
    *("argparse", "ast", "atexit", "bz2", "codecs", "configparser", "filecmp", "fnmatch"),
    *("getopt", "getpass", "gettext", "glob", "gzip", "inspect", "lzma", "optparse", "platform"),
    *("plistlib", "quopri", "shlex", "sqlite3", "ssl", "stat", "stringprep", "tarfile"),
    *("tempfile", "threading", "token", "tokenize", "unittest", "wave", "zipfile"),
}
"""What the level `standard` allows of the standard library."""

CORE: Final = frozenset(
    {
        *("builtins", "__builtin__", "bltns", "code", "codeop", "ctypes", "gc", "imp", "importlib"),
        *("inspect", "marshal", "multiprocessing", "nt", "os", "pdb", "pickle", "posix", "pty"),
        *("pkgutil", "runpy", "shutil", "socket", "subprocess", "sys", "types", "linecache"),
    }
)
"""Modules that must not be reached as an attribute of another module."""

HARMFUL_PACKAGES: Final = frozenset(
    {
        *("IPython", "RestrictedPython", "asteval", "cffi", "cloudpickle", "dill", "docker"),
        *(
            "execnet",
            "fabric",
            "gdb",
            "ipykernel",
            "invoke",
            "joblib",
            "mako",
            "jsonpickle",
            "keyboard",
        ),
        *("numexpr", "paramiko", "pexpect", "pip", "pkg_resources", "plumbum", "psutil"),
        *("ptyprocess", "pyautogui", "pynput", "pythoncom", "pywintypes", "setuptools", "sh"),
        *("simpleeval", "win32api", "win32com", "win32con", "winpty", "wmi", "xonsh", "_pytest"),
    }
)
"""Packages of others that run programs, load native code, or turn text or bytes into code."""

_OS = frozenset(
    {
        *("DirEntry", "F_OK", "PathLike", "R_OK", "W_OK", "X_OK", "access", "altsep", "cpu_count"),
        *("curdir", "defpath", "devnull", "environ", "environb", "error", "extsep", "fsdecode"),
        *("fsencode", "fspath", "get_exec_path", "get_terminal_size", "getcwd", "getcwdb"),
        *("getegid", "getenv", "getenvb", "geteuid", "getgid", "getgroups", "getloadavg"),
        *("getlogin", "getpid", "getppid", "getuid", "linesep", "listdir", "lstat", "name"),
        *("pardir", "path", "pathsep", "process_cpu_count", "readlink", "scandir", "sep", "stat"),
        *("stat_result", "strerror", "times", "uname", "urandom", "walk"),
    }
)
_SYS = frozenset(
    {
        *("api_version", "argv", "byteorder", "copyright", "exc_info", "executable", "exit"),
        *("flags", "float_info", "getdefaultencoding", "getfilesystemencoding", "getrefcount"),
        *("getrecursionlimit", "getsizeof", "hash_info", "hexversion", "implementation"),
        *("int_info", "intern", "is_finalizing", "maxsize", "maxunicode", "platform", "prefix"),
        *("stderr", "stdin", "stdout", "version", "version_info", "winver"),
    }
)
_INSPECT = frozenset(
    {
        *("BoundArguments", "Parameter", "Signature", "cleandoc", "getdoc", "isabstract"),
        *("isasyncgen", "isasyncgenfunction", "isawaitable", "isbuiltin", "isclass", "iscoroutine"),
        *("iscoroutinefunction", "isfunction", "isgenerator", "isgeneratorfunction", "ismethod"),
        *("ismodule", "isroutine", "signature"),
    }
)
_IO = frozenset(
    {
        *("BytesIO", "StringIO", "TextIOBase", "IOBase", "RawIOBase", "BufferedIOBase", "open"),
        *("SEEK_SET", "SEEK_CUR", "SEEK_END", "UnsupportedOperation", "DEFAULT_BUFFER_SIZE"),
        *("TextIOWrapper", "BufferedReader"),
    }
)
_CODECS = frozenset(
    {
        *("BOM_UTF8", "BOM_UTF16", "decode", "encode", "getdecoder", "getencoder", "lookup"),
        *("getincrementaldecoder", "getincrementalencoder", "open"),
    }
)
_UNITTEST = frozenset(
    {
        *("IsolatedAsyncioTestCase", "TestCase", "expectedFailure", "main", "skip", "skipIf"),
        *("SkipTest", "skipUnless"),
    }
)

ONLY: Final[dict[str, frozenset[str]]] = {
    "os": _OS,
    "sys": _SYS,
    "inspect": _INSPECT,
    "io": _IO,
    "codecs": _CODECS,
    "unittest": _UNITTEST,
    "types": frozenset(
        {
            *("DynamicClassAttribute", "EllipsisType", "GenericAlias", "MappingProxyType"),
            *("NoneType", "NotImplementedType", "SimpleNamespace", "UnionType"),
        }
    ),
    "atexit": frozenset({"register", "unregister"}),
    "concurrent": frozenset({"futures"}),
    "http": frozenset({"HTTPMethod", "HTTPStatus", "client", "cookies"}),
    "urllib": frozenset({"error", "parse", "request"}),
    "gettext": frozenset({"gettext", "ngettext", "pgettext", "npgettext"}),
    "yaml": frozenset(
        {
            *("SafeDumper", "SafeLoader", "YAMLError", "dump", "safe_dump", "safe_dump_all"),
            *("safe_load", "safe_load_all"),
        }
    ),
}
"""Modules of which only these members may be used."""

_ASYNCIO = frozenset(
    {
        *("create_subprocess_exec", "create_subprocess_shell", "open_connection", "start_server"),
        *("open_unix_connection", "start_unix_server", "subprocess", "SubprocessTransport"),
        *("SubprocessProtocol", "unix_events", "windows_events", "windows_utils", "base_events"),
    }
)

_TYPING = frozenset(
    {"ForwardRef", "evaluate_forward_ref", "get_args", "get_type_hints", "stdlib_re"}
)

NEVER: Final[dict[str, frozenset[str]]] = {
    "asyncio": _ASYNCIO,
    "argparse": frozenset({"FileType"}),
    "concurrent.futures": frozenset({"ProcessPoolExecutor", "process"}),
    "dataclasses": frozenset({"make_dataclass"}),
    "http": frozenset({"server", "cookiejar"}),
    "jinja2": frozenset({"Environment", "Template"}),  # read attributes by name; there is a sandbox
    "logging": frozenset({"FileHandler", "config", "handlers"}),
    "numpy": frozenset({"load", "fromfile", "memmap", "ctypeslib", "f2py", "distutils"}),
    "pandas": frozenset({"read_pickle", "to_pickle", "eval"}),
    "string": frozenset({"Formatter"}),
    "pydantic": frozenset({"create_model", "parse_obj_as", "v1"}),
    "sympy": frozenset({"sympify", "S", "parse_expr", "parsing", "lambdify", "preview"}),
    "tarfile": frozenset({"bltn_open", "main"}),
    "torch": frozenset({"load", "save", "package", "jit", "hub"}),
    "typing": _TYPING,
    "typing_extensions": _TYPING,
    "urllib.request": frozenset({"urlretrieve", "URLopener", "FancyURLopener", "FileHandler"}),
    "xml.sax": frozenset({"make_parser"}),
    "zipfile": frozenset({"main"}),
}
"""Members of modules that are otherwise allowed, also at any depth below the module.

They run programs, evaluate text, or write files."""

SAME_NAME: Final = frozenset(
    {
        *("collections.abc", "concurrent.futures", "datetime.time", "email.parser", "html.parser"),
        *("os.path", "os.stat", "sys.platform", "xml.parsers"),
    }
)
"""Members of the standard library that share the name of a module and are not that module, and
submodules that may be used."""

SUBMODULES: Final[dict[str, frozenset[str]]] = {
    "asyncio": frozenset(
        {
            *("base_futures", "base_tasks", "coroutines", "constants", "events", "exceptions"),
            *("format_helpers", "futures", "graph", "locks", "log", "mixins", "proactor_events"),
            *("protocols", "queues", "runners", "selector_events", "sslproto", "staggered"),
            *("streams", "taskgroups", "tasks", "threads", "timeouts", "tools", "transports"),
            *("trsock", "base_subprocess", "exceptions_mod"),
        }
    ),
    "collections": frozenset({"abc"}),
    "concurrent": frozenset({"futures"}),
    "concurrent.futures": frozenset({"thread", "interpreter"}),
    "email": frozenset(
        {
            *("base64mime", "charset", "contentmanager", "encoders", "errors", "feedparser"),
            *("generator", "header", "headerregistry", "iterators", "message", "mime", "parser"),
            *("policy", "quoprimime", "utils"),
        }
    ),
    "html": frozenset({"entities", "parser"}),
    "http": frozenset({"client", "cookies"}),
    "json": frozenset({"decoder", "encoder", "scanner", "tool"}),
    "os": frozenset({"path"}),
    "sqlite3": frozenset({"dbapi2", "dump"}),
    "urllib": frozenset({"error", "parse", "request", "response", "robotparser"}),
    "xml": frozenset({"dom", "etree", "parsers", "sax"}),
    "xml.dom": frozenset(
        {"domreg", "expatbuilder", "minicompat", "minidom", "pulldom", "xmlbuilder"}
    ),
    "xml.parsers": frozenset({"expat"}),
    "xml.sax": frozenset({"expatreader", "handler", "saxutils", "xmlreader"}),
    "xml.etree": frozenset({"ElementTree", "ElementInclude", "ElementPath", "cElementTree"}),
}
"""The submodules of packages of the standard library: values of these names are modules."""

STAR: Final = frozenset(
    {
        *("abc", "bisect", "cmath", "collections", "datetime", "decimal", "enum", "fractions"),
        *("heapq", "itertools", "math", "random", "statistics", "__future__"),
        *("copy", "csv", "dataclasses", "functools", "json", "re", "string", "time", "typing"),
    }
)
"""Modules of the standard library from which everything may be imported."""
