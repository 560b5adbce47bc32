"""The client of akin, the image-similarity search service: Python's standard library alone.

>>> shop = Client("http://127.0.0.1:8983").collection("shop")
>>> shop.add_picture("shoe.jpg", id="1", brand="Ada", price=79.0, wait=True)
>>> shop.similar(file="photo.jpg", filter=where("brand:{}", "Ada"), limit=12)
"""

from ._client import Client
from ._collection import Collection, Group, Result
from ._errors import (
    AccessError,
    AkinError,
    BadRequestError,
    BusyError,
    ConflictError,
    NoResponseError,
    NotFoundError,
    PictureError,
    QuotaError,
)
from ._filter import Filter, field, where
from ._token import search_token

__version__ = "0.1.0"
__all__ = [
    "AccessError",
    "AkinError",
    "BadRequestError",
    "BusyError",
    "Client",
    "Collection",
    "ConflictError",
    "Filter",
    "Group",
    "NoResponseError",
    "NotFoundError",
    "PictureError",
    "QuotaError",
    "Result",
    "field",
    "search_token",
    "where",
]
