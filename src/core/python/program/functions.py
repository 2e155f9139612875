"""Functions of component JSON: their signature and their calls."""

import importlib
import inspect
import sys
import types
import typing

from .annotations import kind_of
from .answers import as_text
from .fields import REQUIRED, field_schema, read_fields
from .reading import Fit, Unsupported
from .run_context import RunContext, is_run_context
from .sources import SourceError, called_function, described, parsed_source, run_source


class Function:
    """A function of component JSON, and the kinds of its parameters."""

    def __init__(self, config, number):
        module = types.ModuleType(f"tool_{number}")
        # Dataclasses and type hints look up their module.
        sys.modules[module.__name__] = module
        # Code from notebooks uses List or Optional without an import.
        exec("from typing import *", module.__dict__)
        module.RunContext = RunContext
        for index, statement in enumerate(config["imports"]):
            run_source(statement, f"global_imports[{index}]", module)
        name = called_function(parsed_source(config["source"]), config.get("function"))
        run_source(config["source"], "source_code", module)
        self.call = getattr(module, name, None)
        if not callable(self.call):
            raise SourceError("source_code", f"{name} is not a function")
        try:
            self.fields, self.positional = [], []
            self.cancellable = False
            self.of_run = []
            self.read_signature(typing.get_type_hints(self.call, include_extras=True))
        except SourceError:
            raise
        except Exception as error:
            raise SourceError(
                "source_code", f"the annotations of {name} cannot be evaluated: {described(error)}"
            ) from None

    def read_signature(self, hints):
        for parameter in inspect.signature(self.call).parameters.values():
            name = parameter.name
            if name == "cancellation_token":
                self.cancellable = True
                continue
            if name not in hints:
                raise SourceError("source_code", f"the parameter {name} has no type annotation")
            if is_run_context(hints[name]):
                self.of_run.append(name)
                if parameter.kind is parameter.POSITIONAL_ONLY:
                    self.positional.append(name)
                continue
            notes = getattr(hints[name], "__metadata__", (name,))
            if not isinstance(notes[0], str):
                raise SourceError(
                    "source_code", f"the description of {name} must be a string, not {notes[0]!r}"
                )
            annotation = (
                typing.get_args(hints[name])[0]
                if hasattr(hints[name], "__metadata__")
                else hints[name]
            )
            try:
                kind = kind_of(annotation)
            except Unsupported as error:
                raise SourceError(
                    "source_code", f"the type of {name} cannot be used: {error}"
                ) from None
            default = REQUIRED if parameter.default is parameter.empty else parameter.default
            self.fields.append((name, kind, default, notes[0]))
            if parameter.kind is parameter.POSITIONAL_ONLY:
                self.positional.append(name)

    def parameters(self):
        return {
            "type": "object",
            "properties": {field[0]: ordered(field_schema(*field)) for field in self.fields},
            "required": [name for name, _, default, _ in self.fields if default is REQUIRED],
            "additionalProperties": False,
        }

    def result(self, given, run):
        values = read_fields([field[:3] for field in self.fields], given, Fit())
        if self.cancellable:
            values["cancellation_token"] = importlib.import_module(
                "autogen_core"
            ).CancellationToken()
        values.update((name, RunContext(**run)) for name in self.of_run)
        # Positional-only parameters, up to the first that is left out.
        positional = []
        for name in self.positional:
            if name not in values:
                break
            positional.append(values.pop(name))
        result = self.call(*positional, **values)
        if inspect.iscoroutinefunction(self.call):
            import asyncio

            result = asyncio.run(result)
        return as_text(result)


def ordered(value, parent=None):
    """The schema with its keys in the order in which pydantic writes them."""
    if isinstance(value, list):
        return [ordered(item, parent) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value) if parent in ("properties", "default") else sorted(value)
    return {key: ordered(value[key], key) for key in keys}
