"""The source code of functions: compiling it, and the modules it imports."""

import ast
import importlib.abc
import importlib.util
import inspect
import sys
import typing


class SourceError(Exception):
    """An error in the source of a function; `place` is the key of its config."""

    def __init__(self, place, message):
        super().__init__(message)
        self.place = place


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


class AnyValueType(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return AnyValue


class AnyValue(metaclass=AnyValueType):
    """Any name of a module that is missing: a class, a decorator, an object. As a decorator it changes nothing."""

    def __new__(cls, *arguments, **keywords):
        if cls is AnyValue and len(arguments) == 1 and inspect.isfunction(arguments[0]):
            return arguments[0]
        return super().__new__(cls)

    def __init__(self, *arguments, **keywords):
        pass

    def __init_subclass__(cls, **keywords):
        pass

    def __class_getitem__(cls, item):
        return cls

    def __getattr__(self, name):
        return getattr(AnyValue, name)

    def __call__(self, *arguments, **keywords):
        return AnyValue(*arguments, **keywords)


class MissingModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Replaces packages that are missing while a signature is read, so that only a call fails."""

    def __init__(self):
        self.packages = set()

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.packages:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def exec_module(self, module):
        module.__getattr__ = lambda name: getattr(AnyValue, name)

    def replace(self, packages):
        for name in [name for name in sys.modules if name.partition(".")[0] in self.packages]:
            del sys.modules[name]
        self.packages = {name.partition(".")[0] for name in packages}


def run_source(source, place, module):
    try:
        exec(compile(source, f"<{place}>", "exec"), module.__dict__)
    except SyntaxError as error:
        raise SourceError(place, syntax_error_text(error)) from None
    except (Exception, SystemExit) as error:
        raise SourceError(place, described(error)) from None


def parsed_source(source, place="source_code"):
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise SourceError(place, syntax_error_text(error)) from None
    except ValueError as error:
        raise SourceError(place, str(error)) from None


def called_function(tree, wanted):
    """The name of the function that is called: the wanted one, else the first one, as in AutoGen."""
    names = [
        statement.name
        for statement in tree.body
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    if not names:
        raise SourceError("source_code", "defines no function")
    return wanted if wanted in names else names[0]


def missing_packages(trees):
    """Packages that the sources import and that are not installed: at most 20 names of at most 100 characters.

    Imports with an alternative (try ... except) and those for type checkers only are left out.
    """
    names = dict.fromkeys(package_of(name) for tree in trees for name in imported_modules(tree))
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
