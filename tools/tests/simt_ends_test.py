"""How programs on the CPU executor end: whatever ends one, what it found is told, in files too, and no exit
code is 0."""

import json
import os
import resource
import signal
import subprocess
import unittest

from simt_program import PATIENCE, build

PROGRAM = r"""#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <pthread.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
extern char** environ;
__global__ void racy(int* x, int writers) {
  if (threadIdx.x < writers) *x = threadIdx.x;
}
__global__ void again(int* x) { *x += threadIdx.x; }
__global__ void endless(volatile int* x) {
  while (*x >= 0) *x = 1;
}
static int writers = 64;
static int* x = nullptr;
static void work() {
  int h;
  cudaMalloc(&x, sizeof *x);
  racy<<<1, 64>>>(x, writers);
  cudaMemcpy(&h, x, sizeof h, cudaMemcpyDeviceToHost);
}
static int deep(int n) {
  volatile char room[4096];
  room[0] = static_cast<char>(n);
  return deep(n + 1) + room[0];
}
static void crash() { *reinterpret_cast<volatile int*>(8) = 1; }
static void endlessly() {
  endless<<<1, 1>>>(x);
  cudaDeviceSynchronize();
}
static void in_child(void (*what)()) {
  const pid_t child = fork();
  if (child == 0) {
    what();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}
static char* words[4];
static void spawned() {
  pid_t child;
  posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, words, environ);
  waitpid(child, nullptr, 0);
}
static void at_term(int) { _exit(0); }
static const std::map<std::string, void (*)()> ways = {
    {"return", [] {}},
    {"exit", [] { std::exit(0); }},
    {"_exit", [] { _exit(0); }},
    {"_Exit", [] { std::_Exit(0); }},
    {"quick_exit", [] { std::quick_exit(0); }},
    {"exit_group", [] { syscall(SYS_exit_group, 0); }},
    {"abort", [] { std::abort(); }},
    {"terminate", [] { std::terminate(); }},
    {"throw", [] { throw std::runtime_error("nobody catches it"); }},
    {"raise segv", [] { raise(SIGSEGV); }},
    {"segv", crash},
    {"fpe", [] { volatile int zero = 0, seven = 7; zero = seven / zero; }},
    {"deep", [] { std::printf("%d", deep(0)); }},
    {"term", [] { raise(SIGTERM); }},
    {"int", [] { raise(SIGINT); }},
    {"hup", [] { raise(SIGHUP); }},
    {"quit", [] { raise(SIGQUIT); }},
    {"alarm", [] { alarm(1); for (;;) pause(); }},
    {"xcpu", [] {
       const rlimit one = {1, 100};
       setrlimit(RLIMIT_CPU, &one);
       for (volatile unsigned i = 0;; i = i + 1) {}
     }},
    {"pipe", [] { raise(SIGPIPE); }},
    {"kill", [] { kill(getpid(), SIGKILL); }},
    {"handled", [] { std::signal(SIGTERM, at_term); raise(SIGTERM); }},
    {"default again", [] { std::signal(SIGTERM, SIG_DFL); raise(SIGTERM); }},
    {"exec", [] { execl("/bin/true", "true", nullptr); }},
    {"execvp", [] { char* argv[] = {const_cast<char*>("true"), nullptr}; execvp("true", argv); }},
    {"execle", [] { execle("/bin/true", "true", nullptr, environ); }},
    {"exec nothing", [] { execl("/bin/no such program", "no", nullptr); _exit(0); }},
    {"thread exit", [] { std::thread([] { std::exit(0); }).detach(); for (;;) pause(); }},
    {"thread _exit", [] { std::thread([] { _exit(0); }).detach(); for (;;) pause(); }},
    {"thread segv", [] { std::thread(crash).detach(); for (;;) pause(); }},
    {"thread throw", [] { std::thread([] { throw 1; }).join(); }},
    {"pthread_exit", [] { pthread_exit(nullptr); }},
    {"reset", [] { cudaDeviceReset(); }},
    {"fork", [] { in_child([] {}); }},
    {"vfork", [] { if (vfork() == 0) _exit(0); }},
    {"system", [] { if (std::system("true") != 0) _exit(9); }},
    {"endless", endlessly},
};
// What a process does that another one has started; the first does nothing but wait.
static const std::map<std::string, void (*)()> in_children = {
    {"child _exit", [] { in_child([] { work(); _exit(0); }); }},
    {"child exit", [] { in_child([] { work(); std::exit(0); }); }},
    {"child segv", [] { in_child([] { work(); crash(); }); }},
    {"child term", [] { in_child([] { work(); raise(SIGTERM); }); }},
    {"child kill", [] { in_child([] { work(); raise(SIGKILL); }); }},
    {"two children", [] {
       in_child(work);
       in_child([] { work(); again<<<1, 2>>>(x); cudaDeviceSynchronize(); });
     }},
    {"spawned", spawned},
};
int main(int argc, char** argv) {
  const std::string way = argv[1];
  if (argc > 2 && std::string(argv[2]) == "clean") writers = 1;
  words[0] = argv[0], words[1] = const_cast<char*>("return"), words[2] = argc > 2 ? argv[2] : nullptr;
  if (in_children.count(way) != 0) {
    int* own;
    cudaMalloc(&own, 4);
    in_children.at(way)();
    return 0;
  }
  work();
  std::puts("kernel done");
  std::fflush(stdout);
  ways.at(way)();
  return 0;
}
"""

