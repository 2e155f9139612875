/**
 * Python: what is asked of this program and how it answers, in lines that begin with a mark. What functions print
 * themselves goes nowhere: it is no part of their results.
 */
export const ANSWERS = String.raw`
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
        # Whatever the locale is.
        self.out.reconfigure(encoding="utf-8")
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
