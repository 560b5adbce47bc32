from __future__ import annotations

import datetime
import decimal
import math
import re
import string
from collections.abc import Iterable
from typing import Any


class Filter:
    """A query in akin's query language, with escaped values. `str(filter)` is its text."""

    def __init__(self, text: str):
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Filter({self.text!r})"


def where(template: str, *values: Any, **named: Any) -> Filter:
    """Makes a filter of a template, in which `{}` and `{name}` stand for values.

    Values are escaped, so that a user's text cannot change the query: text, numbers, booleans, dates, lists (any of
    their values) and other filters.

    >>> where("brand:{} AND price:[{low} TO *]", "Grace & Co", low=50)
    Filter('brand:"Grace & Co" AND price:["50" TO *]')
    """
    return Filter(_Formatter().vformat(template, values, named))


def field(name: str) -> Filter:
    """Escapes the name of a field, for example one with blanks: `where("{}:{}", field("net weight"), 5)`."""
    return Filter(re.sub(r"\W", lambda found: "\\" + found[0], name))


class _Formatter(string.Formatter):
    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        # Only whole values: a template cannot reach into them.
        return self.get_value(int(field_name) if field_name.isdigit() else field_name, args, kwargs), field_name

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def format_field(self, value: Any, format_spec: str) -> str:
        return escape(value)


def escape(value: Any) -> str:
    if isinstance(value, Filter):
        # The name of a field and a single term need no parentheses.
        return value.text if re.fullmatch(r"(\\.|\w)*", value.text, re.S) else f"({value.text})"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return quoted(str(value).lower())
    if isinstance(value, (datetime.datetime, datetime.date)):
        return quoted(value.isoformat())
    if isinstance(value, (int, decimal.Decimal)) or (isinstance(value, float) and math.isfinite(value)):
        return quoted(str(value))
    if isinstance(value, Iterable) and not isinstance(value, (bytes, dict)):
        parts = [escape(one) for one in value]
        if not parts:
            raise ValueError("An empty list in a filter matches nothing.")
        return "(" + " OR ".join(parts) + ")"
    raise TypeError(f"A filter cannot contain {value!r}.")


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