# What ends the program, the exit code (a signal below 0) where something was found, and where nothing was,
# and whether it is cut.
ENDS = [
    ("return", 1, 0, False),
    ("exit", 1, 0, False),
    ("_exit", 1, 0, False),
    ("_Exit", 1, 0, False),
    ("quick_exit", 1, 0, False),
    ("exit_group", 1, 0, False),
    ("abort", -signal.SIGABRT, -signal.SIGABRT, True),
    ("terminate", -signal.SIGABRT, -signal.SIGABRT, True),
    ("throw", -signal.SIGABRT, -signal.SIGABRT, True),
    ("raise segv", -signal.SIGSEGV, -signal.SIGSEGV, True),
    ("segv", -signal.SIGSEGV, -signal.SIGSEGV, True),
    ("fpe", -signal.SIGFPE, -signal.SIGFPE, True),
    ("deep", -signal.SIGSEGV, -signal.SIGSEGV, True),
    ("term", -signal.SIGTERM, -signal.SIGTERM, True),
    ("int", -signal.SIGINT, -signal.SIGINT, True),
    ("hup", -signal.SIGHUP, -signal.SIGHUP, True),
    ("quit", -signal.SIGQUIT, -signal.SIGQUIT, True),
    ("alarm", -signal.SIGALRM, -signal.SIGALRM, True),
    ("xcpu", -signal.SIGXCPU, -signal.SIGXCPU, True),
    ("pipe", -signal.SIGPIPE, -signal.SIGPIPE, True),
    ("handled", 1, 0, False),
    ("exec", 1, 0, False),
    ("execvp", 1, 0, False),
    ("execle", 1, 0, False),
    ("exec nothing", 1, 0, False),
    ("thread exit", 1, 0, False),
    ("thread _exit", 1, 0, False),
    ("thread segv", -signal.SIGSEGV, -signal.SIGSEGV, True),
    ("thread throw", -signal.SIGABRT, -signal.SIGABRT, True),
    ("pthread_exit", 1, 0, False),
    ("reset", 1, 0, False),
    ("fork", 1, 0, False),
    ("vfork", 1, 0, False),
    ("system", 1, 0, False),
]
# where nothing can be said at the end: what was found has been told before
UNTOLD_ENDS = [("kill", -signal.SIGKILL), ("default again", -signal.SIGTERM)]
CHILDREN = [
    ("child _exit", True, 1),
    ("child exit", True, 1),
    ("child segv", False, 1),
    ("child term", False, 1),
    ("child kill", False, 1),
    ("two children", True, 3),
    ("spawned", True, 1),
]


