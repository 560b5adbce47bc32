"""Analyze pictures in one akin, such as a cheap node, and store the outputs in another: Python's standard library alone.

python3 import_pipeline.py <analyzing akin> <storing akin> <folder of pictures>
"""

import json
import pathlib
import sys
import urllib.request

ANALYZING, STORING, FOLDER = sys.argv[1:]
TYPES = (".jpg", ".jpeg", ".png", ".gif", ".webp")
BATCH = 100


def post(address, body, content_type):
    request = urllib.request.Request(address, body, {"Content-Type": content_type})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def documents():
    for file in sorted(pathlib.Path(FOLDER).rglob("*")):
        if file.suffix.lower() in TYPES and file.is_file():
            analysis = post(ANALYZING + "/api/cores/any/analyze?thumbnail=true", file.read_bytes(), "application/octet-stream")
            yield {
                # The path below the folder: files in different folders may have the same name.
                "id": file.relative_to(FOLDER).as_posix(),
                "import": analysis["outputs"],
                "thumbnail": analysis["thumbnail"],
                "labels": ["imported"],
            }


def store(batch):
    body = "".join(json.dumps(document) + "\n" for document in batch).encode()
    post(STORING + "/api/cores/my-collection/update?commit=true", body, "application/x-ndjson")


batch = []
count = 0
for document in documents():
    batch.append(document)
    count += 1
    if len(batch) == BATCH:
        store(batch)
        batch = []
if batch:
    store(batch)
print(count, "pictures stored")
