"""Builds a folder of schemata and has verify attack it."""

import array
import contextlib
import fcntl
import hashlib
import os
import re
import subprocess
import sys
import tempfile

from . import report, schemata
from .parse import Refused

ROUNDS = 8  # of leaving out what does not compile
ERROR = re.compile(
    r"^(?:\S+ )?(/[^:\n]+):(\d+)(?::\d+)?: (?:fatal )?error:|^(/[^:\n]+):(\d+):\d+:\s+required from", re.M
)


def blamed(log, files):
    """(file, line) of the schemata's originals that the compiler complains of."""
    found = set()
    for m in ERROR.finditer(log):
        file, line = m.group(1) or m.group(3), m.group(2) or m.group(4)
        if os.path.realpath(file) in files:
            found.add((os.path.realpath(file), int(line)))
    return found


def leave_out(written, log):
    """Marks the places on the blamed lines as not made. False: there is none to blame."""
    files = {file for s in written for file in s.finders}
    lines, hit = blamed(log, files), False
    for schema in written:
        for file, finder in schema.finders.items():
            source = schema.unit.files[file]
            for place in finder.places:
                span = range(source.line(place.start), source.line(place.end) + 1)
                if place.made and any((file, n) in lines for n in span):
                    place.made, hit = False, True
    return hit


PROGRAMS = ("verify", "plumb_user_simt_worker")  # of a folder of schemata
SECTION = ".plumb_places"  # mutant_points.hpp


def compiled(programs):
    """The numbers of the places whose code is in one of the programs; none known: an empty set."""
    numbers = set()
    for program in filter(os.path.exists, programs):
        with tempfile.NamedTemporaryFile() as out:
            command = ["objcopy", "--dump-section", f"{SECTION}={out.name}", program, "/dev/null"]
            subprocess.run(command, capture_output=True, check=False)  # an error where it has no such section
            numbers.update(array.array("i", out.read()))
    return numbers


def leave_out_dead(fates, chosen, numbers):
    """A mutant that no case reached, and whose code its variant's templates leave out, counts as not made."""
    for number, fate in fates.items():
        place = chosen[number][1]
        if fate["state"] == report.NOT_COVERED and not any(m.number in numbers for m in place.mutants):
            fate["state"] = report.NOT_MADE


@contextlib.contextmanager
def alone_in(folder):
    """Holds the folder: a second attack there would exchange the mutants under the first."""
    os.makedirs(folder, exist_ok=True)
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(
                f"another --mutate writes {folder}: wait for its end, or work in another checkout"
            ) from None
        yield


def attack(plumb, folder, written, chosen, options):
    """Returns {number: fate} of the mutants in `chosen`, {number: (schema, place, mutant)}. `folder` is
    mutate/NAME of a build folder."""
    with alone_in(folder):
        return attack_alone(plumb, folder, written, chosen, options)


def attack_alone(plumb, folder, written, chosen, options):
    """attack(), where nobody else writes the folder."""
    fates = os.path.join(folder, "fates.json")
    command = [
        plumb,
        "--extra",
        folder,
        "verify",
        "--schemata",
        os.path.join(folder, schemata.LIST),
        "--json",
        fates,
        *options,
    ]
    env = dict(os.environ, OMP_WAIT_POLICY=os.environ.get("OMP_WAIT_POLICY", "passive"))
    for _ in range(ROUNDS):
        alive = {n: known for n, known in chosen.items() if known[1].made}
        schemata.write_folder(folder, written, alive)
        if not alive:
            return {}
        run = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
        log = run.stdout + run.stderr
        with open(os.path.join(folder, "attack.log"), "w", encoding="utf-8") as file:
            file.write(log)
        if run.returncode == 0:
            for line in re.findall(r"^note: sizes beside .*", log, re.M):
                print(line, file=sys.stderr)
            known = {fate["number"]: fate for fate in schemata.read_fates(fates)}
            place = hashlib.sha1(os.path.realpath(folder).encode()).hexdigest()[:10]
            beside = os.path.join(folder, "../../extra", place)
            if numbers := compiled(os.path.join(beside, name) for name in PROGRAMS):
                leave_out_dead(known, chosen, numbers)
            return known
        if "building failed" not in log or not leave_out(written, log):
            break
    print("\n".join(log.strip().split("\n")[-12:]), file=sys.stderr)
    raise Refused(f"the schemata in {folder} cannot be attacked; the whole log is {folder}/attack.log")