class Ends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = build(cls, "ends", PROGRAM)

    def environment(self):
        files = {"JSON": "found.json", "SARIF": "found.sarif", "HTML": "found.html"}
        for name in files.values():
            (self.folder / name).write_text("an older run's")
        return {**os.environ, **{f"PLUMB_SIMT_{what}": name for what, name in files.items()}}

    def ran(self, *words, before=None):
        return subprocess.run(
            [str(self.folder / "ends"), *words],
            cwd=self.folder,
            env=self.environment(),
            preexec_fn=before,
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def findings(self, complete):
        """The findings of the files, which are whole and say whether the run was."""
        found = json.loads((self.folder / "found.json").read_text())
        self.assertEqual(found["complete"], complete, found["ended"])
        run = json.loads((self.folder / "found.sarif").read_text())["runs"][0]
        self.assertEqual(run["invocations"][0]["executionSuccessful"], complete)
        self.assertEqual(len(run["results"]), len(found["findings"]))
        page = (self.folder / "found.html").read_text()
        self.assertTrue(page.rstrip().endswith("</html>"))
        self.assertEqual("The run is not complete" in page, not complete)
        self.assertEqual(list(self.folder.glob("found.*.*")), [])
        return found["findings"]

    def test_what_was_found_is_told_however_the_program_ends(self):
        for way, code, _, cut in ENDS:
            with self.subTest(way):
                got = self.ran(way)
                self.assertEqual(got.returncode, code, got.stderr)
                self.assertEqual(got.stderr.count("race in racy"), 1, got.stderr)
                self.assertIn("1 finding\n", got.stderr)
                self.assertEqual("cut: the program was ended by " in got.stderr, cut, got.stderr)
                self.assertEqual([f["kind"] for f in self.findings(complete=not cut)], ["race"])

    def test_nothing_is_told_of_a_program_without_findings_but_what_cut_it(self):
        for way, _, code, cut in ENDS:
            with self.subTest(way):
                got = self.ran(way, "clean")
                self.assertEqual(got.returncode, code, got.stderr)
                self.assertNotIn("finding", got.stderr)
                self.assertEqual("cut: the program was ended by " in got.stderr, cut, got.stderr)
                self.assertEqual(self.findings(complete=not cut), [])

    def test_what_was_found_was_told_before_an_end_that_nobody_sees(self):
        for way, code in UNTOLD_ENDS:
            with self.subTest(way):
                got = self.ran(way)
                self.assertEqual(got.returncode, code)
                self.assertIn("race in racy", got.stderr)
                self.assertEqual(len(self.findings(complete=False)), 1)

    def test_what_processes_find_that_the_program_starts_is_told_and_no_exit_code_hides_it(self):
        for way, complete, findings in CHILDREN:
            with self.subTest(way):
                got = self.ran(way)
                self.assertEqual(got.returncode, 1, got.stderr)
                self.assertIn("race in racy", got.stderr)
                self.assertIn("of processes that this one started\n", got.stderr)
                self.assertEqual(len(self.findings(complete)), findings)

    def test_a_process_that_is_cut_makes_the_whole_not_complete(self):
        for way in ("child segv", "child term", "child kill"):
            with self.subTest(way):
                self.assertEqual(self.ran(way, "clean").returncode, 0)
                self.assertEqual(self.findings(complete=False), [])

    def test_a_launch_under_way_is_stopped_and_what_it_found_is_told(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                run = subprocess.Popen(
                    [str(self.folder / "ends"), "endless"],
                    cwd=self.folder,
                    env=self.environment(),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                self.assertEqual(run.stdout.readline(), "kernel done\n")
                run.send_signal(number)
                _, told = run.communicate(timeout=PATIENCE)
                self.assertEqual(run.returncode, -number, told)
                self.assertIn("race in racy", told)
                self.assertIn(f"cut: the program was ended by {number.name}", told)
                self.assertEqual(len(self.findings(complete=False)), 1)

    def test_a_crash_under_a_limit_of_memory_names_it(self):
        kib = 64 << 20

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (kib << 10, kib << 10))

        for words, code in ((("segv",), 1), (("segv", "clean"), 2)):
            got = self.ran(*words, before=limit)
            self.assertEqual(got.returncode, code, got.stderr)
            self.assertIn(f"(ulimit -v is {kib})", got.stderr)

    def test_signals_that_are_ignored_stay_so(self):
        got = self.ran("hup", before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(got.returncode, 1)
        self.assertNotIn("cut:", got.stderr)


if __name__ == "__main__":
    unittest.main()
