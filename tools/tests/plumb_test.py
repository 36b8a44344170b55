"""tools/plumb as a person types it, with cmake, ninja and dpkg-query played by scripts: what it builds, says
and hands over."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120  # seconds after which a test gives up; nothing is measured

# Keeps its cache as the real one does: what is not defined anew stays.
CMAKE = """#!/bin/bash
defined=()
while [ $# -gt 0 ]; do
  case $1 in
    -B) dir=$2; shift ;;
    -D*) defined+=("${1#-D}") ;;
  esac
  shift
done
mkdir -p "$dir"
cache=$dir/CMakeCache.txt
touch "$cache"
for entry in "${defined[@]}"; do
  grep -v "^${entry%%:*}:" "$cache" >"$cache.new"
  printf '%s\\n' "$entry" >>"$cache.new"
  mv "$cache.new" "$cache"
done
printf 'build %s: x\\n' bin/plumb_simt_worker >"$dir/build.ninja"
sed -n 's/^PLUMB_EXTRA_KERNELS:STRING=//p' "$dir/CMakeCache.txt" | tr ';' '\\n' |
  while IFS= read -r folder; do
  printf 'build extra/%s/plumb_user_simt_worker: x\\n' "$(printf %s "$folder" | sha1sum | cut -c1-10)" \\
    >>"$dir/build.ninja"
done
echo cmake >>"$PLAY/log"
"""

# Notes its targets, and makes each a program that says how it was called. It waits while there is a file
# `hold`.
NINJA = """#!/bin/bash
[ "$3" != -t ] || { printf 'a step\n%.0s' {1..46}; exit; }
echo "ninja ${*:3}" >>"$PLAY/log"
[ ! -e "$PLAY/broken" ] || exit 1
while [ -e "$PLAY/hold" ]; do sleep 0.05; done
for target in "${@:3}"; do
  mkdir -p "$2/$(dirname "$target")"
  cat >"$2/$target" <<'END'
#!/bin/bash
if [ "$1" = crash ]; then kill -SEGV $$; fi
if [ "$1" = end ]; then exit 5; fi
if [ "$1" = --needs ]; then cat "$PLAY/needs" 2>/dev/null; exit 0; fi
printf '%s\\n' "$0 $*" "command: $PLUMB_COMMAND"
END
  chmod +x "$2/$target"
