/**
 * Python, goes last: loads the functions of component JSON, says what they take, and calls one. It speaks to whoever sent it
 * in lines that begin with a mark. What functions print themselves goes nowhere: it is no part of their results.
 */
export const RUN_FUNCTION = String.raw`
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


class Silence:
    """Takes the place of standard output and error."""

    encoding, errors, closed = "utf-8", "strict", False

    def write(self, text):
        return len(text)

    def writelines(self, lines):
        pass

    def flush(self):
        pass

    def close(self):
        pass

    def isatty(self):
        return False

    def readable(self):
        return False

    def writable(self):
        return True

    @property
    def buffer(self):
        return self


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


def as_text(value):
    """What the model reads of a result."""
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and isinstance(value, pydantic.BaseModel):
        dumped = value.model_dump()
        return json.dumps(dumped) if isinstance(dumped, dict) else str(dumped)
    return str(value)


def error_text(error):
    if isinstance(error, Invalid):
        return "invalid arguments: " + "; ".join(f"{place}: {reason}" for place, reason in error.issues)
    if isinstance(error, SystemExit):
        return f"the function ended the interpreter: {error}"
    if hasattr(error, "exceptions"):
        return "\n".join(map(error_text, error.exceptions))
    return str(error).strip() or type(error).__name__


class Speaker:
    """Says what was found out, and is the only one who is heard."""

    LARGEST = 800_000

    def __init__(self, mark):
        self.mark, self.out = mark, sys.stdout
        sys.stdout = sys.stderr = Silence()

    def say(self, **said):
        line = json.dumps(said, ensure_ascii=False)
        if len(line) * 4 > self.LARGEST:
            line = self.shortened(said, line)
        line = line.encode("utf-8", "replace").decode()
        self.out.write(f"\n{self.mark}{line}\n")
        self.out.flush()

    def shortened(self, said, line):
        size = len(line.encode("utf-8", "replace"))
        key = next((key for key in ("text", "error") if key in said), None)
        if key is None or size <= self.LARGEST:
            return line
        text = said[key]
        kept = text[: len(text) * self.LARGEST // size]
        note = f"\n[Cut: the result had {len(text)} characters, {len(kept)} are shown.]"
        return json.dumps({**said, key: kept + note}, ensure_ascii=False)


def inspect_functions(mark, text):
    speaker = Speaker(mark)
    for number, config in enumerate(json.loads(text)):
        try:
            function = Function(config, number)
            doc = inspect.getdoc(function.call) or ""
            finding = {"parameters": function.parameters(), "description": doc}
        except Trouble as error:
            finding = {"place": error.place, "message": str(error)}
        except (Exception, SystemExit) as error:
            finding = {"place": "source_code", "message": named(error)}
        speaker.say(number=number, finding=finding)


def call_function(mark, text):
    speaker = Speaker(mark)
    request = json.loads(text)
    try:
        speaker.say(text=Function(request["function"], 0).result(request["arguments"]))
    except (Exception, SystemExit) as error:
        speaker.say(error=error_text(error))


sys.meta_path.append(StandIns())
`;
