// dataset as a person runs it: what it does with pipes, devices, links and sockets, and how it ends.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/tests/scratch.hpp"
#include "tools/testing/shell.hpp"

namespace fs = std::filesystem;
using plumb::test::Scratch;
using plumb::test::slurp;
using plumb::testing::expect;
using plumb::testing::Outcome;
using plumb::testing::shell;

namespace {

const std::string kDataset = PLUMB_DATASET;
const std::string kMatrix = "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 2 0.5\n3 1 -2\n";

// A command of each output option; OUT stands for the path.
std::vector<std::string> writing_commands(const Scratch& dir) {
  return {kDataset + " convert " + dir.write("in.mtx", kMatrix) + " OUT --format mtx",
          kDataset + " convert " + dir.file("in.mtx") + " OUT --format npz",
          kDataset + " convert " + dir.file("in.mtx") + " OUT --format npy",
          kDataset + " convert " + dir.file("in.mtx") + " OUT --format plumb",
          kDataset + " generate band --rows 20 --cols 20 -o OUT --format tsv",
          kDataset + " generate digits -n 16 -m 3 -o " + dir.file("x.tsv") + " --grey OUT"};
}

std::string with_output(std::string command, const std::string& path) {
  return command.replace(command.find("OUT"), 3, path);
}

// What the command writes to standard output alone.
std::string stdout_of(const std::string& command) {
  return shell("{ " + command + "; } 2>/dev/null | cat").text;
}

bool python() { return shell("python3 -c pass").exit_code == 0; }

}  // namespace

TEST_CASE("an output that is a device, a link, a pipe or a socket stays one, and gets the bytes") {
  const Scratch dir;
  dir.write("listen.py", R"(import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(1)
c, _ = s.accept(); open(sys.argv[2], 'wb').write(b''.join(iter(lambda: c.recv(65536), b'')))
)");
  for (const std::string& command : writing_commands(dir)) {
    CAPTURE(command);
    const std::string plain = dir.file("plain");
    REQUIRE(shell(with_output(command, plain)).exit_code == 0);
    const std::string want = slurp(plain);
    CHECK(want.size() > 20);

    CHECK(shell(with_output(command, "/dev/null")).exit_code == 0);
    CHECK(fs::is_character_file("/dev/null"));
    expect(shell(with_output(command, "/dev/full")), 2, {"/dev/full: cannot write: No space left on device"});

    fs::create_symlink("target", dir.file("link"));
    dir.write("target", "old");
    CHECK(shell(with_output(command, dir.file("link"))).exit_code == 0);
    CHECK(fs::is_symlink(dir.file("link")));
    CHECK(slurp(dir.file("target")) == want);

    REQUIRE(::mkfifo(dir.file("fifo").c_str(), 0600) == 0);
    CHECK(shell("timeout 60 sh -c 'cat " + dir.file("fifo") + " > " + dir.file("got") + " & " +
                with_output(command, dir.file("fifo")) + " && wait'")
              .exit_code == 0);
    CHECK(fs::is_fifo(dir.file("fifo")));
    CHECK(slurp(dir.file("got")) == want);

    CHECK(shell("bash -c '" + with_output(command, ">(cat >" + dir.file("sub") + ")") + "; wait $!'")
              .exit_code == 0);
    if (python()) {
      const std::string socket = dir.file("socket");
      CHECK(shell("timeout 60 sh -c 'python3 " + dir.file("listen.py") + " " + socket + " " +
                  dir.file("heard") + " & while [ ! -S " + socket + " ]; do sleep 0.05; done; " +
                  with_output(command, socket) + " && wait'")
                .exit_code == 0);
      CHECK(fs::is_socket(socket));
      CHECK(slurp(dir.file("heard")) == want);
    }
    for (const char* name : {"plain", "link", "target", "fifo", "got", "sub", "socket", "heard"})
      fs::remove(dir.file(name));
  }
}

