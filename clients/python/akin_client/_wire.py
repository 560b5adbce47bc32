from __future__ import annotations

import datetime
import decimal
import json
import os
import urllib.parse
import uuid
from collections.abc import Mapping
from typing import IO, Any, Union

Picture = Union[str, "os.PathLike[str]", bytes, IO[bytes]]
"""The path of a file, its bytes, or an open file."""


def dumps(value: Any) -> str:
    """JSON with every digit of whole numbers. Dates, Decimals, UUIDs, sets and numbers of numpy are converted."""
    return json.dumps(value, default=_plain, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if callable(getattr(value, "item", None)):
        return value.item()
    raise TypeError(f"A document cannot contain {value!r}.")


def pairs_of(parameters: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Lists repeat their parameter, None leaves it out."""
    pairs = []
    for name, value in parameters.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None:
                pairs.append((name, str(one).lower() if isinstance(one, bool) else str(one)))
    return pairs


def query_string(parameters: Mapping[str, Any]) -> str:
    return urllib.parse.urlencode(pairs_of(parameters))


def read_picture(picture: Picture) -> tuple[str, bytes]:
    """The name of a picture, and its bytes."""
    if isinstance(picture, (bytes, bytearray, memoryview)):
        return "picture", bytes(picture)
    if isinstance(picture, (str, os.PathLike)):
        with open(picture, "rb") as file:
            return os.path.basename(os.fspath(picture)), file.read()
    return os.path.basename(str(getattr(picture, "name", "picture"))), picture.read()


def multipart(parameters: Mapping[str, Any], pictures: list[tuple[str, bytes]]) -> tuple[bytes, str]:
    """A form of these parameters and pictures, and its content type."""
    boundary = uuid.uuid4().hex
    body = bytearray()

    def part(disposition: str, content: bytes) -> None:
        body.extend(f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode())
        body.extend(content + b"\r\n")

    for name, value in pairs_of(parameters):
        part(f'name="{name}"', value.encode())
    for name, content in pictures:
        escaped = name.encode("utf-8", "replace").decode().replace('"', "%22").replace("\r", " ").replace("\n", " ")
        part(f'name="file"; filename="{escaped}"', content)
    body.extend(f"--{boundary}--\r\n".encode())
    return bytes(body), "multipart/form-data; boundary=" + boundary
