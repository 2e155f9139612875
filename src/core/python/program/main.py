"""The requests: inspect_functions and call_function. Each answers in lines that begin with a mark."""

import inspect
import json
import os
import sys

from .answers import AnswerWriter, error_text
from .functions import Function
from .sources import SourceError, StandInModules, described, missing_packages


def inspect_functions(mark, text):
    writer = AnswerWriter(mark)
    for number, config in enumerate(json.loads(text)):
        # Where the function is inspected, its secrets are not.
        os.environ.update(dict.fromkeys(config.get("env", []), "inspected"))
        try:
            function = Function(config, number)
            doc = inspect.getdoc(function.call) or ""
            finding = {"parameters": function.parameters(), "description": doc}
            missing = missing_packages(function.tree)
        except SourceError as error:
            finding = {"place": error.place, "message": str(error)}
            missing = [name[:100] for name in error.missing]
        except (Exception, SystemExit) as error:
            finding = {"place": "source_code", "message": described(error)}
            missing = []
        writer.write(number=number, finding={**finding, "missing": missing} if missing else finding)


def call_function(mark, text):
    writer = AnswerWriter(mark)
    request = json.loads(text)
    try:
        writer.write(text=Function(request["function"], 0).result(request["arguments"]))
    except (Exception, SystemExit) as error:
        writer.write(error=error_text(error))


sys.meta_path.append(StandInModules())