TEST_CASE("standard output carries the data alone") {
  const Scratch dir;
  const std::string in = dir.write("in.mtx", kMatrix), log = dir.file("log");
  const std::string command = kDataset + " convert " + in + " /dev/stdout --format mtx";
  CHECK(stdout_of(command) == kMatrix);
  CHECK(shell("{ " + command + " > " + dir.file("data") + "; }").has("wrote /dev/stdout"));
  CHECK(slurp(dir.file("data")) == kMatrix);
  CHECK(shell("echo kept > " + log + "; { " + command + " >> " + log + "; } 2>/dev/null").exit_code == 0);
  CHECK(slurp(log) == "kept\n" + kMatrix);
}

TEST_CASE("an input comes from a pipe, a FIFO or standard input") {
  const Scratch dir;
  const std::string in = dir.write("in.mtx", kMatrix), convert = kDataset + " convert ",
                    out = " /dev/stdout --format mtx";
  CHECK(stdout_of("cat " + in + " | " + convert + "/dev/stdin" + out) == kMatrix);
  CHECK(stdout_of("gzip -c " + in + " | " + convert + "/dev/stdin" + out) == kMatrix);
  CHECK(stdout_of(convert + "/dev/stdin" + out + " < " + in) == kMatrix);
  CHECK(stdout_of("bash -c '" + convert + "<(cat " + in + ")" + out + "'") == kMatrix);
  REQUIRE(::mkfifo(dir.file("f").c_str(), 0600) == 0);
  CHECK(stdout_of("cat " + in + " > " + dir.file("f") + " & timeout 60 " + convert + dir.file("f") + out) ==
        kMatrix);
  CHECK(stdout_of("printf '0 1\\n1 0\\n' | " + convert + "/dev/stdin --from el" + out).find("2 2 2") !=
        std::string::npos);
  CHECK(stdout_of("printf '1 2\\n2 1\\n' | " + convert + "/dev/stdin --from tsv" + out).find("2 2 2") !=
        std::string::npos);
  CHECK(shell("cat " + in + " | " + kDataset + " info /dev/stdin").has("entries: 2"));
}

TEST_CASE("an output that cannot be written is found before the input is read, and nothing is left") {
  const Scratch dir;
  const Outcome outcome =
      expect(shell(kDataset + " generate rmat-graph --scale 24 -o " + dir.file("none/x.mtx")), 2);
  CHECK(outcome.text == "error: " + dir.file("none/x.mtx") + ": cannot write: No such file or directory\n");
  CHECK(
      shell(kDataset + " convert " + dir.write("a.mtx", kMatrix) + " " + dir.file("none/x.npz")).exit_code ==
      2);
  CHECK(shell(kDataset + " convert " + dir.file("a.mtx") + " " + dir.file("x.xyz")).exit_code == 2);
  CHECK_FALSE(fs::exists(dir.file("x.xyz")));
}

TEST_CASE("a signal and a file size limit leave no temporary file, and exit with 128 + signal") {
  const Scratch dir;
  expect(shell("bash -c 'ulimit -f 1; exec " + kDataset + " generate band --rows 2000 --cols 2000 -o " +
               dir.file("x.mtx") + "'"),
         128 + SIGXFSZ);
  CHECK(fs::is_empty(dir.file("")));
  // A FIFO that nobody writes holds the program where the output is open already or not yet; both must end cleanly.
  REQUIRE(::mkfifo(dir.file("fifo").c_str(), 0600) == 0);
  expect(shell("timeout --preserve-status -s TERM 1 " + kDataset + " convert " + dir.file("fifo") + " " +
               dir.file("y.mtx") + " --from mtx"),
         128 + SIGTERM);
  CHECK_FALSE(fs::exists(dir.file("y.mtx")));
  CHECK(std::distance(fs::directory_iterator(dir.file("")), fs::directory_iterator{}) == 1);
}

TEST_CASE("half a gigabyte of blank lines is an error, within a limit of memory") {
  const Scratch dir;
  const std::string path = dir.file("lines.mtx.gz");
  const gzFile file = gzopen(path.c_str(), "wb");
  const std::string head = "%%MatrixMarket matrix coordinate real general\n40 30 5\n",
                    lines(std::size_t{1} << 20, '\n');
  gzwrite(file, head.data(), static_cast<unsigned>(head.size()));
  for (int mib = 0; mib < 256; ++mib) gzwrite(file, lines.data(), static_cast<unsigned>(lines.size()));
  gzclose(file);
  expect(shell("bash -c 'ulimit -v 1500000; OMP_NUM_THREADS=2 " + kDataset + " info " + path + "'"), 2,
         {"file ends early: entries found, entries announced: 0, 5"});
}

