"""Types that are classes with fields, and the fields of a function or a class."""

from .choices import UnionKind
from .kinds import Kind
from .reading import LAX, Invalid, Unsupported, gather, within
from .standard_values import jsonable

REQUIRED = object()


class RecordKind(Kind):
    """A class with fields: dataclass, TypedDict. Fields are triples of name, kind and default."""

    named = True

    def __init__(self, cls, doc, fields):
        self.cls, self.doc, self.fields = cls, doc, fields

    def schema(self):
        schema = {
            "type": "object",
            "title": self.cls.__name__,
            "properties": {field[0]: field_schema(*field) for field in self.fields},
        }
        required = [name for name, _, default in self.fields if default is REQUIRED]
        if required:
            schema["required"] = required
        return {**schema, "description": self.doc} if self.doc else schema

    def read(self, value, fit):
        if not isinstance(value, dict):
            raise Invalid(("", "must be an object"))
        if not typed_dict(self.cls):
            fit.lower(LAX)
        known = getattr(self.cls, "__dataclass_fields__", {})
        given = read_fields(
            [field for field in self.fields if field[0] not in known or known[field[0]].init],
            value,
            fit,
        )
        fit.count(len(given))
        return given if typed_dict(self.cls) else self.cls(**given)


def read_fields(fields, value, fit):
    """The values of the fields in a JSON object; other keys are ignored."""

    def read(name, kind):
        if name not in value:
            raise Invalid((name, "is missing"))
        return (name, within(name, kind, value[name], fit))

    return dict(
        gather(
            lambda name=name, kind=kind: read(name, kind)
            for name, kind, default in fields
            if name in value or default is REQUIRED
        )
    )


class NamedTupleKind(Kind):
    """A NamedTuple, as a list or as an object with its names."""

    named = True

    def __init__(self, cls, fields):
        self.cls, self.fields = cls, fields

    def schema(self):
        required = sum(default is REQUIRED for _, _, default in self.fields)
        schema = {"type": "array", "maxItems": len(self.fields)}
        if self.fields:
            schema["prefixItems"] = [field_schema(*field) for field in self.fields]
        return {**schema, "minItems": required} if required else schema

    def read(self, value, fit):
        fit.lower(LAX)
        if isinstance(value, list) and len(value) <= len(self.fields):
            value = dict(zip((name for name, _, _ in self.fields), value))
        if not isinstance(value, dict):
            raise Invalid(("", f"must be a list of {len(self.fields)} items"))
        return self.cls(**read_fields(self.fields, value, fit))


class PydanticKind(Kind):
    """A type that only pydantic can read, where it is installed."""

    def __init__(self, annotation, pydantic):
        self.named = isinstance(annotation, type)
        self.type = pydantic.TypeAdapter(annotation)
        self.errors = pydantic.ValidationError

    def schema(self):
        schema = self.type.json_schema()
        return resolved(schema, schema.pop("$defs", {}))

    def read(self, value, fit):
        fit.lower(LAX)
        try:
            return self.type.validate_python(value)
        except self.errors as error:
            raise Invalid(*((place_of(e["loc"]), e["msg"]) for e in error.errors())) from None


def place_of(keys):
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")


def resolved(value, definitions):
    if isinstance(value, list):
        return [resolved(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return resolved(definitions[value["$ref"].rpartition("/")[2]], definitions)
    return {key: resolved(item, definitions) for key, item in value.items()}


def typed_dict(cls):
    return isinstance(cls, type) and issubclass(cls, dict) and hasattr(cls, "__total__")


def field_schema(name, kind, default=REQUIRED, description=None):
    """The schema of a field; that of a class is left as it is."""
    schema = kind.schema()
    if kind.named:
        return schema
    if "title" not in schema and not (isinstance(kind, UnionKind) and kind.maybe_named()):
        schema["title"] = name.title().replace("_", " ").strip()
    if default is not REQUIRED:
        try:
            schema["default"] = jsonable(default)
        except Unsupported:
            pass
    return schema if description is None else {**schema, "description": description}
