/**
 * Python, standard library only, for 3.9 and later: the types of a function's parameters, as JSON Schema and as readers
 * of JSON values. Both as pydantic has them, whose schemas and conversions AutoGen's users know. A class per kind of type.
 */
export const ARGUMENT_TYPES = String.raw`
import collections, collections.abc, dataclasses, enum, inspect, operator, re, sys, types, typing

EXACT, STRICT, LAX = 2, 1, 0


class Invalid(Exception):
    """Values that do not fit; pairs of place and reason."""

    def __init__(self, *issues):
        super().__init__(issues)
        self.issues = issues


class Unsupported(Exception):
    """A type whose values cannot come from JSON."""


class Fit:
    """How well a value fits its type: what the alternatives of a union are compared by."""

    def __init__(self):
        self.grade = EXACT
        self.fields = None

    def lower(self, grade):
        self.grade = min(self.grade, grade)

    def count(self, fields):
        self.fields = fields if self.fields is None else self.fields + fields

    def take(self, other):
        self.lower(other.grade)
        if other.fields is not None:
            self.count(other.fields)

    def better_than(self, other):
        if None not in (self.fields, other.fields) and self.fields != other.fields:
            return self.fields > other.fields
        return self.grade > other.grade


def within(place, kind, value, fit):
    try:
        return kind.read(value, fit)
    except Invalid as error:
        raise Invalid(*((join(place, inner), reason) for inner, reason in error.issues)) from None


def join(place, inner):
    if inner == "":
        return str(place)
    return f"{place}{inner}" if inner.startswith("[") else f"{place}.{inner}"


def gather(reads):
    """The values of all reads, or everything that is wrong with them."""
    values, issues = [], []
    for read in reads:
        try:
            values.append(read())
        except Invalid as error:
            issues.extend(error.issues)
    if issues:
        raise Invalid(*issues)
    return values


class Kind:
    # Whether the schema is one of a class. What a field adds to such a schema gets lost in AutoGen.
    named = False

    def schema(self):
        return {}

    def read(self, value, fit):
        return value


class Anything(Kind):
    def read(self, value, fit):
        fit.lower(STRICT)
        return value


class Nothing(Kind):
    def schema(self):
        return {"type": "null"}

    def read(self, value, fit):
        if value is not None:
            raise Invalid(("", "must be null"))


class Scalar(Kind):
    """One of int, float, str and bool."""

    def __init__(self, cls):
        self.cls = cls

    def schema(self):
        names = {int: "integer", float: "number", str: "string", bool: "boolean"}
        return {"type": names[self.cls]}

    def read(self, value, fit):
        if type(value) is self.cls:
            return value
        fit.lower(STRICT if self.cls is float and type(value) is int else LAX)
        try:
            return getattr(self, self.cls.__name__)(value)
        except (ValueError, TypeError, OverflowError):
            names = {int: "an integer", float: "a number", str: "a string", bool: "true or false"}
            raise Invalid(("", "must be " + names[self.cls])) from None

    def int(self, value):
        if isinstance(value, str):
            return int(re.sub(r"\.0*$", "", value.strip()))
        number = int(value)
        if number != value:
            raise ValueError
        return number

    def float(self, value):
        return float(value)

    def str(self, value):
        raise ValueError

    def bool(self, value):
        text = value.lower() if isinstance(value, str) else value
        if text in ("1", "on", "t", "true", "y", "yes", 1):
            return True
        if text in ("0", "off", "f", "false", "n", "no", 0):
            return False
        raise ValueError


class Written(Kind):
    """A class of the standard library whose values JSON writes as text, some also as numbers."""

    def __init__(self, schema, what, parse, numbers=False):
        self.form, self.what, self.parse, self.numbers = schema, what, parse, numbers

    def schema(self):
        return dict(self.form)

    def read(self, value, fit):
        fit.lower(LAX)
        try:
            if isinstance(value, str) or (self.numbers and isinstance(value, (int, float))):
                return self.parse(value)
        except (ValueError, TypeError, ArithmeticError, re.error):
            pass
        raise Invalid(("", "must be " + self.what))


class Listed(Kind):
    """Lists, sets and everything else with items of one kind."""

    def __init__(self, make, item, unique=False):
        self.make, self.item, self.unique = make, item, unique

    def schema(self):
        schema = {"type": "array", "items": self.item.schema()}
        return {**schema, "uniqueItems": True} if self.unique else schema

    def read(self, value, fit):
        if not isinstance(value, list):
            raise Invalid(("", "must be a list"))
        if self.make is not list:
            fit.lower(LAX)
        items = gather(
            lambda index=index, item=item: within(f"[{index}]", self.item, item, fit)
            for index, item in enumerate(value)
        )
        try:
            return self.make(items)
        except TypeError:
            raise Invalid(("", "has items that cannot be in a set")) from None


class Row(Kind):
    """A tuple with a kind for each of its items."""

    def __init__(self, items):
        self.items = items

    def schema(self):
        count = len(self.items)
        schema = {"type": "array", "minItems": count, "maxItems": count}
        return {**schema, "prefixItems": [item.schema() for item in self.items]} if count else schema

    def read(self, value, fit):
        if not isinstance(value, list) or len(value) != len(self.items):
            raise Invalid(("", f"must be a list of {len(self.items)} items"))
        fit.lower(LAX)
        return tuple(
            gather(
                lambda index=index, kind=kind: within(f"[{index}]", kind, value[index], fit)
                for index, kind in enumerate(self.items)
            )
        )


class Mapped(Kind):
    def __init__(self, make, key, item):
        self.make, self.key, self.item = make, key, item

    def schema(self):
        key, item = self.key.schema(), self.item.schema()
        schema = {"type": "object", "additionalProperties": item or True}
        pattern = None if self.key.named else key.pop("pattern", None)
        if self.key.named:
            schema["propertyNames"] = key
        elif key.pop("type", None) == "string" and key:
            schema["propertyNames"] = key
        if pattern is not None:
            schema["patternProperties"] = {pattern: item}
            del schema["additionalProperties"]
        return schema

    def read(self, value, fit):
        if not isinstance(value, dict):
            raise Invalid(("", "must be an object"))
        return self.make(
            gather(
                lambda key=key, item=item: (
                    within(key, self.key, key, fit),
                    within(key, self.item, item, fit),
                )
                for key, item in value.items()
            )
        )


class OneOf(Kind):
    """A union: the alternative that fits best, of equal ones the first."""

    def __init__(self, kinds):
        # As pydantic has it: null comes last.
        self.kinds = sorted(kinds, key=lambda kind: isinstance(kind, Nothing))

    def maybe_named(self):
        """Whether this is a class or null: also such a field has no title of its own."""
        return self.kinds[0].named and all(isinstance(kind, Nothing) for kind in self.kinds[1:])

    def schema(self):
        members = []
        for kind in self.kinds:
            schema = kind.schema()
            for member in schema["anyOf"] if list(schema) == ["anyOf"] else [schema]:
                if not any(same(member, other) for other in members):
                    members.append(member)
        return members[0] if len(members) == 1 else {"anyOf": members}

    def read(self, value, fit):
        best, issues = None, []
        for kind in self.kinds:
            trial = Fit()
            try:
                result = kind.read(value, trial)
            except Invalid as error:
                issues.extend(error.issues)
                continue
            if best is None or trial.better_than(best[0]):
                best = (trial, result)
            if trial.grade == EXACT and trial.fields is None:
                break
        if best is None:
            raise Invalid(*(issue for n, issue in enumerate(issues) if issue not in issues[:n]))
        fit.take(best[0])
        return best[1]


def same(a, b):
    """Equal, where True is not 1."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def type_of(values):
    names = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array"}
    found = {type(value) for value in values}
    name = names.get(found.pop()) if len(found) == 1 else None
    return {} if name is None else {"type": name}


class Chosen(Kind):
    """A Literal."""

    def __init__(self, values):
        self.values = values

    def schema(self):
        values = [jsonable(value) for value in self.values]
        if values == [None]:
            return {"const": None, "type": "null"}
        named = {"const": values[0]} if len(values) == 1 else {"enum": values}
        return {**named, **type_of(values)}

    def read(self, value, fit):
        for equal in (same, operator.eq):
            for choice in self.values:
                if equal(value, jsonable(choice)):
                    return choice
        raise Invalid(("", "must be one of " + ", ".join(map(repr, self.values))))


class Member(Kind):
    """An Enum, by the values of its members."""

    named = True

    def __init__(self, cls):
        self.cls = cls

    def schema(self):
        values = [jsonable(member.value) for member in self.cls]
        schema = {"title": self.cls.__name__, "enum": values, **type_of(values)}
        doc = documentation(self.cls)
        return schema if doc in (None, "An enumeration.") else {**schema, "description": doc}

    def read(self, value, fit):
        fit.lower(LAX)
        for member in self.cls:
            if same(value, jsonable(member.value)):
                return member
        for number in (int, float):
            if issubclass(self.cls, number):
                value = Scalar(number).read(value, fit)
        try:
            return self.cls(value)
        except (ValueError, TypeError):
            values = ", ".join(repr(member.value) for member in self.cls)
            raise Invalid(("", "must be one of " + values)) from None


REQUIRED = object()


class Record(Kind):
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
        given = read_fields([field for field in self.fields if field[0] not in known or known[field[0]].init], value, fit)
        fit.count(len(given))
        return given if typed_dict(self.cls) else self.cls(**given)


def read_fields(fields, value, fit):
    """What a JSON object says about fields; what else it says is left out."""

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


class NamedRow(Kind):
    """A NamedTuple: a list, or an object with the names."""

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


class Foreign(Kind):
    """What only pydantic knows, where it is installed."""

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


def documentation(cls):
    doc = cls.__dict__.get("__doc__")
    return None if not doc else inspect.cleandoc(doc)


def typed_dict(cls):
    return isinstance(cls, type) and issubclass(cls, dict) and hasattr(cls, "__total__")


def field_schema(name, kind, default=REQUIRED, description=None):
    """A field's schema; a class speaks for itself."""
    schema = kind.schema()
    if kind.named:
        return schema
    if "title" not in schema and not (isinstance(kind, OneOf) and kind.maybe_named()):
        schema["title"] = name.title().replace("_", " ").strip()
    if default is not REQUIRED:
        try:
            schema["default"] = jsonable(default)
        except Unsupported:
            pass
    return schema if description is None else {**schema, "description": description}
`;
