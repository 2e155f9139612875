/**
 * Python, goes after {@link ARGUMENT_TYPES}: the kind of type that an annotation stands for, and values as JSON has them.
 */
export const READ_ANNOTATIONS = String.raw`
def kind_of(annotation, inside=()):
    """The kind of an annotation; inside are the classes around it."""
    if annotation in (typing.Any, object) or isinstance(annotation, typing.TypeVar):
        bound = getattr(annotation, "__bound__", None)
        return Anything() if bound is None else kind_of(bound, inside)
    if annotation in (None, type(None)):
        return Nothing()
    if annotation in (int, float, str, bool):
        return Scalar(annotation)
    for step in ("__supertype__", "__value__"):
        if hasattr(annotation, step):
            return kind_of(getattr(annotation, step), inside)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        if any(type(note).__module__.startswith(("pydantic", "annotated_types")) for note in arguments[1:]):
            return foreign(annotation)
        return kind_of(arguments[0], inside)
    if origin is typing.Union or origin is getattr(types, "UnionType", typing.Union):
        return OneOf([kind_of(argument, inside) for argument in arguments])
    if origin is typing.Literal:
        return Chosen(arguments)
    return container(annotation, origin, arguments, inside) or of_class(annotation, inside)


LISTS = {
    list: (list, False),
    collections.deque: (collections.deque, False),
    collections.abc.Sequence: (list, False),
    collections.abc.MutableSequence: (list, False),
    collections.abc.Iterable: (list, False),
    collections.abc.Generator: (list, False),
    set: (set, True),
    frozenset: (frozenset, True),
    collections.abc.Set: (set, True),
    collections.abc.MutableSet: (set, True),
}
MAPPINGS = {
    dict: dict,
    collections.OrderedDict: collections.OrderedDict,
    collections.Counter: collections.Counter,
    collections.defaultdict: collections.defaultdict,
    collections.abc.Mapping: dict,
    collections.abc.MutableMapping: dict,
}


def container(annotation, origin, arguments, inside):
    """Of lists, tuples and dictionaries; None for anything else."""
    cls = origin or annotation
    if not isinstance(cls, collections.abc.Hashable):
        return None
    of = [kind_of(argument, inside) for argument in arguments if argument not in (..., ())]
    if cls in LISTS:
        make, unique = LISTS[cls]
        return Listed(make, of[0] if of else Anything(), unique)
    if cls is tuple:
        if annotation in (tuple, typing.Tuple):
            return Listed(tuple, Anything())
        return Listed(tuple, of[0]) if ... in arguments else Row(of)
    if cls not in MAPPINGS:
        return None
    key, item, *_ = [*of, *[Anything(), Anything()][len(of) :]]
    if cls is collections.Counter:
        item = Scalar(int)
    if cls is collections.defaultdict:
        made = arguments[1] if len(arguments) == 2 else dict
        return Mapped(lambda pairs: collections.defaultdict(typing.get_origin(made) or made, pairs), key, item)
    return Mapped(lambda pairs: MAPPINGS[cls](dict(pairs)), key, item)


WRITTEN = {
    "datetime.datetime": ({"type": "string", "format": "date-time"}, "a date and time", "date_time", True),
    "datetime.date": ({"type": "string", "format": "date"}, "a date", "date", False),
    "datetime.time": ({"type": "string", "format": "time"}, "a time", "time", False),
    "datetime.timedelta": ({"type": "string", "format": "duration"}, "a duration", "duration", True),
    "decimal.Decimal": (
        {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}]},
        "a decimal number", "decimal", True,
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


class Parse:
    """Texts of JSON as values of the standard library, by the names in WRITTEN."""

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
            r"([-+]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", value
        )
        clock = re.fullmatch(r"([-+]?)(?:(\d+) days?,? ?)?(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?", value)
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


def of_class(cls, inside):
    if cls is collections.abc.Hashable or typing.get_origin(cls) is collections.abc.Hashable:
        return Anything()
    if not isinstance(cls, type):
        return foreign(cls)
    name = cls.__module__.partition(".")[0] + "." + cls.__qualname__
    if name in WRITTEN:
        schema, what, parse, numbers = WRITTEN[name]
        read = cls if parse is None else lambda value: getattr(Parse, parse)(cls, value)
        return Written(schema, what, read, numbers)
    if issubclass(cls, enum.Enum):
        return Member(cls)
    if cls in inside:
        raise Unsupported(f"the class {cls.__name__} contains itself")
    inside = (*inside, cls)
    if dataclasses.is_dataclass(cls):
        doc = documentation(cls)
        return Record(cls, None if doc and doc.startswith(cls.__name__ + "(") else doc, of_dataclass(cls, inside))
    if typed_dict(cls):
        fields = [(name, hint, REQUIRED if name in cls.__required_keys__ else MADE) for name, hint in hints(cls)]
        return Record(cls, documentation(cls), kinds_of(fields, inside))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        known = dict(hints(cls))
        fields = [(name, known.get(name, typing.Any), cls._field_defaults.get(name, REQUIRED)) for name in cls._fields]
        return NamedRow(cls, kinds_of(fields, inside))
    return foreign(cls)


def hints(cls):
    return typing.get_type_hints(cls, include_extras=True).items()


def kinds_of(fields, inside):
    return [(name, kind_of(stripped(hint), inside), default) for name, hint, default in fields]


QUALIFIERS = [getattr(typing, name) for name in ("Required", "NotRequired", "ReadOnly") if hasattr(typing, name)]


def stripped(hint):
    if isinstance(hint, dataclasses.InitVar):
        return hint.type
    return stripped(typing.get_args(hint)[0]) if typing.get_origin(hint) in QUALIFIERS else hint


MADE = object()


def of_dataclass(cls, inside):
    """Its fields as a schema shows them. A default that is made anew each time is none of those."""
    known = dict(hints(cls))
    fields = []
    for field in cls.__dataclass_fields__.values():
        default = field.default if field.default is not dataclasses.MISSING else REQUIRED
        if field.default_factory is not dataclasses.MISSING:
            default = MADE
        if field._field_type is dataclasses._FIELD_CLASSVAR or (default is REQUIRED and not field.init):
            continue
        fields.append((field.name, known[field.name], default))
    return kinds_of(fields, inside)


def foreign(annotation):
    name = getattr(annotation, "__name__", None) or str(annotation)
    try:
        import pydantic
    except ImportError:
        raise Unsupported(f"{name} is no type that values from JSON can have") from None
    try:
        return Foreign(annotation, pydantic)
    except pydantic.errors.PydanticErrorMixin:
        raise Unsupported(f"{name} is no type that values from JSON can have") from None


def jsonable(value):
    """A default as a schema shows it. Raises Unsupported for what JSON cannot say."""
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
        return {field.name: jsonable(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, bytes):
        return value.decode()
    name = type(value).__module__.partition(".")[0]
    if name == "datetime":
        return value.isoformat() if hasattr(value, "isoformat") else duration_text(value)
    if name in ("decimal", "fractions", "uuid", "pathlib", "ipaddress") or isinstance(value, complex):
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
    parts = ((hours, "H"), (minutes, "M"), (f"{seconds}{fraction}" if seconds or fraction else 0, "S"))
    time = "".join(f"{number}{unit}" for number, unit in parts if number)
    return f"{sign}P{day}T{time}" if time else f"{sign}P{day or 'T0S'}"
`;
