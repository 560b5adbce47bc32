from __future__ import annotations

import dataclasses
import re
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union, overload

from ._errors import AkinError
from ._filter import Filter, field, where
from ._wire import Picture, dumps, multipart, query_string, read_picture

if TYPE_CHECKING:
    from ._client import Client

Document = dict[str, Any]
Filters = Union[str, Filter, Sequence[Union[str, Filter]]]
"""Filters that documents must match, all of them. A text is akin's query language; `where` escapes values."""

Texts = Union[str, Sequence[str]]

_PAGE = 1_000
_BY = {"content": "image", "color": "color", "duplicate": "duplicate"}


# Names in the HTTP interface, and the arguments for them.
_ARGUMENTS = {
    "rank.by.id": "id",
    "rank.by.url": "url",
    "rank.by.hex": "color",
    "rank.by.text": "text",
    "rank.by.outputs": "outputs",
    "rank.by.data": "file",
    "rank.threshold": "threshold",
    "rank.mode": "by",
    "facet.field": "facets",
    "group.field": "group",
    "group.limit": "group_limit",
    "fq": "filter",
    "rows": "limit",
    "start": "offset",
    "fl": "fields",
}
_NAMED = re.compile(r"\b(?:rank|facet|group)\.[a-z.]*[a-z]\b|(?:(?<=Parameter )|(?<=Parameters )|(?<=start and ))(?:fq|rows|start|fl)\b")


@dataclasses.dataclass(frozen=True)
class Group:
    """Documents with the same `value` of a field, the best first. `total` counts all that match."""

    value: Any
    total: int
    documents: list[Document]


@dataclasses.dataclass(frozen=True)
class Result(Sequence[Document]):
    """The documents of a page; `total` matches in all.

    total_is_exact: False if `total` is only a lower bound
    groups: with `group`, the groups, best first; `documents` has the documents of all of them
    facets: for each field that was asked for, how many of the matches have each value
    stats, expanded: these sections of the response, if `wire` asks for them
    """

    documents: list[Document]
    total: int
    total_is_exact: bool
    groups: list[Group]
    facets: dict[str, dict[Any, int]]
    stats: dict[str, dict[str, Any]]
    expanded: dict[str, list[Document]]
    warnings: list[str]

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, index: Any) -> Any:
        return self.documents[index]


