"""The requests: inspect_functions and call_function. Each answers in lines that begin with a mark."""

import inspect
import json
import os
import sys

from .answers import AnswerWriter, error_text
from .functions import Function
from .sources import (
    MissingModules,
    SourceError,
    StandInModules,
    described,
    missing_packages,
    parsed_source,
)


def inspect_functions(mark, text):
    writer = AnswerWriter(mark)
    # Read before any source runs, which could change it.
    in_environment = sys.executable if sys.prefix != sys.base_prefix else None
    replaced = MissingModules()
    sys.meta_path.append(replaced)
    for number, config in enumerate(json.loads(text)):
        # Where the function is inspected, its secrets are not.
        os.environ.update(dict.fromkeys(config.get("env", []), "inspected"))
        missing = []
        replaced.replace(missing)
        try:
            missing = missing_packages(sources_of(config))
            replaced.replace(missing)
            function = Function(config, number)
            doc = inspect.getdoc(function.call) or ""
            finding = {"parameters": function.parameters(), "description": doc}
        except SourceError as error:
            finding = {"place": error.place, "message": str(error)}
        except (Exception, SystemExit) as error:
            finding = {"place": "source_code", "message": described(error)}
        if missing:
            finding["missing"] = missing
        if missing and in_environment:
            finding["python"] = in_environment
        writer.write(number=number, finding=finding)


def sources_of(config):
    for index, statement in enumerate(config["imports"]):
        yield parsed_source(statement, f"global_imports[{index}]")
    yield parsed_source(config["source"])


def call_function(mark, text):
    writer = AnswerWriter(mark)
    request = json.loads(text)
    try:
        writer.write(
            text=Function(request["function"], 0).result(request["arguments"], request["run"])
        )
    except (Exception, SystemExit) as error:
        writer.write(error=error_text(error))


sys.meta_path.append(StandInModules())
