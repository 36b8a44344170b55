"""infer under mpirun, as a person starts it: answers that do not depend on the number of ranks, and jobs that
end where a rank fails. Exits with 77 (skipped) where infer was built without MPI, after the test of that.

Environment: PLUMB_INFER, the program; PLUMB_MPIRUN, mpirun."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

INFER = os.environ["PLUMB_INFER"]
INFER_SIMT = Path(INFER).with_name("infer_simt")
MPIRUN = os.environ.get("PLUMB_MPIRUN", "mpirun")
COUNTS = (1, 2, 3, 4, 7)
PATIENCE = 300  # seconds after which a test gives up; nothing is measured
MOST_SECONDS = 30  # in which a job must have ended after a rank failed

# Open MPI as root, with more ranks than cores, in a container that allows neither ssh nor one process to read
# the memory of another
ENVIRONMENT = dict(
    os.environ,
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_hwloc_base_binding_policy="none",
    OMPI_MCA_btl="self,vader",
    OMPI_MCA_btl_vader_single_copy_mechanism="none",
    OMPI_MCA_plm="isolated",
    OMP_NUM_THREADS="1",
    PLUMB_CACHE="/nonexistent",
)
ENVIRONMENT.pop("PLUMB_DATA", None)


def built_with(package):
    version = subprocess.run(
        [INFER, "--version"], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    return f"{package}: not built in" not in version.stdout


class Ranks(unittest.TestCase):
    def setUp(self):
        if not built_with("MPI"):
            self.skipTest("infer was built without MPI")
        scratch = tempfile.TemporaryDirectory(prefix="plumb ranks ")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.program = INFER

    def command(self, count, words, before=""):
        """`before`: shell commands of each rank, with its number in $rank."""
        rank = 'rank=$OMPI_COMM_WORLD_RANK; echo $$ >"$0/pid.$rank"; '
        script = rank + before + ' exec "$@"'
        return [MPIRUN, "-np", str(count), "sh", "-c", script, str(self.folder), self.program, *words]

    def start(self, count, words, before=""):
        return subprocess.Popen(
            self.command(count, words, before),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=ENVIRONMENT,
            cwd=self.folder,
        )

    def end(self, job, patience=PATIENCE):
        self.addCleanup(job.kill)
        text, _ = job.communicate(timeout=patience)
        return job.returncode, text

    def infer(self, count, words, before=""):
        return self.end(self.start(count, words, before))

    def pid(self, rank):
        path = self.folder / f"pid.{rank}"
        while not (path.exists() and path.read_text().strip()):
            time.sleep(0.05)
        return int(path.read_text())

    def wait_until_watched(self, job, count):
        """Returns when every rank has its watch: the job computes or will."""
        for rank in range(count):
            tasks = Path(f"/proc/{self.pid(rank)}/task")
            while not any(p.read_text().strip() == "watch" for p in tasks.glob("*/comm")):
                self.assertIsNone(job.poll())
                time.sleep(0.05)

    def same_for_all_counts(self, words, out, counts=COUNTS):
        first = None
        for count in counts:
            with self.subTest(ranks=count):
                code, text = self.infer(count, [*words, "--out", out, "--json", "run.json"])
                self.assertEqual(code, 0, text)
                found = json.loads((self.folder / "run.json").read_text())
                ids = found.get("categories", {}).get("ids")
                values = (self.folder / out).read_bytes()
                first = first or (ids, values)
                self.assertEqual((ids, values), first)
                self.assertTrue(all(rank["right"] for rank in found.get("ranks", [])))
                self.assertEqual(len(found.get("ranks", [])), 0 if count == 1 else count)

    def test_sdnn_is_the_same_for_every_number_of_ranks(self):
        words = ["sdnn", "--inputs", "100", "--layers", "20", "--check"]
        self.same_for_all_counts(words, "y.npz")
        self.same_for_all_counts([*words, "--absorbing", "on"], "absorbing.npz", counts=(3,))
        self.assertEqual((self.folder / "y.npz").read_bytes(), (self.folder / "absorbing.npz").read_bytes())

    def test_fewer_inputs_than_ranks(self):
        self.same_for_all_counts(["sdnn", "--inputs", "3", "--layers", "4", "--check"], "y.npz")

    def test_each_rank_with_a_device_of_its_own(self):
        if not INFER_SIMT.exists():
            self.skipTest("infer_simt is not built here")
        words = ["sdnn", "--inputs", "6", "--layers", "2", "--check", "--device", "simt"]
        code, text = self.infer(2, words)
        self.assertEqual(code, 2, text)
        self.assertIn("--device simt: start infer_simt itself under mpirun", text)
        self.program = str(INFER_SIMT)
        self.same_for_all_counts(words, "y.npz")
        found = json.loads((self.folder / "run.json").read_text())
        self.assertTrue(found["pipeline"]["name"].startswith("gpu_"))
        devices = [rank["device"] for rank in found["ranks"]]
        self.assertEqual(devices, [f"CPU executor (device {rank})" for rank in range(COUNTS[-1])])

    def test_ranks_without_a_gpu_end_together(self):
        code, text = self.infer(3, ["sdnn", "--inputs", "6", "--layers", "2", "--device", "gpu"])
        if code == 0:
            self.skipTest("there is a GPU here")
        self.assertEqual(code, 77, text)
        self.assertEqual(text.count("skip: "), 1, text)
        self.assertRegex(text, r"skip: rank 0 on .*: (no CUDA device|driver too old|this infer was)")

    def test_what_ranks_cannot_do_on_devices_is_refused(self):
        code, text = self.infer(2, ["gcn", "--device", "gpu"])
        self.assertEqual(code, 2, text)
        self.assertIn("--device gpu: several ranks compute a GCN on the CPU only", text)

    def test_network_of_ones_own(self):
        (self.folder / "w.mtx").write_text(
            "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 0.5\n2 1 -1\n2 2 0.25\n3 2 2\n"
        )
        (self.folder / "x.tsv").write_text("".join(f"{i}\t{i % 3 + 1}\t{i}\n" for i in range(1, 12)))
        (self.folder / "network.json").write_text(
            json.dumps(
                {
                    "inputs": "x.tsv",
                    "cap": None,
                    "orientation": "inputs x outputs",
                    "layers": [{"file": "w.mtx", "bias": [0.5, -0.25]}],
                }
            )
        )
        self.same_for_all_counts(["sdnn", "--network", ".", "--check"], "y.npy")

    def test_gcn_is_the_same_for_every_number_of_ranks(self):
        self.same_for_all_counts(["gcn", "--layers", "4", "--check", "--pipeline", "fused"], "y.npy")

    def test_gcn_is_the_same_in_metis_parts(self):
        words = ["gcn", "--layers", "3", "--check", "--partition", "metis", "--json", "run.json"]
        code, text = self.infer(2, words)
        if not built_with("METIS"):
            self.assertEqual(code, 2, text)
            self.assertIn("--partition metis: METIS is not built in", text)
            return
        self.assertRegex(text, r"partition: metis in .*, once per graph: \d+ of \d+ entries of A between")
        found = json.loads((self.folder / "run.json").read_text())
        divided = found["partition"]
        self.assertLess(divided["bytes_sent"], divided["rows"]["bytes_sent"])
        self.assertNotIn("first", found["ranks"][0])
        self.same_for_all_counts(words[:-2], "y.npy", (1, 3, 4))

    def needs_are_what_a_run_measures(self, words):
        count = 4
        told = subprocess.run(
            [INFER, *words, "--dry-run", "--ranks", str(count), "--json", "needs.json"],
            capture_output=True,
            text=True,
            check=True,
            env=ENVIRONMENT,
            cwd=self.folder,
            timeout=PATIENCE,
        ).stdout
        lines = re.findall(r"^rank \d: .* memory .*B; once sends", told, re.MULTILINE)
        self.assertEqual(len(lines), count, told)
        needs = json.loads((self.folder / "needs.json").read_text())["ranks"]
        code, text = self.infer(count, [*words, "--json", "run.json"])
        self.assertEqual(code, 0, text)
        run = json.loads((self.folder / "run.json").read_text())
        found, seconds = run["ranks"], run["seconds"]
        # a first run that took long is the only one; else it is timed as cold, and then one more
        runs = len(seconds["runs"]) + ("cold" in seconds)
        few = 48 << 10  # options, verdicts, ids
        program = self.peaks_of_little(count)
        for rank, (n, f) in enumerate(zip(needs, found, strict=True)):
            with self.subTest(rank=rank):
                self.assertEqual((n["first"], n["rows"]), (f["first"], f["rows"]))
                for way in ("sent_bytes", "received_bytes"):
                    foretold = n["once"][way] + runs * n["each_run"][way]
                    self.assertLessEqual(foretold, f[way])
                    self.assertLessEqual(f[way], 1.01 * foretold + few)
                self.assertLess(n["memory_bytes"], f["peak_bytes"])
                # beside the data: the program with its libraries, and rank 0's readers
                self.assertLess(f["peak_bytes"], 3 * n["memory_bytes"] + program[rank] + (150 << 20))

    def peaks_of_little(self, count):
        """Memory of each rank, in bytes, where the data are next to nothing."""
        code, text = self.infer(count, ["sdnn", "--inputs", "5", "--layers", "1", "--json", "little.json"])
        self.assertEqual(code, 0, text)
        found = json.loads((self.folder / "little.json").read_text())["ranks"]
        return [f["peak_bytes"] for f in found]

    def test_dry_run_of_sdnn(self):
        self.needs_are_what_a_run_measures(["sdnn", "--inputs", "2000", "--layers", "60"])

    def test_dry_run_of_gcn(self):
        self.needs_are_what_a_run_measures(["gcn", "--twin", "web-Stanford", "--widths", "16-8-6-4"])

    def test_a_launcher_of_another_mpi_is_noticed(self):
        run = subprocess.run(
            [INFER, "sdnn", "--inputs", "5", "--layers", "2"],
            env=dict(ENVIRONMENT, PMI_SIZE="3"),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        self.assertEqual(run.returncode, 2)
        self.assertIn("error: 3 ranks were started, but by the launcher of another MPI", run.stderr)
        self.assertEqual(run.stdout, "")

    def test_what_is_wrong_for_all_is_said_once(self):
        code, text = self.infer(3, ["sdnn", "--layrs", "5"])
        self.assertEqual(code, 2)
        self.assertEqual(text.count("error: rank "), 1, text)
        self.assertIn("error: rank 0 of 3", text)
        self.assertIn("unknown option '--layrs'; did you mean '--layers'?", text)

    def test_a_list_that_differs_makes_exit_code_1_and_names_the_rank(self):
        (self.folder / "list.tsv").write_text("1\n2\n3\n40\n")
        code, text = self.infer(4, ["sdnn", "--inputs", "40", "--layers", "120", "--categories", "list.tsv"])
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"rank 0 on .*: inputs 1 to 10, .*; differs: missing")
        self.assertRegex(text, r"rank 3 on .*: inputs 31 to 40, .*; differs: missing 1 \(40\)")

    def test_other_options_and_other_data_are_refused(self):
        words = ["sdnn", "--inputs", "5", "--layers", "2"]
        code, text = self.infer(2, words, "[ $rank = 0 ] || set -- \"$@\" --cap 16;")
        self.assertEqual(code, 2)
        self.assertIn("rank 1 was started with other options", text)
        for rank in (0, 1):
            (self.folder / str(rank)).mkdir()
            (self.folder / str(rank) / "list.tsv").write_text(f"{rank + 1}\n")
        code, text = self.infer(2, [*words, "--categories", "list.tsv"], "cd $rank;")
        self.assertEqual(code, 2)
        self.assertIn("list.tsv: rank 1 sees another content than rank 0", text)

    def test_a_full_disk_is_an_error_and_leaves_nothing(self):
        words = ["sdnn", "--inputs", "5", "--layers", "2", "--out", "y.npz"]
        code, text = self.infer(2, words, "ulimit -f 0;")
        self.assertNotEqual(code, 0, text)
        self.assertEqual(list(self.folder.glob("*y.npz*")), [])

    def endless(self, count, *words):
        forever = ["sdnn", "--inputs", "50", "--layers", "12", "--repeat", "1000000000", "--json", "run.json"]
        job = self.start(count, [*forever, *words])
        self.wait_until_watched(job, count)
        return job

    def ends_soon(self, job):
        begun = time.monotonic()
        code, text = self.end(job)
        self.assertNotEqual(code, 0)
        self.assertLess(time.monotonic() - begun, MOST_SECONDS, text)
        self.assertFalse((self.folder / "run.json").exists())
        return text

    def test_a_killed_rank_ends_the_job(self):
        job = self.endless(3)
        os.kill(self.pid(1), signal.SIGKILL)
        self.assertRegex(self.ends_soon(job), r"rank 1 .*signal 9|rank 1 ")

    def test_a_stopped_rank_ends_the_job(self):
        job = self.endless(3, "--rank-timeout", "5")
        os.kill(self.pid(2), signal.SIGSTOP)
        self.assertRegex(self.ends_soon(job), r"error: rank \d of 3 .*: rank 2 gave no sign of life for 5 s")

    def test_a_rank_without_memory_ends_the_job_with_its_name(self):
        words = ["sdnn", "--inputs", "20", "--layers", "1200", "--neurons", "1024", "--json", "run.json"]
        room = least_address_space() + 300_000  # the weights alone take more
        code, text = self.infer(2, words, f"[ $rank = 0 ] || ulimit -v {room};")
        self.assertEqual(code, 2, text)
        self.assertRegex(text, r"error: rank 1 of 2 .*: out of memory")
        self.assertFalse((self.folder / "run.json").exists())


def least_address_space():
    """KiB that the program needs to start: its libraries are large in a build for a GPU."""
    least, enough = 10_000, 40_000_000
    while enough - least > 10_000:
        middle = (least + enough) // 2
        start = f"ulimit -v {middle} && exec {shlex.quote(INFER)} --version"
        run = subprocess.run(["sh", "-c", start], capture_output=True, check=False, timeout=PATIENCE)
        if run.returncode == 0:
            enough = middle
        else:
            least = middle
    return enough


class Launched(unittest.TestCase):
    def test_several_ranks_without_mpi_are_refused(self):
        if built_with("MPI"):
            self.skipTest("infer was built with MPI")
        for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"):
            run = subprocess.run(
                [INFER, "sdnn", "--inputs", "5", "--layers", "2"],
                env=dict(ENVIRONMENT, **{name: "2"}),
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE,
            )
            self.assertEqual(run.returncode, 2)
            self.assertIn("error: 2 ranks were started, but this program was built without MPI", run.stderr)
            self.assertEqual(run.stdout, "")


if __name__ == "__main__":
    program = unittest.main(exit=False)
    if not program.result.wasSuccessful():
        sys.exit(1)
    if not built_with("MPI"):
        print("skipped: infer was built without MPI (tools/plumb setup --with mpi)")
        sys.exit(77)
