from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from typing import Any, Optional

from ._collection import Collection
from ._errors import CLASSES, AkinError, NoResponseError

_LONGEST_WAIT_SECONDS = 60


class Client:
    """One akin server. No request is sent until a method of a collection is called.

    url: the address of akin, such as `http://127.0.0.1:8983`
    key: a key of akin, if it requires one
    timeout: seconds without any answer after which a request fails
    retries: how often a request is sent again after 429, or after 503 if it changes nothing, once the time that akin
        names in Retry-After (at most a minute) is over
    """

    def __init__(self, url: str, key: Optional[str] = None, *, timeout: float = 120, retries: int = 2):
        if not re.match("https?://.", url, re.I):
            raise ValueError(f"The URL of akin begins with http:// or https://, such as http://127.0.0.1:8983; it is {url!r}.")
        self.url = url.rstrip("/")
        self._key = key
        self._timeout = timeout
        self._retries = retries
        self._opener = urllib.request.build_opener(_NoRedirects)

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def collection(self, name: str) -> Collection:
        return Collection(self, name)

    def collections(self) -> list[dict[str, Any]]:
        """All collections with their states."""
        return list(self._request("GET", "/api/cores")["collections"])

    def _request(
        self,
        method: str,
        path: str,
        body: Optional[bytes] = None,
        content_type: str = "application/json",
        changes: bool = False,
    ) -> Any:
        for left in range(self._retries, -1, -1):
            try:
                return self._send(method, path, body, content_type)
            except AkinError as error:
                again = error.status == 429 or (error.status == 503 and not changes)
                seconds = error.retry_after
                if not again or left == 0 or seconds is None or seconds > _LONGEST_WAIT_SECONDS:
                    raise
                time.sleep(seconds)
        raise AssertionError("unreachable")

    def _send(self, method: str, path: str, body: Optional[bytes], content_type: str) -> Any:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type
        if self._key:
            headers["Authorization"] = "Bearer " + self._key
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return _parsed(response.read())
        except urllib.error.HTTPError as error:
            raise _error_of(error) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise NoResponseError(0, f"No response from {self.url}: is it running? ({reason})") from error


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """akin redirects nowhere. Another server must not get the key."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _error_of(response: urllib.error.HTTPError) -> AkinError:
    error = _parsed(response.read())
    error = error.get("error") if isinstance(error, dict) else None
    error = error if isinstance(error, dict) else {}
    try:
        retry_after: Optional[float] = max(0.0, float(response.headers.get("Retry-After", "")))
    except ValueError:
        retry_after = None
    message = error.get("msg") or f"akin answered {response.code} {response.reason}"
    return CLASSES.get(response.code, AkinError)(response.code, message, error.get("details"), retry_after)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
