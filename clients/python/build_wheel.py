"""Builds the wheel (PEP 517) with Python's standard library alone. `python3 build_wheel.py <folder>` does it without pip."""

import base64
import hashlib
import pathlib
import re
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent
PACKAGE = ROOT / "akin_client"
VERSION = re.search(r'__version__ = "(.+)"', (PACKAGE / "__init__.py").read_text("utf-8"))[1]
NAME = f"akin_client-{VERSION}"
METADATA = f"""Metadata-Version: 2.1
Name: akin-client
Version: {VERSION}
Summary: The client of akin, the image-similarity search service. Standard library alone.
License: Apache-2.0
Keywords: akin,image-search,similarity-search,visual-search
Requires-Python: >=3.9
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: akin\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in sources()}
    info = f"{NAME}.dist-info"
    files[f"{info}/METADATA"] = (METADATA + (ROOT / "README.md").read_text("utf-8")).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # The same files give the same wheel.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    name = f"{NAME}.tar.gz"
    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz") as archive:
        for path in [*sources(), *(ROOT / file for file in ("README.md", "build_wheel.py", "pyproject.toml"))]:
            archive.add(path, f"{NAME}/{path.relative_to(ROOT).as_posix()}")
    return name


def sources():
    return sorted(path for path in PACKAGE.iterdir() if path.suffix == ".py" or path.name == "py.typed")


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
