from __future__ import annotations

from typing import Any, Optional


class AkinError(Exception):
    """An error response of akin. Its text says what to do.

    status: the HTTP status, or 0 if there was no response
    details: one entry for each error, with `position` and `id` of the document
    retry_after: seconds after which the same request may succeed, or None
    """

    def __init__(self, status: int, message: str, details: Optional[list[Any]] = None, retry_after: Optional[float] = None):
        super().__init__(message)
        self.status = status
        self.details = details or []
        self.retry_after = retry_after


class NoResponseError(AkinError):
    """akin does not run there, or the network is down."""


class BadRequestError(AkinError):
    """400: the request is wrong."""


class AccessError(AkinError):
    """401: akin requires a key. 403: the key does not allow this request."""


class NotFoundError(AkinError):
    """404: the collection or document does not exist."""


class ConflictError(AkinError):
    """409: another request changed it, or is changing it now."""


class PictureError(AkinError):
    """413, 415, 422: a picture is too large, has no supported format, or could not be downloaded or decoded."""


class BusyError(AkinError):
    """429, 503: the same request may succeed later."""


class QuotaError(AkinError):
    """507: the collection would exceed its quota."""


CLASSES: dict[int, type[AkinError]] = {
    0: NoResponseError,
    400: BadRequestError,
    401: AccessError,
    403: AccessError,
    404: NotFoundError,
    409: ConflictError,
    413: PictureError,
    415: PictureError,
    422: PictureError,
    429: BusyError,
    503: BusyError,
    507: QuotaError,
}
