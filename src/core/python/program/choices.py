"""Types that are a choice: unions, literals, enums."""

import operator

from .kinds import Kind, NullKind, ScalarKind
from .reading import EXACT, LAX, Fit, Invalid
from .standard_values import documentation, jsonable


class UnionKind(Kind):
    """A union: the alternative that fits best, the first one of equals."""

    def __init__(self, kinds):
        # As in pydantic, null comes last.
        self.kinds = sorted(kinds, key=lambda kind: isinstance(kind, NullKind))

    def maybe_named(self):
        """Whether this is a class or null: fields of such a type have no title."""
        return self.kinds[0].named and all(isinstance(kind, NullKind) for kind in self.kinds[1:])

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
    """Equality in which True differs from 1."""
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


class LiteralKind(Kind):
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


class EnumKind(Kind):
    """An Enum, read by the values of its members."""

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
                value = ScalarKind(number).read(value, fit)
        try:
            return self.cls(value)
        except (ValueError, TypeError):
            values = ", ".join(repr(member.value) for member in self.cls)
            raise Invalid(("", "must be one of " + values)) from None
