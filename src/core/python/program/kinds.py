"""The types of a function's parameters, each as JSON Schema and as a reader of JSON values.

Schemas and conversions are those of pydantic, which AutoGen's users know. One class per kind of type.
"""

import re

from .reading import LAX, STRICT, Invalid, gather, within


class Kind:
    # Whether the schema is that of a class, to which AutoGen adds no title, default or description.
    named = False

    def schema(self):
        return {}

    def read(self, value, fit):
        return value


class AnyKind(Kind):
    def read(self, value, fit):
        fit.lower(STRICT)
        return value


class NullKind(Kind):
    def schema(self):
        return {"type": "null"}

    def read(self, value, fit):
        if value is not None:
            raise Invalid(("", "must be null"))


class ScalarKind(Kind):
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


class TextKind(Kind):
    """A class of the standard library with values as text in JSON, for some also as numbers."""

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


class ListKind(Kind):
    """Lists, sets and other collections with items of one kind."""

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


class TupleKind(Kind):
    """A tuple with one kind per item."""

    def __init__(self, items):
        self.items = items

    def schema(self):
        count = len(self.items)
        schema = {"type": "array", "minItems": count, "maxItems": count}
        return (
            {**schema, "prefixItems": [item.schema() for item in self.items]} if count else schema
        )

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


class MappingKind(Kind):
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
