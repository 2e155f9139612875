/**
 * Python: the types of a function's parameters, as JSON Schema and as readers of JSON values; both as pydantic has
 * them, whose schemas and conversions AutoGen's users know. A class per kind of type.
 */
export const KINDS = String.raw`
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
`;
