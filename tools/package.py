#!/usr/bin/env python3
"""The packages of a build (tools/plumb package): what CPack makes of it, the wheel of the Python package,
an SPDX list of parts, and checksums.

    tools/package.py [--no-wheel] BUILD OUT PACKAGE...

PACKAGE: of the distribution, with which BUILD was built. PLUMB_CONTACT: who answers for the packages,
"Name <address>". Exit 1: a file in them names the tree; 2: one cannot be made. The bytes depend on
SOURCE_DATE_EPOCH, and not on the time."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def said(*words):
    return subprocess.run(
        words, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout


def packed(build, out):
    """CPack's files, and the folder of what is in them."""
    scratch = build / "packages"
    shutil.rmtree(scratch, ignore_errors=True)
    contact = os.environ.get("PLUMB_CONTACT")
    words = ["cpack", "--config", build / "CPackConfig.cmake", "-B", scratch]
    words += ["-D", f"CPACK_PACKAGE_CONTACT={contact}"] if contact else []
    subprocess.run(words, check=True, stdout=sys.stderr)
    files = []
    for path in sorted([*scratch.glob("*.deb"), *scratch.glob("*.tar.zst")]):
        files.append(Path(shutil.move(path, out / path.name)))
    return files, scratch / "_CPack_Packages"


def wheel(build, out):
    """The wheel in `out`; what is in it lies in the folder that is returned, too."""
    place = build / "wheel"
    shutil.rmtree(place, ignore_errors=True)
    python = place / "env/bin/python"
    environment = {**os.environ, "CXXFLAGS": f"-ffile-prefix-map={ROOT}/="}
    words = ["-m", "pip", "wheel", "--no-deps", "--wheel-dir", place, "--config-settings"]
    subprocess.run([sys.executable, "-m", "venv", place / "env"], check=True)
    subprocess.run(
        [python, *words, f"build-dir={build}/wheel-build", ROOT],
        check=True,
        env=environment,
        stdout=sys.stderr,
    )
    (made,) = place.glob("*.whl")
    shutil.unpack_archive(made, place / "inside", "zip")
    return Path(shutil.move(made, out / made.name)), place / "inside"


def naming_the_tree(folder):
    """Files that hold the path of this tree."""
    return [
        p
        for p in folder.rglob("*")
        if p.is_file() and not p.is_symlink() and str(ROOT).encode() in p.read_bytes()
    ]


def package_of(library):
    """The distribution's package of a shared library."""
    for path in (library, os.path.realpath(library), os.path.realpath(library).replace("/usr", "", 1)):
        owner = said("dpkg-query", "-S", path).split(":")[0]
        if owner:
            return owner
    return ""


def linked(folder):
    """The packages of the shared libraries that the programs of a folder are linked with."""
    libraries = set()
    for program in folder.rglob("bin/*"):
        libraries |= set(re.findall(r"=> (/\S+)", said("ldd", program)))
    return sorted({package_of(library) for library in libraries} - {""})


def spdx_package(name, version, **more):
    identifier = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
    out = {"SPDXID": identifier, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION"}
    return {**out, "filesAnalyzed": False, "copyrightText": "NOASSERTION", **more}


def bill(version, files, built_with, linked_with, created):
    """SPDX 2.3: Plumbline, what it is linked with and was built with, by the distribution's packages."""
    digests = [{"algorithm": "SHA256", "checksumValue": digest(path)} for path in files]
    main = spdx_package("plumbline", version, licenseDeclared="Apache-2.0", licenseConcluded="Apache-2.0")
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", main["SPDXID"])]
    others = {}
    for names, kind in ((linked_with, "DEPENDS_ON"), (built_with, "BUILD_DEPENDENCY_OF")):
        for name in names:
            there = said("dpkg-query", "-W", "-f=${Version}", name)
            if not there:
                continue
            others[name] = spdx_package(
                name, there, licenseDeclared="NOASSERTION", licenseConcluded="NOASSERTION"
            )
            ends = (main["SPDXID"], others[name]["SPDXID"])
            relations.append((ends[0], kind, ends[1]) if kind == "DEPENDS_ON" else (ends[1], kind, ends[0]))
    named = [
        {"SPDXID": f"SPDXRef-File-{i}", "fileName": f"./{path.name}", "checksums": [one]}
        for i, (path, one) in enumerate(zip(files, digests))
    ]
    text = "".join(one["checksumValue"] for one in digests)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"plumbline-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/plumbline-{version}-{hashlib.sha256(text.encode()).hexdigest()}",
        "creationInfo": {"created": created, "creators": ["Tool: plumbline-package"]},
        "packages": [main, *others.values()],
        "files": [{**f, "licenseConcluded": "Apache-2.0", "copyrightText": "NOASSERTION"} for f in named],
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
            for a, kind, b in relations
        ]
        + [
            {
                "spdxElementId": main["SPDXID"],
                "relationshipType": "GENERATES",
                "relatedSpdxElement": f["SPDXID"],
            }
            for f in named
        ],
    }


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main():
    words = [word for word in sys.argv[1:] if word != "--no-wheel"]
    build, out, built_with = Path(words[0]), Path(words[1]), words[2:]
    out.mkdir(parents=True, exist_ok=True)
    files, inside = packed(build, out)
    bad = naming_the_tree(inside)
    if len(words) == len(sys.argv) - 1:
        try:
            made, in_wheel = wheel(build, out)
        except subprocess.CalledProcessError as error:
            print(
                f"error: the wheel could not be built ({error}); package --no-wheel leaves it out",
                file=sys.stderr,
            )
            return 2
        files.append(made)
        bad += naming_the_tree(in_wheel)
    if bad:
        print(f"error: {bad[0]} names {ROOT}, and {len(bad) - 1} other files do", file=sys.stderr)
        return 1
    version = said(ROOT / "tools/plumb", "--version").split()[-1]
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc).strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    )
    list_of_parts = out / f"plumbline-{version}.spdx.json"
    parts = bill(version, files, built_with, linked(inside), created)
    list_of_parts.write_text(json.dumps(parts, indent=1, sort_keys=True) + "\n")
    files.append(list_of_parts)
    (out / "SHA256SUMS").write_text("".join(f"{digest(path)}  {path.name}\n" for path in files))
    for path in (*files, out / "SHA256SUMS"):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
