"""Names and attributes of Python that code must not use (MGP 0.2.0 section 7.2).

Special names are blocked unless they are listed as harmless: what Python adds later is blocked too.
"""

from __future__ import annotations

__all__ = (
    "ALIAS_ONLY_CALLED",
    "BLOCKED_BUILTINS",
    "BY_NAME",
    "CORE_ATTRIBUTES",
    "FILE_METHODS",
    "FILE_OBJECTS",
    "INTERNALS",
    "NAME_OF_CLASS",
    "PROCESS_METHODS",
    "STORED_ATTRIBUTES",
    "is_blocked_attribute",
    "is_internal_string",
    "is_mangled",
    "is_readable_special_name",
    "is_special",
    "is_writable_special_name",
)

import re
from typing import Final

BLOCKED_BUILTINS: Final = frozenset(
    {
        *("__import__", "breakpoint", "compile", "copyright", "credits", "delattr", "eval", "exec"),
        *("execfile", "get_ipython", "globals", "help", "license", "locals", "reload", "setattr"),
        *("vars",),
    }
)
"""Functions that run text, change or show the variables of other code, or start something."""

ALIAS_ONLY_CALLED: Final = frozenset({"getattr", "open"})
"""Functions whose arguments are checked, and which therefore must be called by their own name."""

BY_NAME: Final = frozenset({"attrgetter", "methodcaller"})
"""Functions that read attributes by name; must be called by their own name too."""

INTERNALS: Final = frozenset(
    {
        *("gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code", "cr_await"),
        *("cr_origin", "ag_frame", "ag_code", "ag_await", "tb_frame", "tb_next", "tb_lasti"),
        *("f_back", "f_builtins", "f_code", "f_generator", "f_globals", "f_lasti", "f_locals"),
        *("f_trace", "f_trace_lines", "f_trace_opcodes", "co_code", "co_consts", "co_names"),
        *("co_varnames", "co_cellvars", "co_freevars", "co_filename", "func_globals", "func_code"),
        *("func_closure", "func_defaults", "func_dict", "im_func", "im_self", "im_class", "mro"),
        *("cell_contents", "get_type_hints", "settrace", "setprofile", "_getframe"),
        *("currentframe", "walk_stack", "walk_tb", "_create_fn", "_evaluate", "_eval_type"),
    }
)
"""Fields of frames, code, generators, functions and classes, and functions that give them."""

PROCESS_METHODS: Final = frozenset(
    {
        *("Popen", "check_call", "check_output", "create_subprocess_exec", "exec_module"),
        *("create_subprocess_shell", "execl", "execle", "execlp", "execlpe", "execv", "execve"),
        *("execvp", "execvpe", "fork", "forkpty", "getoutput", "getstatusoutput", "import_module"),
        *("load_module", "popen", "popen2", "popen3", "popen4", "posix_spawn", "posix_spawnp"),
        *("spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe"),
        *("startfile", "subprocess_exec", "subprocess_shell", "system", "run_path", "run_module"),
        *("create_server", "create_unix_server", "create_datagram_endpoint", "create_connection"),
        *("create_unix_connection", "connect_read_pipe", "connect_write_pipe", "killpg"),
        *("load_extension", "enable_load_extension", "loadTestsFromName", "loadTestsFromNames"),
        *("read_pickle", "to_pickle"),
    }
)
"""Names of functions and methods that start programs, load code or open sockets."""

FILE_METHODS: Final = frozenset(
    {
        *("extractall", "hardlink_to", "lchmod", "link_to", "removedirs", "rmdir", "rmtree"),
        *("symlink_to", "truncate", "unlink", "write_bytes", "write_text", "copytree", "copyfile"),
        *("urlretrieve", "makedirs", "mkfifo", "mknod", "chown", "lchown"),
    }
)
"""Names of methods that change files, and have no other usual meaning."""

FILE_OBJECTS: Final = frozenset({"detach", "raw"})
"""Attributes of files that give the object below, whose class opens other files."""