done
"""


class Plumb(unittest.TestCase):
    def setUp(self):
        self.folder = Path(
            tempfile.mkdtemp(prefix="plumb test ")
        )  # with a space: paths are quoted everywhere
        self.addCleanup(shutil.rmtree, self.folder)
        for part in ("CMakePresets.json", "tools/plumb"):
            (self.folder / part).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / part, self.folder / part)
        shutil.copytree(ROOT / "tools/scaffold", self.folder / "tools/scaffold")
        for op in ("spmv", "gemm", "skinny_gemm"):
            (self.folder / f"reference/ops/{op}.hpp").parent.mkdir(parents=True, exist_ok=True)
            (self.folder / f"reference/ops/{op}.hpp").touch()
        self.play = self.folder / "play"
        self.play.mkdir()
        for name, text in (("cmake", CMAKE), ("ninja", NINJA), ("dpkg-query", "#!/bin/bash\nprintf 'ii '\n")):
            self.put_program(name, text)
        self.environment = dict(
            os.environ, PLAY=str(self.play), PATH=f"{self.play}:{os.environ['PATH']}", PLUMB_PRESET="cpu"
        )
        for name in ("PLUMB_COMMAND", "PLUMB_DATA"):
            self.environment.pop(name, None)

    def plumb(self, *words, preset="cpu"):
        return subprocess.run(
            ["tools/plumb", *words],
            cwd=self.folder,
            env=dict(self.environment, PLUMB_PRESET=preset),
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def put_program(self, name, text):
        (self.play / name).write_text(text)
        (self.play / name).chmod(0o755)

    def operators(self, preset="cpu", name="PLUMB_OPERATORS"):
        """What the build was configured for."""
        cache = (self.folder / "build" / preset / "CMakeCache.txt").read_text()
        return [line.partition("=")[2] for line in cache.splitlines() if line.startswith(name + ":")]

    def log(self):
        return (self.play / "log").read_text().splitlines() if (self.play / "log").exists() else []

    def folder_of_kernels(self, name, *files):
        (self.folder / name).mkdir()
        for file in files:
            (self.folder / name / file).write_text("")

    def test_kernels_are_built_of_the_operators_that_a_command_names(self):
        for words, built in (
            (["verify", "--case", "spmv.f32(rows=3,cols=*),spmv.*"], ["spmv"]),
            (["verify", "--list"], ["spmv"]),
            (["verify", "--case=gcn"], ["spmv"]),
            (["bench", "--case", "gemm.*"], ["gemm;spmv"]),
            (["verify", "--describe", "skinny_gemm"], ["gemm;skinny_gemm;spmv"]),
            (["verify", "--case", "all"], ["all"]),
            (["verify", "--case", "spmv"], ["all"]),
        ):
            self.assertEqual(self.plumb(*words).returncode, 0)
            self.assertEqual(self.operators(), built, words)
        self.assertEqual(self.log().count("cmake"), 4)

    def test_a_glob_a_file_or_no_name_may_mean_several_operators(self):
        (self.folder / "mine.txt").write_text("# two\nspmv.f32(rows=3)\n\nskinny_gemm.*\n")
        for words, built in (
            (["--case", "*gemm.*"], ["gemm;skinny_gemm"]),
            (["--case", "@mine.txt"], ["skinny_gemm;spmv"]),
            (["--matrix", "m.mtx"], ["all"]),
            (["--mutants"], ["all"]),
            (["--mutants", "--case", "gemm"], ["gemm"]),
        ):
            self.plumb("verify", *words)
            self.assertEqual(self.operators(), built, words)
            shutil.rmtree(self.folder / "build")

    def test_kernels_for_the_executor_are_built_where_it_runs_them(self):
        for words, built in (
            (["--case", "all"], ["spmv"]),
            (["--case", "gemm", "--device", "simt"], ["gemm;spmv"]),
            (["--case", "skinny_gemm", "--device=cpu,simt", "--race"], ["gemm;skinny_gemm;spmv"]),
            (["--mutants"], ["all"]),
        ):
            self.plumb("verify", *words)
            self.assertEqual(self.operators(name="PLUMB_SIMT_OPERATORS"), built, words)

    def test_mutants_are_built_where_a_command_runs_or_lists_them(self):
        def built():
            return "PLUMB_MUTANTS:BOOL=ON" in (self.folder / "build/cpu/CMakeCache.txt").read_text()

        self.plumb("verify", "--case", "spmv")
        self.assertFalse(built())
        self.plumb("verify", "--mutants", "--case", "spmv")
        self.assertTrue(built())
        self.plumb("verify", "--case", "spmv")
        self.assertTrue(built())  # what is there stays
        self.assertEqual(self.log().count("cmake"), 2)

    def test_build_takes_the_kernels_of_all_operators(self):
        self.plumb("verify", "--case", "spmv")
        self.plumb("build")
        self.assertEqual(self.operators(), ["all"])
        self.assertIn("ninja bin/verify bin/bench bin/infer bin/dataset", self.log())
        self.plumb("build", "--all")
        self.assertEqual(self.log()[-1], "ninja ")
        self.assertEqual(self.plumb("build", "--all", "verify").returncode, 2)

    def test_kernels_for_a_gpu_are_built_where_there_is_one_or_it_is_asked_for(self):
        self.put_program("nvcc", "#!/bin/bash\n")
        one = "#!/bin/bash\necho 'GPU 0: NVIDIA H200'\n"
        none = "#!/bin/bash\necho 'No devices were found'; exit 9\n"
        self.environment["CUDA_HOME"] = ""
        for devices, words, preset in (
            (none, [], "cpu"),
            (none, ["--device", "simt"], "cpu"),
            (none, ["--device=gpu"], "gpu"),
            (one, [], "gpu"),
            (one, ["--device", "cpu,simt"], "cpu"),
            (one, ["--device", "gpu,simt"], "gpu"),
        ):
            self.put_program("nvidia-smi", devices)
            got = self.plumb("verify", "--case", "spmv", *words, preset="")
            self.assertIn(f"build/{preset}/bin/verify", got.stdout, (devices, words))
        self.put_program("nvidia-smi", none)
        self.plumb("build", "--all", preset="")
        self.assertEqual(self.operators("gpu"), ["all"])

    def test_help_is_in_groups_of_at_most_100_columns_and_the_version_is_the_projects(self):
        for words in (["help"], ["simt", "--help"]):
            ran = subprocess.run([ROOT / "tools/plumb", *words], check=True, capture_output=True, text=True)
            text = ran.stdout
            self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)
            self.assertIn("\nexamples\n", text)
        self.assertIn("--strict ", text)
        got = subprocess.run([ROOT / "tools/plumb", "--version"], check=True, capture_output=True, text=True)
        version = re.escape(got.stdout.split()[-1])
        self.assertRegex((ROOT / "CMakeLists.txt").read_text(), rf"VERSION {version} ")

    def test_a_first_build_says_what_and_how_much(self):
        said = self.plumb("verify", "--case", "gemm").stderr
        self.assertIn("building verify, used here for the first time, with the kernels of gemm", said)
        self.assertIn("46 steps", said)
        self.assertEqual(self.plumb("verify", "--case", "gemm").stderr, "")

    def test_what_stops_a_build_is_no_failure_of_a_kernel(self):
        (self.folder / "build").write_text("")  # a folder that nobody may write to
        got = self.plumb("verify", "--case", "spmv")
        self.assertEqual(got.returncode, 2)
        self.assertRegex(got.stderr, r"^error: nothing can be written to .*/build: .* exists")
        self.assertEqual(got.stderr.count("error:"), 1)
        (self.folder / "build").unlink()
        (self.play / "broken").touch()
        got = self.plumb("verify", "--case", "spmv")
        self.assertEqual(got.returncode, 2)
        self.assertIn("error: building failed; to see it alone: ninja -C build/cpu bin/verify", got.stderr)
        self.assertEqual(got.stderr.count("error:"), 1)

    def test_an_interrupted_build_says_so(self):
        (self.play / "hold").touch()
        started = subprocess.Popen(
            ["tools/plumb", "verify", "--case", "spmv"],
            cwd=self.folder,
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            while not any(line.startswith("ninja") for line in self.log()):
                self.assertIsNone(started.poll())
            os.killpg(started.pid, signal.SIGINT)  # as a terminal does
            said = started.communicate(timeout=PATIENCE)[1]
        finally:
            (self.play / "hold").unlink()
        self.assertEqual(started.returncode, 130)
        self.assertIn("plumb: interrupted", said)
        self.assertNotIn("failed", said)

    def test_second_build_waits_for_the_first(self):
        self.plumb("build", "verify")
        (self.play / "log").unlink()
        (self.play / "hold").touch()

        def start():
            return subprocess.Popen(
                ["tools/plumb", "build", "verify"],
                cwd=self.folder,
                env=self.environment,
                stderr=subprocess.PIPE,
                text=True,
            )

        first = start()
        try:
            while not self.log():
                self.assertIsNone(first.poll())
            second = start()
            said = second.stderr.readline()  # what a second ninja would say comes only after the hold
            self.assertIn("waiting for another tools/plumb", said)
            self.assertEqual(self.log(), ["ninja bin/verify"])
        finally:
            (self.play / "hold").unlink()
            first.communicate(timeout=PATIENCE)
        second.communicate(timeout=PATIENCE)
        self.assertEqual((first.returncode, second.returncode), (0, 0))
        self.assertEqual(self.log(), ["ninja bin/verify", "ninja bin/verify"])

    def test_unknown_preset_is_refused_and_leaves_nothing(self):
        for preset in ("../x", "cpuu", "base"):
            for command in (
                ["dataset", "list"],
                ["verify"],
                ["build"],
                ["test"],
                ["setup"],
                ["simt", "a.cu"],
            ):
                got = self.plumb(*command, preset=preset)
                self.assertEqual(got.returncode, 2, command)
                if command[0] != "simt":
                    self.assertIn(f"no preset is called '{preset}'", got.stderr)
        self.assertFalse((self.folder / "build").exists())
        self.assertIn("did you mean 'cpu'?", self.plumb("build", preset="cpuu").stderr)

    def test_options_of_simt_that_cannot_be_are_refused(self):
        for option, told in (
            ("--volatile=perhaps", "it is --volatile=plain or --volatile=atomic"),
            ("--seed=x", "a seed is a number"),
            ("--json", "takes its value behind a ="),
            ("--html", "takes its value behind a ="),
            ("--suppress=nowhere.txt", "nowhere.txt: no such file (simt --suppress)"),
        ):
            got = self.plumb("simt", option, "a.cu")
            self.assertEqual(got.returncode, 2, option)
            self.assertIn(told, got.stderr)

    def test_help_says_nothing_of_a_reader_that_stops(self):
        words = "tools/plumb help 2>errors | true; cat errors"
        got = subprocess.run(
            ["bash", "-c", words],
            cwd=self.folder,
            env=self.environment,
            text=True,
            capture_output=True,
            check=False,
        )
        self.assertEqual((got.stdout, got.stderr), ("", ""))

    def test_workers_that_verify_asks_for_are_built(self):
        (self.play / "needs").write_text("needs: plumb_simt_worker\nneeds: plumb_stress_worker\n")
        got = self.plumb("verify", "--case", "a b", "--device", "simt")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn("build/cpu/bin/verify --case a b --device simt", got.stdout)
        self.assertEqual(
            self.log(), ["cmake", "ninja bin/verify", "ninja bin/plumb_simt_worker"]
        )  # this build has no other

    def test_races_of_host_kernels_are_looked_for_in_a_build_of_their_own(self):
        for words in (
            ["--race", "--device", "cpu"],
            ["--device=cpu", "--race"],
            ["--mutants", "--race", "--device", "cpu"],
        ):
            self.assertIn("build/archer/bin/verify " + " ".join(words), self.plumb("verify", *words).stdout)
        others = (["--race"], ["--race", "--device", "cpu,simt"], ["--device", "cpu"], ["--device", "simt"])
        for words in others:
            self.assertIn("build/cpu/bin/verify " + " ".join(words), self.plumb("verify", *words).stdout)

    def keep_only(self, *more):
        """Leaves the usual programs on the PATH, and those named."""
        (self.play / "dpkg-query").unlink()
        present = "bash sh env readlink dirname uname mkdir cut sed sort grep cat rm setarch ninja cmake"
        only = self.folder / "only"
        only.mkdir()
        for tool in [*present.split(), *more]:
            found = shutil.which(tool, path=self.environment["PATH"])
            if found:
                (only / tool).symlink_to(found)
        self.environment["PATH"] = str(only)

    def test_commands_written_in_python_name_its_package_where_there_is_none(self):
        self.keep_only()
        got = self.plumb("new-plugin", "spmv", "mine")
        self.assertEqual(got.returncode, 2, got.stderr)
        self.assertIn("new-plugin needs python3: apt-get install python3", got.stderr)

    def test_races_without_clang_name_its_package(self):
        self.keep_only("python3")
        got = self.plumb("verify", "--race", "--device", "cpu")
        self.assertEqual(got.returncode, 2, got.stderr)
        self.assertIn("apt-get install clang libomp-dev", got.stderr)

    def test_extra_builds_beside_the_usual_programs(self):
        self.folder_of_kernels("mine", "a.cpp", "b.cu")
        self.folder_of_kernels("yours", "a.cpp")
        (self.play / "needs").write_text("needs: plumb_user_simt_worker\n")
        got = self.plumb("--extra", "mine", "verify", "--case", "x")
        place = [line.split()[1] for line in self.log() if line.startswith("ninja")]
        self.assertRegex(place[0], r"^extra/[0-9a-f]{10}/verify$")
        self.assertEqual(place[1], place[0].replace("/verify", "/plumb_user_simt_worker"))
        self.assertIn(f"build/cpu/{place[0]} --case x", got.stdout)
        self.assertIn("command: tools/plumb --extra mine\n", got.stdout)
        self.plumb("--extra", "yours", "verify", "--case", "x")
        cache = (self.folder / "build/cpu/CMakeCache.txt").read_text()
        (folders,) = [line for line in cache.splitlines() if line.startswith("PLUMB_EXTRA_KERNELS")]
        self.assertEqual(
            sorted(Path(f).name for f in folders.partition("=")[2].split(";")), ["mine", "yours"]
        )
        configured = self.log().count("cmake")
        self.plumb("--extra", "mine", "verify", "--case", "x")
        self.assertEqual(self.log().count("cmake"), configured)
        shutil.rmtree(self.folder / "yours")
        self.folder_of_kernels("third one", "a.cu")
        got = self.plumb("--extra", "third one", "build")
        self.assertNotIn("yours", (self.folder / "build/cpu/CMakeCache.txt").read_text())
        self.assertRegex(
            got.stderr, r"build/cpu/extra/[0-9a-f]{10} is up to date, with the kernels of .*/third one"
        )

    def test_extra_refuses_what_cannot_be_a_folder_of_kernels(self):
        self.folder_of_kernels("a;b", "a.cpp")
        self.folder_of_kernels("empty")
        for name, reason in (
            ("a;b", "may hold none of ;"),
            ("empty", "holds no .cpp or .cu file"),
            ("absent", "no such folder"),
        ):
            got = self.plumb("--extra", name, "verify")
            self.assertEqual(got.returncode, 2)
            self.assertIn(reason, got.stderr)
        self.assertEqual(self.log(), [])

    def test_repro_lines_begin_with_what_was_typed(self):
        self.folder_of_kernels("it's mine", "a.cpp")
        got = self.plumb("--extra", "it's mine", "bench")
        self.assertIn("command: tools/plumb --extra it\\'s\\ mine\n", got.stdout)
        self.assertIn("command: tools/plumb\n", self.plumb("infer").stdout)

    def test_setup_with_mpi_asks_for_its_packages_too(self):
        (self.play / "dpkg-query").write_text('#!/bin/bash\necho "${@: -1}" >>"$PLAY/asked"\nprintf "ii "\n')
        asked = self.play / "asked"
        self.assertEqual(self.plumb("setup").returncode, 0)
        self.assertNotIn("openmpi", asked.read_text())
        self.assertEqual(self.plumb("setup", "--with", "mpi").returncode, 0)
        self.assertIn("libopenmpi-dev\nopenmpi-bin\n", asked.read_text())
        self.assertNotIn("metis", asked.read_text())
        self.assertEqual(self.plumb("setup", "--with", "mpi", "--with=metis").returncode, 0)
        self.assertIn("libmetis-dev\n", asked.read_text())
        got = self.plumb("setup", "--with", "mip")
        self.assertEqual(got.returncode, 2)
        self.assertIn("setup --with 'mip': takes mpi, metis", got.stderr)

    def test_a_program_that_ends_by_a_signal_where_memory_is_limited_names_the_limit(self):
        for words, code in (("crash", 2), ("end", 5), ("--help", 0)):
            got = subprocess.run(
                ["bash", "-c", 'ulimit -v 16777216; tools/plumb bench "$0"', words],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE,
            )
            self.assertEqual(got.returncode, code, got.stderr)
            self.assertEqual("(ulimit -v is 16777216)" in got.stderr, code == 2, got.stderr)

    def test_unknown_command_names_the_nearest(self):
        got = self.plumb("verfy")
        self.assertEqual(got.returncode, 2)
        self.assertIn("did you mean 'verify'?", got.stderr)


if __name__ == "__main__":
    unittest.main()
