"""Answers: lines of JSON that begin with the mark of the request."""

import json
import sys

from .reading import Invalid


class NullOutput:
    """Replaces standard output and error: what functions print is not part of their results."""

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
    """A result as the model reads it."""
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and isinstance(value, pydantic.BaseModel):
        dumped = value.model_dump()
        return json.dumps(dumped) if isinstance(dumped, dict) else str(dumped)
    return str(value)


def error_text(error):
    if isinstance(error, Invalid):
        return "invalid arguments: " + "; ".join(
            f"{place}: {reason}" for place, reason in error.issues
        )
    if isinstance(error, SystemExit):
        return f"the function ended the interpreter: {error}"
    if hasattr(error, "exceptions"):
        return "\n".join(map(error_text, error.exceptions))
    return str(error).strip() or type(error).__name__


class AnswerWriter:
    """Writes answers to standard output and silences all other writers."""

    LARGEST = 800_000

    def __init__(self, mark):
        self.mark, self.out = mark, sys.stdout
        # The locale may name another encoding.
        self.out.reconfigure(encoding="utf-8")
        sys.stdout = sys.stderr = NullOutput()

    def write(self, **answer):
        line = json.dumps(answer, ensure_ascii=False)
        if len(line) * 4 > self.LARGEST:
            line = self.shortened(answer, line)
        line = line.encode("utf-8", "replace").decode()
        self.out.write(f"\n{self.mark}{line}\n")
        self.out.flush()

    def shortened(self, answer, line):
        size = len(line.encode("utf-8", "replace"))
        key = next((key for key in ("text", "error") if key in answer), None)
        if key is None or size <= self.LARGEST:
            return line
        text = answer[key]
        kept = text[: len(text) * self.LARGEST // size]
        note = f"\n[Cut: the result had {len(text)} characters, {len(kept)} are shown.]"
        return json.dumps({**answer, key: kept + note}, ensure_ascii=False)