CORE_ATTRIBUTES: Final = frozenset(
    {
        *("builtins", "__builtin__", "bltns", "ctypes", "importlib", "marshal", "multiprocessing"),
        *("os", "posix", "pty", "runpy", "shutil", "subprocess", "sys", "linecache", "pkgutil"),
    }
)
"""Names of modules that must not be read from anything: modules hold other modules."""

NAME_OF_CLASS: Final = frozenset({"__name__", "__qualname__", "__doc__", "__module__"})
"""What may be read of `__class__`."""

_READ_NAMES: Final = frozenset(
    {
        *(
            "__all__",
            "__author__",
            "__copyright__",
            "__date__",
            "__debug__",
            "__doc__",
            "__email__",
        ),
        *("__file__", "__license__", "__name__", "__status__", "__title__", "__version__"),
    }
)

_UNBOUND_NAMES: Final = frozenset(
    {
        *("__annotations__", "__base__", "__bases__", "__build_class__", "__builtins__"),
        *("__cached__", "__class__", "__closure__", "__code__", "__dict__", "__globals__"),
        *("__import__", "__loader__", "__mro__", "__package__", "__path__", "__spec__"),
        *("__subclasses__", "__annotate__", "__conditional_annotations__"),
    }
)

_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or"),
)
_OPERATORS: Final = frozenset(
    f"__{prefix}{name}__" for name in _BINARY for prefix in ("", "r", "i")
)

_ATTRIBUTES: Final = (
    _OPERATORS
    | _READ_NAMES
    | {
        *("__abs__", "__aenter__", "__aexit__", "__aiter__", "__anext__", "__await__", "__bool__"),
        *("__bytes__", "__call__", "__cause__", "__ceil__", "__complex__", "__contains__"),
        *("__context__", "__copy__", "__deepcopy__", "__delitem__", "__enter__", "__eq__"),
        *(
            "__exit__",
            "__float__",
            "__floor__",
            "__format__",
            "__fspath__",
            "__ge__",
            "__getitem__",
        ),
        *("__gt__", "__hash__", "__index__", "__init__", "__init_subclass__", "__int__"),
        *("__invert__", "__iter__", "__le__", "__len__", "__length_hint__", "__lt__"),
        *("__members__", "__missing__", "__module__", "__ne__", "__neg__", "__new__", "__next__"),
        *("__notes__", "__pos__", "__post_init__", "__qualname__", "__repr__", "__reversed__"),
        *("__round__", "__set_name__", "__setitem__", "__slots__", "__str__", "__trunc__"),
        *("__suppress_context__", "__match_args__"),
    }
) - {"__all__", "__debug__"}

STORED_ATTRIBUTES: Final = frozenset(
    {
        *("__author__", "__cause__", "__context__", "__doc__", "__name__", "__notes__"),
        *("__qualname__", "__suppress_context__", "__version__"),
    }
)
"""Special attributes that code may set on an object."""

_SPECIAL = re.compile(r"__\w+__")
_MANGLED = re.compile(r"_+[^\W_]\w*?__\w*[^_]_?")


def is_special(name: str) -> bool:
    """Return whether `name` is one that Python gives a meaning: `__class__`."""
    return _SPECIAL.fullmatch(name) is not None


def is_mangled(name: str) -> bool:
    """Return whether `name` is a private name of a class from outside: `_Printer__filenames`."""
    return name.startswith("_") and not is_special(name) and _MANGLED.fullmatch(name) is not None


def is_readable_special_name(name: str) -> bool:
    """Return whether code may read the variable `name`, which is a special name."""
    return name in _READ_NAMES


def is_writable_special_name(name: str) -> bool:
    """Return whether code may assign the variable `name`, or define a function of that name."""
    return name not in _UNBOUND_NAMES


def is_blocked_attribute(name: str) -> bool:
    """Return whether code must not read the attribute `name` of any object."""
    if name in INTERNALS or is_mangled(name):
        return True
    return is_special(name) and name not in _ATTRIBUTES


def is_internal_string(name: str) -> bool:
    """Return whether a string is the name of an internal that a mapping of variables has."""
    return name in INTERNALS - {"mro"} or (name in _UNBOUND_NAMES and name != "__class__")
