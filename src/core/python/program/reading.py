"""Reading a JSON value as a Python value: how well it fits, and what is wrong where."""

EXACT, STRICT, LAX = 2, 1, 0


class Invalid(Exception):
    """Values that do not fit their types; `issues` are pairs of place and reason."""

    def __init__(self, *issues):
        super().__init__(issues)
        self.issues = issues


class Unsupported(Exception):
    """A type without values in JSON."""


class Fit:
    """How well a value fits a type, for comparing the alternatives of a union."""

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
    """The values of all reads; raises Invalid with the issues of all."""
    values, issues = [], []
    for read in reads:
        try:
            values.append(read())
        except Invalid as error:
            issues.extend(error.issues)
    if issues:
        raise Invalid(*issues)
    return values
