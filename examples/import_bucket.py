"""Bring the pictures of a bucket (S3, MinIO, R2, …) into akin, as import payloads. Needs akin_client (clients/python).

python3 import_bucket.py <address of the bucket> <akin> [<prefix>]

It reads the listing page by page (ListObjectsV2), has akin analyze each picture, and stores the outputs with the address
of the object. Run it again at any time: what is stored with the same ETag is skipped. The bucket must allow anonymous
reading and listing; for a private one, sign the two requests to it, for example with botocore.
"""

import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

from akin_client import Client

BUCKET, AKIN = sys.argv[1].rstrip("/"), sys.argv[2]
PREFIX = sys.argv[3] if len(sys.argv) > 3 else ""
collection = Client(AKIN).collection("my-collection")
TYPES = (".jpg", ".jpeg", ".png", ".gif", ".webp")


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
    return {document["id"]: document.get("etag") for document in collection.get(keys, fields=["etag"])}


def document(key, etag):
    address = BUCKET + "/" + urllib.parse.quote(key)
    with urllib.request.urlopen(address) as picture:
        analysis = collection.analyze(picture.read(), thumbnail=True)
    own = {"id": key, "image": address, "etag": etag}
    return {**own, "import": analysis["outputs"], "thumbnail": analysis["thumbnail"]}


seen = new = 0
for page in pages():
    known = stored([key for key, _ in page])
    documents = [document(key, etag) for key, etag in page if known.get(key) != etag]
    if documents:
        collection.add(documents, wait=True)
    seen, new = seen + len(page), new + len(documents)
print(f"{seen} pictures, {new} of them new or changed")
