"""The workflow of the interface with nothing but the standard library, as a script of a user would do it.

Arguments: the address of akin, the address of a server with pictures /1.jpg ...
"""

import base64
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

AKIN, PICTURES = sys.argv[1:]
CORE = AKIN + "/api/cores/my-collection"
LEGACY = AKIN + "/solr/my-collection"


def get(address, parameters=()):
    with urllib.request.urlopen(address + "?" + urllib.parse.urlencode(list(parameters))) as response:
        return json.load(response)


def post_json(address, body):
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def post_form(address, parameters):
    with urllib.request.urlopen(address, urllib.parse.urlencode(parameters).encode()) as response:
        return json.load(response)


def refused(work):
    try:
        work()
    except urllib.error.HTTPError as error:
        body = json.load(error)
        assert body["error"]["code"] == error.code == body["responseHeader"]["status"], body
        return error.code, body["error"]["msg"]
    raise AssertionError("was not refused")


def download(name):
    with urllib.request.urlopen(PICTURES + name) as response:
        return response.read()


def ids(body):
    assert body["responseHeader"]["status"] == 0, body
    return [document["id"] for document in body["response"]["docs"]]


def found(query):
    return get(CORE + "/select", [("q", query), ("rows", 0)])["response"]["numFound"]


# Analysis by upload, without storing: what comes back is the value of `import`.
upload = base64.b64encode(download("/1.jpg"))
analyzed = post_form(CORE + "/analyze?logParamsList=", {"input.data": upload})
outputs = json.loads(analyzed["outputs"])
for group, names in {
    "color": "cluster rerank isolated lopq palette_freq palette_hex names descriptor nclusters",
    "content": "lopq rerank descriptor nclusters cluster",
    "duplicate": "nclusters lopq rerank descriptor cluster",
}.items():
    for name in names.split():
        assert group + "_" + name in outputs, (group, name)
assert isinstance(outputs["color_rerank"], int) and isinstance(outputs["color_isolated"], bool)
assert all(isinstance(share, float) for share in outputs["color_palette_freq"])
assert all(len(colour) == 7 and colour[0] == "#" for colour in outputs["color_palette_hex"])
assert all(isinstance(cell, int) for cell in outputs["copyspace"])
by_url = get(CORE + "/analyze", [("input.url", PICTURES + "/1.jpg")])
assert by_url["outputs"] == analyzed["outputs"]
only_color = json.loads(get(CORE + "/analyze", [("input.url", PICTURES + "/1.jpg"), ("modules.apply", "color")])["outputs"])
assert {name.split("_")[0] for name in only_color} == {"color"}, only_color.keys()

# Documents: one with outputs, others by address, with fields of every type.
post_json(CORE + "/update", {"id": "1", "image": PICTURES + "/1.jpg", "import": analyzed["outputs"],
                             "labels": ["shoe", "sport"], "location": "52.5,13.4", "price": 10, "weight": 1.5,
                             "sale": True, "added": "2024-01-31", "category": "shoes"})
post_json(CORE + "/update", [
    {"id": "3", "image": PICTURES + "/3.jpg", "price": 20, "category": "shoes", "added": "2024-02-29"},
    {"id": "6", "image": PICTURES + "/6.jpg", "price": 30, "category": "hats", "added": "2024-03-01"},
    {"id": "8", "image": PICTURES + "/8.jpg", "price": 9223372036854775807, "category": "red hats"},
])
post_json(CORE + "/update?commit=true&openSearcher=true", [{"id": "text alone", "note": "a waterproof walking boot"}])
assert found("*:*") == 5
types = {field["name"]: field["type"] for field in get(CORE + "/schema")["schema"]["fields"]}
derived = [types[name] for name in ("price", "weight", "sale", "added", "category")]
assert len(set(derived)) == 5, derived

# Search by id, by address and by data; the document itself stands first with score 1, or is left out.
by_id = get(CORE + "/image", [("rank.by.id", "1"), ("rows", 2)])
assert ids(by_id)[0] == "1" and len(ids(by_id)) == 2
assert by_id["response"]["docs"][0]["score"] == 1 and by_id["response"]["maxScore"] == 1
assert by_id["response"]["numFound"] == 4 and by_id["response"]["numFoundExact"] is True
assert "color_palette_hex" in by_id["response"]["docs"][0]
assert "import" not in by_id["response"]["docs"][0]
scores = [document["score"] for document in get(CORE + "/image", [("rank.by.id", "1")])["response"]["docs"]]
assert scores == sorted(scores, reverse=True) and all(0 <= score < 1 for score in scores[1:])
assert ids(get(CORE + "/image", [("rank.by.url", PICTURES + "/6.jpg")]))[0] == "6"
assert ids(post_form(CORE + "/image", {"rank.by.data": base64.b64encode(download("/8.jpg")), "logParamsList": ""}))[0] == "8"
assert "1" not in ids(get(CORE + "/image", [("rank.by.id", "1"), ("fq", "-id:1")]))

# Filters, several in one request.
shoes = [("rank.by.id", "1"), ("fq", "-id:1"), ("fq", "category:shoes"), ("fq", "price:[15 TO *]")]
assert ids(get(CORE + "/image", shoes)) == ["3"]
assert ids(get(CORE + "/image", [("rank.by.id", "1"), ("fq", 'category:"red hats"')])) == ["8"]
assert found("price:9223372036854775807") == 1
assert found("added:[2024-01-01 TO 2024-02-29]") == 2
assert found("sale:true") == found("labels:sport") == found("weight:[1 TO 2]") == 1
assert found("WATERPROOF") == 1 and found("hats") == 2
assert 'src="' + PICTURES + '/1.jpg"' in urllib.request.urlopen(CORE + "/image?rank.by.id=1&wt=html").read().decode()

# What is wrong is refused with a message that says why.
code, message = refused(lambda: get(CORE + "/image", [("rank.by.id", "none")]))
assert code == 404 and "none" in message, message
code, message = refused(lambda: post_json(CORE + "/update", {"id": "9", "price": "cheap"}))
assert code == 400 and "price" in message, message
code, message = refused(lambda: post_json(CORE + "/update", {"id": "9", "image": PICTURES + "/missing.jpg"}))
assert code == 422 and "404" in message, message
code, message = refused(lambda: get(AKIN + "/api/cores/unknown/select"))
assert code == 404 and "unknown" in message, message

# Deletions by ids and by query go to the other path, and are seen after a commit.
post_json(LEGACY + "/update", {"delete": ["6", "never seen"]})
post_json(LEGACY + "/update?commit=true", {"delete": {"query": "category:shoes"}})
assert found("id:6") == 0 and found("category:shoes") == 0 and found("*:*") == 2

# Without a commit a change is seen by itself, after at most 15 seconds on a machine that has nothing else to do.
post_json(CORE + "/update", {"id": "later"})
while found("id:later") == 0:
    time.sleep(0.2)

post_json(LEGACY + "/update?commit=true", {"delete": {"query": "*:*"}})
assert found("*:*") == 0
print("done")
