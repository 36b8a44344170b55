"""The installed tree: moved to another folder, then used as by somebody else (PLUMB_BUILD: a whole build)."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["PLUMB_BUILD"])
EXAMPLE = ROOT / "tools/example"
COMPONENTS = ("runtime", "plugin", "dev", "python")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="plumb installed "))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        first = cls.folder / "first"
        for component in COMPONENTS:
            cls.ran("cmake", "--install", BUILD, "--prefix", first, "--component", component)
        cls.prefix = first.rename(cls.folder / "moved")

    @classmethod
    def ran(cls, *words, code=0, **environment):
        """A command of somebody who has no tree: what it says, and its exit code is `code`."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(cls.folder / "cache"), **environment}
        for name in ("PLUMB_SIMT_BUILD", "PLUMB_COMMAND", "PYTHONPATH"):
            environment.pop(name, None)
        words = [str(word) for word in words]
        got = subprocess.run(
            words,
            check=False,
            cwd=cls.folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if got.returncode != code:
            raise AssertionError(f"{words}: exit code {got.returncode}, not {code}:\n{got.stdout}")
        return got.stdout

    def plumb(self, *words, code=0):
        return self.ran(self.prefix / "bin/plumb", *words, code=code)

    def project(self, name, edit=lambda text: text, source=EXAMPLE):
        folder = self.folder / name
        shutil.copytree(source, folder)
        lists = folder / "CMakeLists.txt"
        lists.write_text(edit(lists.read_text()))
        return folder

    def built(self, folder, prefix=None):
        build = folder / "build"
        prefix = prefix or self.prefix
        self.ran("cmake", "-S", folder, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
        self.ran("cmake", "--build", build)
        return build

    def test_a_project_judges_its_kernels_its_plugin_and_its_program(self):
        build = self.built(self.project("project"))
        said = self.ran("ctest", "--test-dir", build, "--output-on-failure")
        for test in ("verify.kernels.spmv", "plugin.spmv", "simt.row_sums"):
            self.assertRegex(said, rf"{re.escape(test)} \.+ +Passed")

    def test_plugins_need_the_component_plugin_alone(self):
        prefix = self.folder / "plugin"
        self.ran("cmake", "--install", BUILD, "--prefix", prefix, "--component", "plugin")
        lines = (
            "project(p LANGUAGES C)\nfind_package(Plumbline {} REQUIRED)\nadd_library(mine MODULE plugin.c)\n"
        )
        lines += "target_link_libraries(mine PRIVATE Plumbline::plugin)\n"
        text = "cmake_minimum_required(VERSION 3.22)\n" + lines.format(self.version())
        build = self.built(self.project("plugin alone", lambda _: text), prefix)
        self.assertTrue((build / "libmine.so").exists())

    def version(self):
        return self.plumb("--version").split()[-1]

    def test_a_new_plugin_is_told_how_plumb_is_called_here(self):
        said = self.plumb("new-plugin", "gemm", "mine_of_gemm")
        for text in (said, (self.folder / "mine_of_gemm/README.md").read_text()):
            self.assertIn("plumb verify --plugin", text)
            self.assertNotIn("tools/plumb", text)

    def test_a_wrong_kernel_is_found_with_its_place(self):
        folder = self.folder / "wrong"
        folder.mkdir()
        text = (EXAMPLE / "kernels/01_rows.cpp").read_text()
        wrong = text.replace("A.row_ptr[i + 1]", "A.row_ptr[i + 1] - 1")
        self.assertNotEqual(text, wrong)
        (folder / "01_rows.cpp").write_text(wrong)
        words = (
            "--extra",
            folder,
            "verify",
            "--case",
            "spmv",
            "--listed",
            "--variant",
            "user/*",
            "--fail-fast",
        )
        self.assertIn("FAIL  user/01_rows", self.plumb(*words, code=1))

    def test_a_racy_program_is_told_with_both_lines(self):
        text = (EXAMPLE / "row_sums.cu").read_text()
        racy = self.folder / "racy.cu"
        racy.write_text(text.replace("    __syncthreads();\n", ""))
        line = 1 + racy.read_text().splitlines().index(
            "    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];"
        )
        place = rf".*\n.*racy\.cu:{line},"
        self.assertRegex(self.plumb("simt", racy, code=1), f"race in row_sums{place}{place}")

    def acted(self, project, code, **inputs):
        """What the step `judge` of action.yml says in a project, by the installed plumb, and its reports."""
        text = (ROOT / "action.yml").read_text()
        step = text[text.index("- name: judge") : text.index("- name: upload reports")]
        names = re.findall(r"^ +([A-Z]+): \$\{\{ inputs\.([a-z-]+) \}\}$", step, re.M)
        (block,) = re.findall(r"run: '(.*)'$", step, re.M)
        defaults = dict(re.findall(r"^  ([a-z-]+):\n(?:    .*\n)*?    default: (.*)$", text, re.M))
        given = {name: inputs.get(key, defaults[key].strip('"')) for name, key in names}
        environment = {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_WORKSPACE": str(project), **given}
        environment["PATH"] = f"{self.prefix / 'bin'}:{os.environ['PATH']}"
        block = f"cd {shlex.quote(str(project))} && {block}"
        said = self.ran("bash", "-e", "-c", block, code=code, **environment)
        return said, {path.name for path in (project / given["REPORTS"]).iterdir()}

    def test_the_action_passes_right_kernels_and_annotates_wrong_ones(self):
        project = self.folder / "acted"
        shutil.copytree(EXAMPLE, project)
        inputs = {
            "kernels": "kernels",
            "cases": "spmv.f32*",
            "arguments": "--listed",
            "programs": "row_sums.cu",
        }
        said, reports = self.acted(project, 0, **inputs)
        self.assertNotIn("::error", said)
        self.assertLessEqual({"cpu.json", "cpu.xml", "cpu.html", "verify.sarif"}, reports)
        source = project / "kernels/01_rows.cpp"
        source.write_text(source.read_text().replace("A.row_ptr[i + 1]", "A.row_ptr[i + 1] - 1"))
        program = project / "row_sums.cu"
        program.write_text(program.read_text().replace("    __syncthreads();\n", ""))
        said, reports = self.acted(project, 1, **inputs)
        self.assertRegex(said, r"::error file=kernels/01_rows\.cpp,line=\d+,title=user/01_rows%3A fail::")
        self.assertRegex(said, r"::error file=row_sums\.cu,line=\d+,title=race::")
        self.assertLessEqual({"row_sums.sarif", "row_sums.html"}, reports)

    def test_what_needs_a_clone_says_so(self):
        for command in (
            ["setup"],
            ["build"],
            ["test"],
            ["fmt"],
            ["new-op", "x"],
            ["verify", "--mutate", "x"],
        ):
            self.assertIn("works in a clone", self.plumb(*command, code=2))

    def test_no_file_names_the_tree_or_the_place_it_was_installed_to(self):
        for path in self.prefix.rglob("*"):
            if not path.is_file() or path.suffix == ".a" or path.read_bytes()[:4] == b"\x7fELF":
                continue  # lines of the kernels that are compiled in
            for place in (BUILD, ROOT, self.folder / "first"):
                self.assertNotIn(str(place).encode(), path.read_bytes(), path)

    def test_pkg_config_compiles_a_plugin(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("no pkg-config")
        found = {"PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        flags = self.ran("pkg-config", "--cflags", "plumbline", **found).replace("\\ ", "\0").split()
        flags = [flag.replace("\0", " ") for flag in flags]
        self.ran("cc", "-shared", "-fPIC", *flags, EXAMPLE / "plugin.c", "-o", self.folder / "mine.so")

    def test_options_of_the_programs_are_in_man_pages_and_completion(self):
        share = self.prefix / "share"
        for name in ("verify", "bench", "infer", "dataset", "simt"):
            program = self.prefix / "lib/plumbline/bin" / name
            table = (
                self.plumb("simt", "--option-table")
                if name == "simt"
                else self.ran(program, "--option-table")
            )
            options = set(
                re.findall(r"--[a-z-]+", "\n".join(line.split("\t")[1] for line in table.splitlines()))
            )
            self.assertGreater(len(options), 2)
            page = (share / f"man/man1/plumb-{name}.1").read_text().replace("\\-", "-")
            for option in options:
                self.assertIn(option, page)
        script = share / "bash-completion/completions/plumb"
        ask = f"source {str(script)!r}; COMP_WORDS=(plumb infer gcn --dir); COMP_CWORD=3; _plumb"
        ask += "; echo ${COMPREPLY[*]}"
        self.assertEqual(self.ran("bash", "-c", ask).strip(), "--direction")
        for shell, file in (
            ("zsh", "zsh/site-functions/_plumb"),
            ("fish", "fish/vendor_completions.d/plumb.fish"),
        ):
            if shutil.which(shell) is not None:
                self.ran(shell, "-n", share / file)


if __name__ == "__main__":
    unittest.main()