TEST_CASE("a pattern and a file may be called what a command is called") {
  const Scratch dir;
  for (const std::string name : {"uniform", "banded", "stencil", "arrow", "rmat"}) {
    CAPTURE(name);
    expect(shell(kDataset + " generate pattern " + name + " --rows 20 --cols 20 --density 0.1 -o " +
                 dir.file(name + ".mtx")),
           0, {"20 x 20"});
  }
  dir.write("list", kMatrix);
  expect(shell("cd " + dir.path() + " && " + kDataset + " convert list fetch --format mtx"), 0);
  CHECK(slurp(dir.file("fetch")).find("3 4 2") != std::string::npos);
}

TEST_CASE("a GCN is generated on any graph: its entries are edges, whatever their values") {
  const Scratch dir;
  const std::string graph =
      dir.write("g.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 3\n1 2 -7\n2 1 0.5\n4 3 2\n");
  const std::string generate = kDataset + " generate gcn --features 3 --hidden 2 --graph ";
  const Outcome o = expect(shell(generate + graph + " -o " + dir.file("net")), 0);
  CAPTURE(o.text);
  CHECK(o.has("4 vertices, 7 entries, 3 -> 2 -> 8"));  // with the loops
  expect(shell(generate + dir.write("o.mtx", kMatrix) + " -o " + dir.file("other")), 2,
         {"adjacency: must be square, is: 3 x 4"});
  CHECK_FALSE(std::filesystem::exists(dir.file("other")));
}

TEST_CASE("generators under their old names run, with a note") {
  const Scratch dir;
  expect(shell(kDataset + " generate uniform --rows 5 --cols 5 --per-row 1 -o " + dir.file("x.mtx")), 0,
         {"note: `generate uniform` is now called `generate regular`"});
  CHECK(shell(kDataset + " list").has(" regular arrowhead lookalike"));
  CHECK(shell(kDataset + " generate").text == "error: generate what? (dataset generate --help)\n");
  CHECK(shell(kDataset + " generate patern").has("did you mean 'pattern'?"));
}

TEST_CASE("an edge list is read as its options say, and what was guessed goes to stderr") {
  const Scratch dir;
  const std::string csv = dir.write("a.csv", "id;from;to\n7;1;2\n8;2;3\n");
  const std::string to = " /dev/stdout --format el";
  CHECK(stdout_of(kDataset + " convert " + csv + to) ==
        "# plumbline rows=3 cols=3 entries=2 base=0\n0\t1\t1\n1\t2\t1\n");
  CHECK(shell(kDataset + " convert " + csv + " " + dir.file("a.mtx")).has("note: " + csv + ": no id is 0"));
  CHECK(shell(kDataset + " info " + csv)
            .has("note: line 1 names the columns: edges go from 'from' to 'to', without weights"));
  CHECK(shell(kDataset + " info " + csv + " --base 0").has("rows: 4"));
  CHECK(shell(kDataset + " info " + csv + " --base 0 --columns to,from,-").has("rows: 9"));
  CHECK(shell(kDataset + " info " + csv + " --base 2").exit_code == 2);
  expect(shell("cat " + csv + " | " + kDataset + " info /dev/stdin"), 2,
         {"name it: dataset convert --from FORMAT FILE OUT.mtx, FORMAT of "});
  CHECK(shell("cat " + csv + " | " + kDataset + " info --from el /dev/stdin").has("entries: 2"));
}

TEST_CASE("rows that nothing proves cost dataset info no memory, and dataset convert names their size") {
  const Scratch dir;
  const std::string path = dir.write(
      "rows.mtx", "%%MatrixMarket matrix coordinate real general\n2000000000 4 1\n1999999999 1 1\n");
  const std::string limited = "bash -c 'ulimit -v 1500000; OMP_NUM_THREADS=2 " + kDataset;
  expect(shell(limited + " info " + path + "'"), 0, {"empty rows: 1999999999"});
  expect(shell(limited + " convert " + path + " " + dir.file("a.el") + "'"), 2,
         {"row_ptr of all rows would take 7629 MiB"});
}