class Collection:
    """One collection. Every method raises a subclass of `AkinError` when akin refuses the request or does not answer."""

    def __init__(self, client: Client, name: str):
        self.name = name
        self._client = client
        self._path = "/api/cores/" + urllib.parse.quote(name, safe="")

    def __repr__(self) -> str:
        return f"Collection({self.name!r})"

    # --- the collection as a whole

    def create(self, **parameters: Any) -> None:
        """Creates the collection, for example with `model="…"` or `maxDocuments=…`."""
        self._client._request("PUT", self._address("", parameters), b"{}", changes=True)

    def drop(self) -> None:
        self._client._request("DELETE", self._path, changes=True)

    def status(self) -> dict[str, Any]:
        return dict(self._client._request("GET", self._path))

    def schema(self) -> list[dict[str, Any]]:
        """The fields with their types."""
        return list(self._client._request("GET", self._path + "/schema")["schema"]["fields"])

    def define_fields(self, **types: str) -> None:
        """Defines types of fields before a document has them: `string`, `long`, `double`, `boolean`, `date`.

        A field with several values is a list: `sizes="string[]"`.
        """
        self._form("/schema", {"field": [f"{name}:{type}" for name, type in types.items()]}, changes=True)

    # --- changes

    def add(
        self, documents: Union[Document, Iterable[Document]], *, wait: bool = False, **parameters: Any
    ) -> dict[str, Any]:
        """Adds or replaces documents, all or none. akin fetches and analyzes the address in `image`.

        wait: returns when searches find the documents; otherwise they do within 15 seconds
        parameters: those of `/update`, such as `maxErrors=10`
        """
        given = [documents] if isinstance(documents, Mapping) else documents
        body = "".join(dumps(one) + "\n" for one in given).encode()
        return self._update(wait, parameters, body, "application/x-ndjson")

    def add_picture(self, picture: Picture, *, id: str, wait: bool = False, **fields: Any) -> dict[str, Any]:
        """Adds or replaces a document with its picture, of which a thumbnail is kept.

        picture: the path of a file, its bytes, or an open file
        fields: the other fields of the document
        """
        body, content_type = multipart({"document": dumps({"id": id, **fields})}, [read_picture(picture)])
        return self._update(wait, {}, body, content_type)

    def delete(
        self, ids: Optional[Texts] = None, *, filter: Union[str, Filter, None] = None, wait: bool = False
    ) -> dict[str, Any]:
        """Deletes documents by id, or all documents that match a filter."""
        if (ids is None) == (filter is None):
            raise TypeError("delete() takes either ids or a filter.")
        which: Any = {"query": str(filter)} if ids is None else [ids] if isinstance(ids, str) else list(ids)
        return self._update(wait, {}, dumps({"delete": which}).encode(), "application/json")

    def commit(self) -> dict[str, Any]:
        """Makes all changes visible to searches whose pictures are analyzed."""
        return self._update(True, {}, b"{}", "application/json")

    # --- searches

    def similar(
        self,
        *,
        id: Optional[Texts] = None,
        file: Union[Picture, Sequence[Picture], None] = None,
        url: Optional[Texts] = None,
        color: Optional[Texts] = None,
        text: Optional[Texts] = None,
        outputs: Optional[Texts] = None,
        by: Optional[str] = None,
        threshold: Optional[float] = None,
        itself: bool = False,
        **options: Any,
    ) -> Result:
        """Finds the documents with the most similar pictures, best first, each with its `score` (0 to 1).

        id: ids of stored documents, which the result leaves out unless `itself`
        file: paths, bytes or open files, which are sent along
        url: addresses of pictures, which akin fetches
        color: colours as `#rrggbb`
        text: words for what pictures show, if the model of the collection knows words
        outputs: what `analyze` gave
        by: `content`, `color`, or `duplicate` for copies of the same picture
        threshold: the least score
        options: those of `search`
        """
        # In this order, which `rank.weights` follows; files come last.
        inputs = {"id": id, "url": url, "hex": color, "text": text, "outputs": outputs}
        given = {f"rank.by.{name}": value for name, value in inputs.items() if value is not None}
        if not given and file is None:
            raise TypeError("similar() needs id, file, url, color, text or outputs.")
        if id is not None and not itself:
            options["filter"] = [*_list(options.get("filter")), where("-id:{}", _list(id))]
        by = by or ("color" if list(given) == ["rank.by.hex"] and file is None else "content")
        endpoint, mode = ("/" + _BY[by], None) if by in _BY else ("/select", by)
        pictures = [read_picture(one) for one in (file if isinstance(file, (list, tuple)) else _list(file))]
        parameters = {"rank.mode": mode, "rank.threshold": threshold, **given}
        return self._search(endpoint, parameters, pictures, ranked=True, **options)

    def search(self, query: str = "*:*", **options: Any) -> Result:
        """Finds documents by a query in akin's language. Default: all documents.

        filter: filters that documents must match, all of them
        limit: size of the page, at most 1,000; default 10
        offset: number of documents to skip
        fields: names of the fields to return; default `*`, all but the outputs of the analysis
        sort: for example `price asc`
        facets: names of the fields whose values are counted
        collapse: name of a field: only the best document for each of its values, such as one picture of each product
        group: name of a field: the best `group_limit` (1) documents for each of its values, as `groups` of the result.
            `limit` counts groups, and so does `total`
        after: the token of a change (`responseHeader.token`) that must be visible
        wire: other parameters by their names in the HTTP interface, such as `{"rank.weights": "1,-0.5"}`
        """
        return self._search("/select", {"q": query}, [], ranked=query != "*:*" and "sort" not in options, **options)

    def documents(
        self, query: str = "*:*", *, filter: Optional[Filters] = None, fields: Sequence[str] = ("*",)
    ) -> Iterator[Document]:
        """All documents that match, in the order of their ids. One page at a time is in memory."""
        cursor = "*"
        while True:
            parameters = {
                "q": query,
                "fq": [str(one) for one in _list(filter)],
                "fl": _field_list(fields, ranked=False),
                "sort": "id asc",
                "rows": _PAGE,
                "cursorMark": cursor,
            }
            page = self._form("/select", parameters)
            yield from page["response"]["docs"]
            following = page.get("nextCursorMark", cursor)
            if following == cursor:
                return
            cursor = following

    def __iter__(self) -> Iterator[Document]:
        return self.documents()

    @overload
    def get(self, ids: str, *, fields: Sequence[str] = ...) -> Optional[Document]: ...
    @overload
    def get(self, ids: Sequence[str], *, fields: Sequence[str] = ...) -> list[Document]: ...
    def get(self, ids: Any, *, fields: Sequence[str] = ("*",)) -> Any:
        """The document with this id, or None; for several ids, a list of those that exist."""
        wanted = _list(ids)
        if not wanted:
            return []
        found = self._form("/get", {"id": wanted, "fl": _field_list(fields, ranked=False)})
        documents = found["response"]["docs"] if "response" in found else [one for one in [found.get("doc")] if one]
        return (documents[0] if documents else None) if isinstance(ids, str) else documents

    def facets(
        self, fields: Sequence[str], query: str = "*:*", *, filter: Optional[Filters] = None, limit: int = 100
    ) -> dict[str, dict[Any, int]]:
        """Counts the values of fields in all documents that match, most frequent first."""
        wire = {"facet.limit": limit}
        return self.search(query, filter=filter, facets=_list(fields), limit=0, fields=[], wire=wire).facets

    def stats(
        self, fields: Texts, query: str = "*:*", *, filter: Optional[Filters] = None
    ) -> dict[str, dict[str, Any]]:
        """For each field `min`, `max`, `count` and `missing` in all documents that match; `sum`, `mean` and `stddev` of numbers."""
        wire = {"stats": True, "stats.field": _list(fields)}
        return self.search(query, filter=filter, limit=0, fields=[], wire=wire).stats

    def terms(self, field: str, *, prefix: Optional[str] = None, limit: int = 10) -> dict[Any, int]:
        """The values of a field with their counts, for suggestions."""
        found = self._form("/terms", {"terms.fl": field, "terms.prefix": prefix, "terms.limit": limit})
        return _pairs(found["terms"].get(field, []))

    def groups(self, *, filter: Optional[Filters] = None) -> Iterator[dict[str, Any]]:
        """All groups of near-duplicates, each with `representative`, `size` and `members`. One page at a time is in memory."""
        parameters = {"fq": [str(one) for one in _list(filter)], "rows": 100}
        cursor: Optional[str] = None
        while True:
            page = self._form("/groups", {**parameters, "cursor": cursor})
            yield from page["groups"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def tag(
        self,
        *,
        id: Optional[str] = None,
        file: Optional[Picture] = None,
        url: Optional[str] = None,
        field: str = "labels",
        filter: Optional[Filters] = None,
        limit: int = 10,
    ) -> list[dict[str, Any]]:
        """Suggests values of a field for a picture, each with `tag`, `confidence` and `voters`: similar documents vote."""
        given = {"tagging.input.id": id, "tagging.input.url": url, "tagging.field": field, "tagging.max": limit}
        pictures = [] if file is None else [read_picture(file)]
        return list(self._form("/tag", {**given, "fq": [str(one) for one in _list(filter)]}, pictures)["tags"])

    def analyze(self, picture: Picture, *, thumbnail: bool = False) -> dict[str, str]:
        """Analyzes a picture and stores nothing. `outputs` is the value for `import` in a document."""
        _, body = read_picture(picture)
        address = self._address("/analyze", {"thumbnail": thumbnail or None})
        found = self._client._request("POST", address, body, "application/octet-stream")
        return {name: value for name, value in found.items() if name != "responseHeader"}

    # --- requests

    def _search(
        self,
        endpoint: str,
        parameters: Mapping[str, Any],
        pictures: list[tuple[str, bytes]],
        *,
        ranked: bool,
        filter: Optional[Filters] = None,
        limit: int = 10,
        offset: int = 0,
        fields: Sequence[str] = ("*",),
        sort: Optional[str] = None,
        facets: Texts = (),
        collapse: Optional[str] = None,
        group: Optional[str] = None,
        group_limit: int = 1,
        after: Optional[str] = None,
        wire: Optional[Mapping[str, Any]] = None,
        **unknown: Any,
    ) -> Result:
        for name in unknown:
            known = _ARGUMENTS.get(name)
            raise TypeError(f"There is no argument {name}: " + (f"use {known}." if known else "parameters of the HTTP interface go into wire."))
        filters = [str(one) for one in _list(filter)]
        if collapse is not None:
            quoted = collapse.replace("\\", "\\\\").replace("'", "\\'")
            filters.append(f"{{!collapse field='{quoted}'}}")
        names = _list(facets)
        groups = {"group": True, "group.field": group, "group.limit": group_limit, "group.ngroups": True}
        found = self._named(
            endpoint,
            {
                "fl": _field_list(fields, ranked),
                **({"facet": True, "facet.field": names, "facet.mincount": 1} if names else {}),
                **({} if group is None else groups),
                **parameters,
                "fq": filters,
                "rows": limit,
                "start": offset,
                "sort": sort,
                "after": after,
                **(wire or {}),
            },
            pictures,
        )
        return _result(found)

    def _named(self, endpoint: str, parameters: Mapping[str, Any], pictures: list[tuple[str, bytes]]) -> Any:
        """Sends a form. An error has the names of the arguments."""
        try:
            return self._form(endpoint, parameters, pictures)
        except AkinError as error:
            message = _NAMED.sub(lambda name: _ARGUMENTS.get(name[0], name[0]), str(error))
            raise type(error)(error.status, message, error.details, error.retry_after) from None

    def _form(
        self,
        endpoint: str,
        parameters: Mapping[str, Any],
        pictures: Sequence[tuple[str, bytes]] = (),
        changes: bool = False,
    ) -> Any:
        if pictures:
            body, content_type = multipart(parameters, list(pictures))
        else:
            body, content_type = query_string(parameters).encode(), "application/x-www-form-urlencoded"
        return self._client._request("POST", self._path + endpoint, body, content_type, changes)

    def _update(self, wait: bool, parameters: Mapping[str, Any], body: bytes, content_type: str) -> dict[str, Any]:
        address = self._address("/update", {"commit": wait or None, **parameters})
        return dict(self._client._request("POST", address, body, content_type, changes=True))

    def _address(self, endpoint: str, parameters: Mapping[str, Any]) -> str:
        query = query_string(parameters)
        return self._path + endpoint + ("?" + query if query else "")


def _result(found: Mapping[str, Any]) -> Result:
    grouped = next(iter(found.get("grouped", {}).values()), None)
    lists = grouped["groups"] if grouped else []
    groups = [Group(one["groupValue"], one["doclist"]["numFound"], one["doclist"]["docs"]) for one in lists]
    counts = found.get("facet_counts", {}).get("facet_fields", {})
    return Result(
        documents=[one for group in groups for one in group.documents] if grouped else found["response"]["docs"],
        total=grouped["ngroups"] if grouped else found["response"]["numFound"],
        total_is_exact=grouped is not None or found["response"]["numFoundExact"],
        groups=groups,
        facets={name: _pairs(flat) for name, flat in counts.items()},
        stats=found.get("stats", {}).get("stats_fields", {}),
        expanded={value: page["docs"] for value, page in found.get("expanded", {}).items()},
        warnings=found["responseHeader"].get("warnings", []),
    )


def _field_list(fields: Sequence[str], ranked: bool) -> str:
    """The value of `fl`, always with the id. `*` is without the outputs of the analysis."""
    names = ["*,-outputs" if name == "*" else str(field(name)) for name in _list(fields)]
    return ",".join(["id", *(["score"] if ranked else []), *names])


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]


def _pairs(flat: Sequence[Any]) -> dict[Any, int]:
    return dict(zip(flat[::2], flat[1::2]))
