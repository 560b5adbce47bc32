"""Analyze pictures in one akin, such as a cheap node, and store the outputs in another. Needs akin_client (clients/python).

python3 import_pipeline.py <analyzing akin> <storing akin> <folder of pictures>
"""

import pathlib
import sys

from akin_client import Client

ANALYZING, STORING, FOLDER = sys.argv[1:]
TYPES = (".jpg", ".jpeg", ".png", ".gif", ".webp")
BATCH = 100

node = Client(ANALYZING).collection("any")
collection = Client(STORING).collection("my-collection")


def documents():
    for file in sorted(pathlib.Path(FOLDER).rglob("*")):
        if file.suffix.lower() in TYPES and file.is_file():
            analysis = node.analyze(file, thumbnail=True)
            yield {
                # The path below the folder: files in different folders may have the same name.
                "id": file.relative_to(FOLDER).as_posix(),
                "import": analysis["outputs"],
                "thumbnail": analysis["thumbnail"],
                "labels": ["imported"],
            }


batch = []
count = 0
for document in documents():
    batch.append(document)
    count += 1
    if len(batch) == BATCH:
        collection.add(batch)
        batch = []
collection.add(batch, wait=True)
print(count, "pictures stored")
