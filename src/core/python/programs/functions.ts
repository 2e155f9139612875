/** Python: functions of component JSON: their source, their signature, their calls. */
export const FUNCTIONS = String.raw`
import ast, importlib.abc, importlib.util, json


class Trouble(Exception):
    """Something is wrong with the source of a function; place is the key in its config."""

    def __init__(self, place, message):
        super().__init__(message)
        self.place = place


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules that functions of AutoGen import and that may not be installed here."""

    def find_spec(self, name, path=None, target=None):
        known = name in ("autogen_core", "typing_extensions")
        return importlib.util.spec_from_loader(name, self) if known else None

    def exec_module(self, module):
        if module.__name__ == "autogen_core":
            module.CancellationToken = CancellationToken
        else:
            module.__getattr__ = lambda name: getattr(typing, name)


class CancellationToken:
    """A token that nobody cancels: a call that is cancelled is ended from outside."""

    def cancel(self):
        pass

    def is_cancelled(self):
        return False

    def add_callback(self, callback):
        pass

    def link_future(self, future):
        return future


class Function:
    """A function of component JSON, and the kinds of its parameters."""

    def __init__(self, config, number):
        module = types.ModuleType(f"tool_{number}")
        # Dataclasses and type hints look their module up.
        sys.modules[module.__name__] = module
        for index, statement in enumerate(config["imports"]):
            run_source(statement, f"global_imports[{index}]", module)
        name = first_function(config["source"])
        run_source(config["source"], "source_code", module)
        self.call = getattr(module, name, None)
        if not callable(self.call):
            raise Trouble("source_code", f"{name} is no function")
        try:
            self.fields, self.positional = [], []
            self.cancellable = False
            self.read_signature(typing.get_type_hints(self.call, include_extras=True))
        except Trouble:
            raise
        except Exception as error:
            raise Trouble("source_code", f"the types of {name} cannot be found out: {named(error)}") from None

    def read_signature(self, hints):
        for parameter in inspect.signature(self.call).parameters.values():
            name = parameter.name
            if name == "cancellation_token":
                self.cancellable = True
                continue
            if name not in hints:
                raise Trouble("source_code", f"the parameter {name} has no type annotation")
            notes = getattr(hints[name], "__metadata__", (name,))
            if not isinstance(notes[0], str):
                raise Trouble("source_code", f"the description of {name} must be a string, not {notes[0]!r}")
            annotation = typing.get_args(hints[name])[0] if hasattr(hints[name], "__metadata__") else hints[name]
            try:
                kind = kind_of(annotation)
            except Unsupported as error:
                raise Trouble("source_code", f"the type of {name} cannot be used: {error}") from None
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

    def result(self, given):
        values = read_fields([field[:3] for field in self.fields], given, Fit())
        if self.cancellable:
            values["cancellation_token"] = importlib.import_module("autogen_core").CancellationToken()
        # Those that can only be given by place: up to the first that is left out.
        places = []
        for name in self.positional:
            if name not in values:
                break
            places.append(values.pop(name))
        result = self.call(*places, **values)
        if inspect.iscoroutinefunction(self.call):
            import asyncio

            result = asyncio.run(result)
        return as_text(result)


def run_source(source, place, module):
    try:
        exec(compile(source, f"<{place}>", "exec"), module.__dict__)
    except SyntaxError as error:
        raise Trouble(place, f"{error.msg} (line {error.lineno})") from None
    except (Exception, SystemExit) as error:
        raise Trouble(place, named(error)) from None


def first_function(source):
    """AutoGen takes the first one, too."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError) as error:
        at = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        raise Trouble("source_code", f"{getattr(error, 'msg', error)}{at}") from None
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return statement.name
    raise Trouble("source_code", "defines no function")


def named(error):
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def ordered(value, parent=None):
    """Keys in the order in which pydantic writes them."""
    if isinstance(value, list):
        return [ordered(item, parent) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value) if parent in ("properties", "default") else sorted(value)
    return {key: ordered(value[key], key) for key in keys}
`;
