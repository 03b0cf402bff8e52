"""Checks the licenses of the npm packages in the pages. For a release it also writes their texts
and adds them to the bill of materials.

Usage: supply.py, or supply.py VERSION FOLDER. The folder has the texts of the Go modules in
THIRD_PARTY_NOTICES.txt, and the bill of materials of the Go module in sbom.cdx.json.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

ALLOWED = "MIT;ISC;Apache-2.0;BSD-2-Clause;BSD-3-Clause;0BSD;OFL-1.1;Unlicense;CC0-1.0;BlueOak-1.0.0;Python-2.0;MPL-2.0"
CHECKER = ".ci/licenses/node_modules/.bin/license-checker-rseidelsohn"
RENDERER = "swagger-ui-dist"
NAME = r"(?:@[\w.-]+/)?[\w.-]+"


def production(folder):
    """Returns what the checker says of the packages that a folder's package.json needs, by name and version."""
    command = [CHECKER, "--start", folder, "--production", "--excludePrivatePackages", "--json", "--onlyAllow", ALLOWED]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{folder}: {run.stderr.strip()}")
    return {tuple(package.rsplit("@", 1)): found for package, found in json.loads(run.stdout).items()}


def pages():
    """Returns the packages of the console, the portal and the renderer of the API's document, by name
    and version. Those inside the renderer have no version: only their names are in its source map."""
    console = production("web")
    names = {name for name, _ in console}
    for file in sorted(Path("web/src").rglob("*.ts*")):
        for imported in re.findall(rf"from '({NAME})", file.read_text()):
            if not imported.startswith(".") and imported not in names:
                sys.exit(f"{file} imports {imported}, which is not in the dependencies of web/package.json")

    renderer = {(name, version): found for (name, version), found in production("api/docs").items() if name == RENDERER}
    sources = json.loads(Path(f"api/docs/node_modules/{RENDERER}/swagger-ui-bundle.js.map").read_text())["sources"]
    inside = set(re.findall(rf"node_modules/({NAME})/", " ".join(sources)))
    bundled = {(name, ""): found for (name, _), found in production(".ci/licenses").items() if name in inside}
    if missing := sorted(inside - {name for name, _ in bundled}):
        sys.exit(f".ci/licenses/package.json lacks packages in {RENDERER}: {', '.join(missing)}")
    return console | renderer | bundled


def notice(package, found):
    texts = [Path(found[file]) for file in ("licenseFile", "noticeFile") if file in found]
    if not texts:
        sys.exit(f"{package} has no text of its license {found['licenses']}")
    parts = "".join(f"\n--- {text.name}\n\n{text.read_text().strip()}\n" for text in texts)
    return f"\n{'=' * 80}\n{package[0]} {package[1] or 'in ' + RENDERER}\n{parts}"


def component(package, found):
    name, version = package
    purl = f"pkg:npm/{quote(name)}" + (f"@{version}" if version else "")
    choice = {"expression": found["licenses"]} if " " in found["licenses"] else {"license": {"id": found["licenses"]}}
    return {"type": "library", "bom-ref": purl, "name": name, **({"version": version} if version else {}), "purl": purl, "licenses": [choice]}


def write(version, folder, packages):
    with (folder / "THIRD_PARTY_NOTICES.txt").open("a") as notices:
        notices.write("\n\nThe pages contain code of these packages of npm.\n")
        notices.writelines(notice(*one) for one in packages.items())

    sbom = folder / "sbom.cdx.json"
    bom = json.loads(sbom.read_text())
    module, components = bom["metadata"]["component"], [component(*one) for one in packages.items()]
    module["version"], module["purl"] = version, f"pkg:golang/{module['name']}@{version}"
    bom["components"] += components
    needs = next(one for one in bom["dependencies"] if one["ref"] == module["bom-ref"])
    needs["dependsOn"] += [one["bom-ref"] for one in components]
    sbom.write_text(json.dumps(bom, indent=1) + "\n")


packages = pages()
if len(sys.argv) > 1:
    write(sys.argv[1], Path(sys.argv[2]), packages)
print(f"the {len(packages)} packages of npm in the pages have permitted licenses")
