"""What a back end does with a Solr collection, written for Solr, with nothing but Python. Prints done."""

import json
import random
import sys
import threading
import urllib.parse
import urllib.request

SOLR = sys.argv[1] + "/solr/catalogue"
KINDS = ["red shoe", "hat: felt", 'the "big" one', "100% (wool)", "a&b", "été"]


def select(parameters):
    body = urllib.parse.urlencode(parameters, doseq=True).encode()
    return json.load(urllib.request.urlopen(SOLR + "/select", body))


def update(commands):
    request = urllib.request.Request(
        SOLR + "/update?commit=true", json.dumps(commands).encode(), {"Content-Type": "application/json"}
    )
    assert json.load(urllib.request.urlopen(request))["responseHeader"]["status"] == 0


def escape(text):
    return "".join("\\" + c if c in '+-&|!(){}[]^"~*?:\\/ ' else c for c in text)


def product(i, kind, made):
    date = f"{2020 + i % 4}-{1 + i % 12:02}-{1 + i % 28:02}T{i % 24:02}:30:00Z"
    document = {"id": f"p/{i:04}", "kind": kind, "price": (i * 37) % 500 - 50, "made": made or date, "rate": i / 8}
    if i % 5:
        document["labels"] = [f"l{i % 7}", f"m{i % 3}"]
    return document


def pages(parameters):
    mark = "*"
    while True:
        page = select({**parameters, "cursorMark": mark})
        yield from page["response"]["docs"]
        if page["nextCursorMark"] == mark:
            return
        mark = page["nextCursorMark"]


def exported_whole_while_others_index(known):
    """Everything that does not change is exported once, in each order, while an indexer adds, replaces and deletes."""
    stop = threading.Event()
    failed = []

    def index():
        try:
            while not stop.is_set():
                more = [product(random.randrange(10_000, 20_000), "other", None) for _ in range(20)]
                update(more)
                update({"add": {"doc": more[0]}, "delete": [more[-1]["id"]]})
        except Exception as error:
            failed.append(error)

    indexer = threading.Thread(target=index)
    indexer.start()
    try:
        for sort in ["id asc", "price desc, id asc", "made asc", "labels asc, rate desc", "score desc", "random_3 asc"]:
            seen = [d["id"] for d in pages({"q": "*:*", "sort": sort, "rows": 70, "fl": "id,kind"})]
            assert len(set(seen)) == len(seen), sort
            assert known <= set(seen), (sort, known - set(seen))
    finally:
        stop.set()
        indexer.join()
    assert not failed, failed


def drilled_down():
    """Each count of a facet is what a search for it finds."""
    facets = {
        "q": "price:[0 TO *]",
        "fq": ["-kind:other"],
        "rows": 0,
        "facet": "true",
        "facet.field": ["kind", "labels"],
        "facet.mincount": 1,
        "f.labels.facet.missing": "true",
        "facet.range": ["price", "made"],
        "f.price.facet.range.start": 0,
        "f.price.facet.range.end": 400,
        "f.price.facet.range.gap": 100,
        "f.made.facet.range.start": "2021-01-31T00:00:00Z",
        "f.made.facet.range.end": "2022-12-31T00:00:00Z",
        "f.made.facet.range.gap": "+1MONTH",
        "facet.range.other": "all",
        "facet.query": ["rate:{10 TO *}", '{!key=felt}{!term f=kind v="hat: felt"}'],
        "json.nl": "map",
    }
    found = select(facets)
    total = found["response"]["numFound"]
    counts = found["facet_counts"]

    def found(filter):
        return select({"q": facets["q"], "fq": facets["fq"] + [filter], "rows": 0})["response"]["numFound"]

    assert sum(counts["facet_fields"]["kind"].values()) == total
    for value, count in counts["facet_fields"]["kind"].items():
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        for form in ["{!term f=kind}" + value, "kind:" + escape(value), f'kind:"{quoted}"', "{!field f=kind}" + value]:
            assert found(form) == count, form
    missing = counts["facet_fields"]["labels"].pop("")
    assert missing == found("-labels:*") == found("-labels:[* TO *]") > 0
    for value, count in counts["facet_fields"]["labels"].items():
        assert found("labels:" + value) == count
    for field, step in [("price", 100), ("made", "+1MONTH")]:
        ranges = counts["facet_ranges"][field]
        assert ranges["before"] + ranges["between"] + ranges["after"] == total
        assert sum(ranges["counts"].values()) == ranges["between"]
        starts = [*ranges["counts"], str(ranges["end"])]
        for start, end in zip(starts, starts[1:]):
            assert found(f"{field}:[{start} TO {end}}}") == ranges["counts"][start], (field, start, end)
    assert counts["facet_queries"] == {"rate:{10 TO *}": found("rate:{10 TO *}"), "felt": found('kind:"hat: felt"')}


def paged(known):
    """Pages by start and by cursor are the same documents in the same order."""
    parameters = {"q": "kind:(" + " OR ".join(escape(k) for k in KINDS) + ")", "sort": "price desc", "fl": "id"}
    by_start, start = [], 0
    while True:
        response = select({**parameters, "start": start, "rows": 90})["response"]
        assert response["numFound"] == len(known)
        if not response["docs"]:
            break
        by_start += [d["id"] for d in response["docs"]]
        start += 90
    assert by_start == [d["id"] for d in pages({**parameters, "rows": 41})]
    assert set(by_start) == known


put = urllib.request.Request(sys.argv[1] + "/api/cores/catalogue", b"{}", {"Content-Type": "application/json"}, method="PUT")
urllib.request.urlopen(put)
products = [product(i, KINDS[i % len(KINDS)], None) for i in range(400)]
update(products)
ids = {p["id"] for p in products}
exported_whole_while_others_index(ids)
paged(ids)
drilled_down()
print("done")
