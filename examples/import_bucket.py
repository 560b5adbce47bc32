"""Bring the pictures of a bucket (S3, MinIO, R2, …) into akin, as import payloads: Python's standard library alone.

python3 import_bucket.py <address of the bucket> <akin> [<prefix>]

It reads the listing page by page (ListObjectsV2), has akin analyze each picture, and stores the outputs with the address
of the object. Run it again at any time: what is stored with the same ETag is skipped. The bucket must allow anonymous
reading and listing; for a private one, sign the two requests to it, for example with botocore.
"""

import json
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

BUCKET, AKIN = (address.rstrip("/") for address in sys.argv[1:3])
PREFIX = sys.argv[3] if len(sys.argv) > 3 else ""
COLLECTION = AKIN + "/api/cores/my-collection"
TYPES = (".jpg", ".jpeg", ".png", ".gif", ".webp")


def send(address, body, content_type):
    with urllib.request.urlopen(urllib.request.Request(address, body, {"Content-Type": content_type})) as response:
        return json.load(response)


def pages():
    """The pictures of the bucket, as a list of (key, ETag) for each page of its listing."""
    token = None
    while True:
        query = {"list-type": "2", "prefix": PREFIX, **({"continuation-token": token} if token else {})}
        with urllib.request.urlopen(BUCKET + "/?" + urllib.parse.urlencode(query)) as response:
            listing = ElementTree.parse(response).getroot()
        space = listing.tag.removesuffix("ListBucketResult")
        objects = [(one.findtext(space + "Key"), one.findtext(space + "ETag")) for one in listing.iter(space + "Contents")]
        yield [(key, etag) for key, etag in objects if key.lower().endswith(TYPES)]
        token = listing.findtext(space + "NextContinuationToken")
        if not token:
            return


def stored(keys):
    """The ETags of those that akin has already."""
    quoted = ['"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"' for key in keys]
    query = {"q": "id:(" + " OR ".join(quoted) + ")", "fl": "id,etag", "rows": len(keys)}
    found = send(COLLECTION + "/select", urllib.parse.urlencode(query).encode(), "application/x-www-form-urlencoded")
    return {document["id"]: document.get("etag") for document in found["response"]["docs"]}


def document(key, etag):
    address = BUCKET + "/" + urllib.parse.quote(key)
    with urllib.request.urlopen(address) as picture:
        analysis = send(COLLECTION + "/analyze?thumbnail=true", picture.read(), "application/octet-stream")
    own = {"id": key, "image": address, "etag": etag}
    return {**own, "import": analysis["outputs"], "thumbnail": analysis["thumbnail"]}


seen = new = 0
for page in pages():
    known = stored([key for key, _ in page]) if page else {}
    documents = [document(key, etag) for key, etag in page if known.get(key) != etag]
    if documents:
        lines = "".join(json.dumps(one) + "\n" for one in documents)
        send(COLLECTION + "/update?commit=true", lines.encode(), "application/x-ndjson")
    seen, new = seen + len(page), new + len(documents)
print(f"{seen} pictures, {new} of them new or changed")
