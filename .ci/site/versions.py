"""Lists the versions of a site of documents, a folder each: versions.json is what its switch reads.

.ci/site/versions.py FOLDER: also copies the newest release to `latest`, and leads visitors of the folder there.
"""

import json
import re
import shutil
import sys
from pathlib import Path

site = Path(sys.argv[1])


def order(version):
    """Sorts releases, a release after its candidates."""
    numbers, _, suffix = version[1:].partition("-")
    return [int(n) for n in numbers.split(".")], not suffix, [(len(part), part) for part in suffix.split(".")]


releases = sorted((folder.name for folder in site.iterdir() if re.fullmatch(r"v\d+\.\d+\.\d+(-.+)?", folder.name)), key=order, reverse=True)
newest = next((version for version in releases if "-" not in version), None)
versions = [{"version": version, "title": version, "aliases": ["latest"] if version == newest else []} for version in releases]
if (site / "next").exists():
    versions.append({"version": "next", "title": "next", "aliases": []})

shutil.rmtree(site / "latest", ignore_errors=True)
if newest:
    shutil.copytree(site / newest, site / "latest")
(site / "versions.json").write_text(json.dumps(versions))
first = "latest" if newest else versions[0]["version"]
(site / "index.html").write_text(f'<!DOCTYPE html><meta charset="utf-8"><title>Surehook</title><meta http-equiv="refresh" content="0; url={first}/"><a href="{first}/">Documents</a>\n')
