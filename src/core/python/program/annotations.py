"""The kind of type that an annotation stands for."""

import collections
import collections.abc
import dataclasses
import enum
import types
import typing

from .choices import EnumKind, LiteralKind, UnionKind
from .fields import REQUIRED, NamedTupleKind, PydanticKind, RecordKind, typed_dict
from .kinds import AnyKind, ListKind, MappingKind, NullKind, ScalarKind, TextKind, TupleKind
from .reading import Unsupported
from .standard_values import TEXT_VALUES, Parsers, documentation


def kind_of(annotation, inside=()):
    """The kind of an annotation; `inside` are the enclosing classes, against recursion."""
    if annotation in (typing.Any, object) or isinstance(annotation, typing.TypeVar):
        bound = getattr(annotation, "__bound__", None)
        return AnyKind() if bound is None else kind_of(bound, inside)
    if annotation in (None, type(None)):
        return NullKind()
    if annotation in (int, float, str, bool):
        return ScalarKind(annotation)
    for step in ("__supertype__", "__value__"):
        if hasattr(annotation, step):
            return kind_of(getattr(annotation, step), inside)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        if any(
            type(note).__module__.startswith(("pydantic", "annotated_types"))
            for note in arguments[1:]
        ):
            return foreign(annotation)
        return kind_of(arguments[0], inside)
    if origin is typing.Union or origin is getattr(types, "UnionType", typing.Union):
        return UnionKind([kind_of(argument, inside) for argument in arguments])
    if origin is typing.Literal:
        return LiteralKind(arguments)
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
    """The kind of a list, tuple, set or dictionary; None for other annotations."""
    cls = origin or annotation
    if not isinstance(cls, collections.abc.Hashable):
        return None
    of = [kind_of(argument, inside) for argument in arguments if argument not in (..., ())]
    if cls in LISTS:
        make, unique = LISTS[cls]
        return ListKind(make, of[0] if of else AnyKind(), unique)
    if cls is tuple:
        if annotation in (tuple, typing.Tuple):
            return ListKind(tuple, AnyKind())
        return ListKind(tuple, of[0]) if ... in arguments else TupleKind(of)
    if cls not in MAPPINGS:
        return None
    key, item, *_ = [*of, *[AnyKind(), AnyKind()][len(of) :]]
    if cls is collections.Counter:
        item = ScalarKind(int)
    if cls is collections.defaultdict:
        made = arguments[1] if len(arguments) == 2 else dict
        return MappingKind(
            lambda pairs: collections.defaultdict(typing.get_origin(made) or made, pairs), key, item
        )
    return MappingKind(lambda pairs: MAPPINGS[cls](dict(pairs)), key, item)


def of_class(cls, inside):
    if cls is collections.abc.Hashable or typing.get_origin(cls) is collections.abc.Hashable:
        return AnyKind()
    if not isinstance(cls, type):
        return foreign(cls)
    name = cls.__module__.partition(".")[0] + "." + cls.__qualname__
    if name in TEXT_VALUES:
        schema, what, parse, numbers = TEXT_VALUES[name]
        read = cls if parse is None else lambda value: getattr(Parsers, parse)(cls, value)
        return TextKind(schema, what, read, numbers)
    if issubclass(cls, enum.Enum):
        return EnumKind(cls)
    if cls in inside:
        raise Unsupported(f"the class {cls.__name__} contains itself")
    inside = (*inside, cls)
    if dataclasses.is_dataclass(cls):
        doc = documentation(cls)
        return RecordKind(
            cls,
            None if doc and doc.startswith(cls.__name__ + "(") else doc,
            of_dataclass(cls, inside),
        )
    if typed_dict(cls):
        fields = [
            (name, hint, REQUIRED if name in cls.__required_keys__ else FACTORY)
            for name, hint in hints(cls)
        ]
        return RecordKind(cls, documentation(cls), kinds_of(fields, inside))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        known = dict(hints(cls))
        fields = [
            (name, known.get(name, typing.Any), cls._field_defaults.get(name, REQUIRED))
            for name in cls._fields
        ]
        return NamedTupleKind(cls, kinds_of(fields, inside))
    return foreign(cls)


def hints(cls):
    return typing.get_type_hints(cls, include_extras=True).items()


def kinds_of(fields, inside):
    return [(name, kind_of(stripped(hint), inside), default) for name, hint, default in fields]


QUALIFIERS = [
    getattr(typing, name)
    for name in ("Required", "NotRequired", "ReadOnly")
    if hasattr(typing, name)
]


def stripped(hint):
    if isinstance(hint, dataclasses.InitVar):
        return hint.type
    return stripped(typing.get_args(hint)[0]) if typing.get_origin(hint) in QUALIFIERS else hint


FACTORY = object()


def of_dataclass(cls, inside):
    """The fields of a dataclass. A default from a factory is not shown in the schema."""
    known = dict(hints(cls))
    fields = []
    for field in cls.__dataclass_fields__.values():
        default = field.default if field.default is not dataclasses.MISSING else REQUIRED
        if field.default_factory is not dataclasses.MISSING:
            default = FACTORY
        if field._field_type is dataclasses._FIELD_CLASSVAR or (
            default is REQUIRED and not field.init
        ):
            continue
        fields.append((field.name, known[field.name], default))
    return kinds_of(fields, inside)


def foreign(annotation):
    name = getattr(annotation, "__name__", None) or str(annotation)
    try:
        import pydantic
    except ImportError:
        raise Unsupported(f"JSON has no values of type {name}") from None
    try:
        return PydanticKind(annotation, pydantic)
    except pydantic.errors.PydanticErrorMixin:
        raise Unsupported(f"JSON has no values of type {name}") from None
