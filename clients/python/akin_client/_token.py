from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import json
import re
from typing import Union

from ._filter import Filter


def search_token(key: str, *, filter: Union[str, Filter], expires: Union[datetime.datetime, float]) -> str:
    """Makes a search token of a key, without asking akin: a text that is sent like a key.

    It allows searches in the documents that match its filter, until it expires or its key is revoked. Make it on a
    server: the key stays secret.

    filter: a query; escape values with `where`
    expires: a time with a time zone, or seconds since 1970 (`time.time() + 3600`)
    """
    found = re.fullmatch(r"akin_([0-9a-z]{12})_([0-9a-f]{64})", key)
    if found is None:
        raise ValueError("A search token needs the text of a key: akin_…")
    query = str(filter)
    if not query.strip():
        raise ValueError("The filter of a search token is blank.")
    if isinstance(expires, datetime.datetime):
        if expires.tzinfo is None:
            raise ValueError("The expiry of a search token needs a time zone.")
        expires = expires.timestamp()
    limits = {"filter": query, "expires": int(expires)}
    payload = json.dumps(limits, ensure_ascii=False, separators=(",", ":")).encode()
    signed = f"akin_{found[1]}.{_base64url(payload)}"
    # akin stores only this hash of the secret, so it signs.
    secret = hashlib.sha256(found[2].encode()).digest()
    return f"{signed}.{_base64url(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
