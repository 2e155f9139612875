"""The source code of functions: compiling it, and the modules it imports."""

import ast
import importlib.abc
import importlib.util
import typing


class SourceError(Exception):
    """An error in the source of a function; `place` is the key of its config, `missing` the packages it lacks."""

    def __init__(self, place, message, missing=()):
        super().__init__(message)
        self.place, self.missing = place, missing


class CancellationToken:
    """A token that is never cancelled: the process of a cancelled call is ended from outside."""

    def cancel(self):
        pass

    def is_cancelled(self):
        return False

    def add_callback(self, callback):
        pass

    def link_future(self, future):
        return future


class StandInModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Replaces modules that AutoGen's functions import for their signatures, where they are not installed."""

    names = ("autogen_core", "typing_extensions")

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name in self.names else None

    def exec_module(self, module):
        if module.__name__ == "autogen_core":
            module.CancellationToken = CancellationToken
        else:
            module.__getattr__ = lambda name: getattr(typing, name)


def run_source(source, place, module):
    try:
        exec(compile(source, f"<{place}>", "exec"), module.__dict__)
    except SyntaxError as error:
        raise SourceError(place, syntax_error_text(error)) from None
    except ModuleNotFoundError as error:
        raise SourceError(
            place, described(error), [package_of(error.name)] if error.name else []
        ) from None
    except (Exception, SystemExit) as error:
        raise SourceError(place, described(error)) from None


def parsed_source(source):
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise SourceError("source_code", syntax_error_text(error)) from None
    except ValueError as error:
        raise SourceError("source_code", str(error)) from None


def first_function(tree):
    """The name of the function that AutoGen calls: the first one."""
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return statement.name
    raise SourceError("source_code", "defines no function")


def missing_packages(tree):
    """Packages that a call would import and that are not installed: at most 20 names of at most 100 characters.

    Imports with an alternative (try ... except) and those for type checkers only are left out.
    """
    names = dict.fromkeys(package_of(name) for name in imported_modules(tree))
    return [name[:100] for name in names if not installed(name)][:20]


def imported_modules(node):
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0:
        yield node.module
    for child in children_that_run(node):
        yield from imported_modules(child)


def children_that_run(node):
    if isinstance(node, ast.Try) and node.handlers:
        return [*node.orelse, *node.finalbody]
    if isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    ):
        return node.orelse
    return ast.iter_child_nodes(node)


def package_of(module):
    """The first part of a module's name; all of it below a stand-in, which has no modules inside."""
    package = module.partition(".")[0]
    return module if package in StandInModules.names else package


def installed(name):
    if name in StandInModules.names:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def syntax_error_text(error):
    return f"{error.msg} (line {error.lineno})"


def described(error):
    text = str(error)
    described = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, NameError):
        return (
            f"{described}. Define or import it in source_code, or add its import to global_imports"
        )
    return described
