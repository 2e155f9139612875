"""Values of the standard library that JSON writes as text, and any value as JSON shows it."""

import collections
import dataclasses
import enum
import inspect
import re
import sys

from .reading import Unsupported

TEXT_VALUES = {
    "datetime.datetime": (
        {"type": "string", "format": "date-time"},
        "a date and time",
        "date_time",
        True,
    ),
    "datetime.date": ({"type": "string", "format": "date"}, "a date", "date", False),
    "datetime.time": ({"type": "string", "format": "time"}, "a time", "time", False),
    "datetime.timedelta": (
        {"type": "string", "format": "duration"},
        "a duration",
        "duration",
        True,
    ),
    "decimal.Decimal": (
        {
            "anyOf": [
                {"type": "number"},
                {"type": "string", "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"},
            ]
        },
        "a decimal number",
        "decimal",
        True,
    ),
    "fractions.Fraction": ({"type": "string", "format": "fraction"}, "a fraction", None, True),
    "uuid.UUID": ({"type": "string", "format": "uuid"}, "a UUID", None, False),
    "pathlib.Path": ({"type": "string", "format": "path"}, "a path", None, False),
    "pathlib.PurePath": ({"type": "string", "format": "path"}, "a path", None, False),
    "builtins.bytes": ({"type": "string", "format": "binary"}, "a string", "encoded", False),
    "builtins.complex": ({"type": "string"}, "a complex number", None, True),
    "re.Pattern": ({"type": "string", "format": "regex"}, "a regular expression", "pattern", False),
    "ipaddress.IPv4Address": ({"type": "string", "format": "ipv4"}, "an IPv4 address", None, True),
    "ipaddress.IPv6Address": ({"type": "string", "format": "ipv6"}, "an IPv6 address", None, True),
}


class Parsers:
    """Parsers of JSON texts as values of the standard library, by the names in TEXT_VALUES."""

    def encoded(cls, text):
        return text.encode()

    def pattern(cls, text):
        return re.compile(text)

    def decimal(cls, value):
        return cls(str(value).strip())

    def date_time(cls, value):
        if not isinstance(value, str) or re.fullmatch(r"[-+]?\d+(\.\d*)?", value):
            seconds = float(value)
            if abs(seconds) > 2e10:
                seconds /= 1000
            utc = sys.modules["datetime"].timezone.utc
            return cls(1970, 1, 1, tzinfo=utc) + sys.modules["datetime"].timedelta(seconds=seconds)
        return cls.fromisoformat(re.sub(r"[zZ]$", "+00:00", value))

    def date(cls, text):
        return cls.fromisoformat(re.sub(r"[T ]00:00(:00)?(\.0+)?[zZ]?$", "", text))

    def time(cls, text):
        return cls.fromisoformat(re.sub(r"[zZ]$", "+00:00", text))

    def duration(cls, value):
        if not isinstance(value, str):
            return cls(seconds=value)
        iso = re.fullmatch(
            r"([-+]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?",
            value,
        )
        clock = re.fullmatch(
            r"([-+]?)(?:(\d+) days?,? ?)?(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?", value
        )
        if iso:
            sign, *numbers = iso.groups()
            weeks, days, hours, minutes, seconds = (float(number or 0) for number in numbers)
        elif clock:
            sign, weeks = clock[1], 0
            days, hours, minutes, seconds = (float(number or 0) for number in clock.groups()[1:])
        else:
            raise ValueError(value)
        length = cls(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
        return -length if sign == "-" else length


def jsonable(value):
    """A default value as JSON for the schema. Raises Unsupported when JSON has no such value."""
    if isinstance(value, enum.Enum):
        return jsonable(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and value - value == 0:
        return value
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        items = list(value)
        if isinstance(value, (set, frozenset)):
            try:
                items.sort()
            except TypeError:
                pass
        return [jsonable(item) for item in items]
    if isinstance(value, dict):
        return {str(jsonable(key)): jsonable(item) for key, item in value.items()}
    if isinstance(value, type):
        raise Unsupported(repr(value))
    if dataclasses.is_dataclass(value):
        return {
            field.name: jsonable(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, bytes):
        return value.decode()
    name = type(value).__module__.partition(".")[0]
    if name == "datetime":
        return value.isoformat() if hasattr(value, "isoformat") else duration_text(value)
    if name in ("decimal", "fractions", "uuid", "pathlib", "ipaddress") or isinstance(
        value, complex
    ):
        return str(value).strip("()")
    if isinstance(value, re.Pattern):
        return value.pattern
    raise Unsupported(repr(value))


def duration_text(length):
    sign = "-" if length.days < 0 else ""
    length = abs(length)
    minutes, seconds = divmod(length.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{length.microseconds:06}".rstrip("0") if length.microseconds else ""
    day = f"{length.days}D" if length.days else ""
    parts = (
        (hours, "H"),
        (minutes, "M"),
        (f"{seconds}{fraction}" if seconds or fraction else 0, "S"),
    )
    time = "".join(f"{number}{unit}" for number, unit in parts if number)
    return f"{sign}P{day}T{time}" if time else f"{sign}P{day or 'T0S'}"


def documentation(cls):
    doc = cls.__dict__.get("__doc__")
    return None if not doc else inspect.cleandoc(doc)
