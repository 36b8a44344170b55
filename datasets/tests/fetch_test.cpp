#include "datasets/remote/fetch.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "datasets/formats/save_matrix.hpp"
#include "datasets/generators/save_generated.hpp"
#include "datasets/remote/manifest.hpp"
#include "datasets/tests/scratch.hpp"
#include "reference/core/error.hpp"

namespace fs = std::filesystem;
using plumb::Csr;
using plumb::test::error_of;
using plumb::test::Scratch;
using plumb::test::slurp;

namespace {}  // namespace

TEST_CASE("every set of the manifest has a name of its own, a licence and addresses") {
  std::vector<std::string> names;
  for (const plumb::RemoteSet& set : plumb::manifest()) {
    CAPTURE(set.name);
    for (const std::string& name : names) CHECK(name != set.name);
    names.push_back(set.name);
    CHECK(!set.licence.empty());
    REQUIRE(!set.files.empty());
    for (const plumb::RemoteFile& file : set.files) {
      CHECK(file.url.rfind("https://", 0) == 0);
      CHECK((file.sha256.empty() || file.sha256.size() == 64));
    }
  }
  CHECK(error_of([] { (void)plumb::manifest_entry("bonesS10"); }) ==
        "unknown data set 'bonesS10'; did you mean 'boneS10'? (dataset list)");
}

TEST_CASE("the cache folder follows PLUMB_CACHE, XDG_CACHE_HOME, HOME, and is none without them") {
  const std::vector<const char*> names{"PLUMB_CACHE", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::optional<std::string>> before;
  for (const char* name : names) {
    const char* value = std::getenv(name);
    before.push_back(value == nullptr ? std::nullopt : std::optional<std::string>(value));
    ::setenv(name, "/x", 1);
  }
  CHECK(plumb::cache_folder() == "/x");
  ::unsetenv("PLUMB_CACHE");
  CHECK(plumb::cache_folder() == "/x/plumbline");
  ::setenv("XDG_CACHE_HOME", "", 1);
  CHECK(plumb::cache_folder() == "/x/.cache/plumbline");
  ::unsetenv("HOME");
  CHECK(plumb::find_cache_folder() == std::nullopt);
  CHECK(error_of([] { (void)plumb::cache_folder(); }) ==
        "no cache folder: set PLUMB_CACHE, XDG_CACHE_HOME or HOME");
  for (std::size_t k = 0; k < names.size(); ++k) {
    before[k] ? ::setenv(names[k], before[k]->c_str(), 1) : ::unsetenv(names[k]);
  }
}

TEST_CASE("fetching from a mirror: arrives, is checked, is resumed, and is unpacked") {
  if (!plumb::fetch_built()) {
    MESSAGE("not run: this build has no libcurl");
    return;
  }
  const Scratch server, cache;
  plumb::FetchOptions options;
  options.folder = cache.path();
  options.mirror = "file://" + server.path();

  server.write("abc", "abc");
  // sha256("abc"), FIPS 180-2 appendix B.1
  plumb::RemoteSet set{"s",
                       "sub",
                       "",
                       "",
                       {{"abc", "https://nowhere.invalid/x/abc",
                         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", 3, ""}}};
  CHECK(plumb::fetch(set, options) == std::vector<std::string>{cache.file("sub/abc")});
  CHECK(slurp(cache.file("sub/abc")) == "abc");

  // What is there is checked too.
  cache.write("sub/abc", "abd");
  CHECK(error_of([&] { plumb::fetch(set, options); }).find("sha256 differs") != std::string::npos);

  // A part that an earlier call left is gone on from: its bytes stay.
  fs::remove(cache.file("sub/abc"));
  cache.write("sub/abc.part", "ab");
  server.write("abc", "xxc");
  plumb::fetch(set, options);
  CHECK(slurp(cache.file("sub/abc")) == "abc");

  // A wrong checksum leaves nothing.
  fs::remove(cache.file("sub/abc"));
  CHECK(error_of([&] { plumb::fetch(set, options); }).find("sha256 differs") != std::string::npos);
  CHECK(fs::is_empty(cache.file("sub")));

  // Without a checksum, gzip's own is verified.
  plumb::save_matrix(server.file("m.tsv.gz"), Csr<double>{3, 4, {0, 1, 3, 3}, {1, 0, 2}, {0.5, -2, 3}});
  plumb::RemoteSet zipped{"z", "sub", "", "", {{"m.tsv.gz", "https://nowhere.invalid/m.tsv.gz", "", -1, ""}}};
  plumb::fetch(zipped, options);
  CHECK(slurp(cache.file("sub/m.tsv.gz")) == slurp(server.file("m.tsv.gz")));
  fs::remove(cache.file("sub/m.tsv.gz"));
  server.write("m.tsv.gz", slurp(server.file("m.tsv.gz")).substr(0, 20));
  CHECK_THROWS_AS(plumb::fetch(zipped, options), plumb::Error);
  CHECK(fs::is_empty(cache.file("sub")));

  // One member of an archive is kept, the archive is not.
  plumb::save_network(server.file("n.tar.gz"), plumb::radixnet(32, 2));
  plumb::RemoteSet packed{
      "p", "sub", "", "", {{"layer2", "https://nowhere.invalid/n.tar.gz", "", -1, "neuron32/n32-l2.tsv"}}};
  plumb::fetch(packed, options);
  CHECK(slurp(cache.file("sub/layer2")) == plumb::radixnet_tsv(plumb::radixnet(32, 2), 1));
  fs::remove(cache.file("sub/layer2"));
  packed.files[0].member = "neuron32/n32-l3.tsv";
  CHECK(error_of([&] { plumb::fetch(packed, options); }).find("no such member") != std::string::npos);
  CHECK(fs::is_empty(cache.file("sub")));

  // Nothing there.
  plumb::RemoteSet missing{"m", "sub", "", "", {{"q", "https://nowhere.invalid/q", "", -1, ""}}};
  CHECK(error_of([&] { plumb::fetch(missing, options); }).find("cannot fetch") != std::string::npos);
  CHECK(fs::is_empty(cache.file("sub")));
}

namespace {

// A set of one file.
plumb::RemoteSet set_of(const std::string& file, plumb::Content content, std::int64_t neurons = 0,
                        const std::string& member = "") {
  plumb::RemoteFile one{file, "https://nowhere.invalid/" + file, "", -1, member, content, neurons, ""};
  if (!member.empty()) one.file = "x.mtx";
  return {"one", "sub", "", "", {one}};
}

}  // namespace

TEST_CASE("a web page is never accepted as data, whatever was asked for, and leaves no file") {
  if (!plumb::fetch_built()) return;
  const Scratch server, cache;
  plumb::FetchOptions options;
  options.folder = cache.path();
  options.mirror = "file://" + server.path();
  const std::string page = "<!DOCTYPE html>\n<html><title>Hotel Wi-Fi</title></html>\n";
  using plumb::Content;
  struct Asked {
    const char* name;
    Content content;
  };
  for (const Asked& asked :
       {Asked{"a.txt", Content::any}, Asked{"a.tsv", Content::categories},
        Asked{"a.txt.gz", Content::edge_list}, Asked{"a.tsv.gz", Content::images},
        Asked{"a.tar.gz", Content::weights}, Asked{"b.tar.gz", Content::matrix_archive}}) {
    const std::string name = asked.name;
    const Content content = asked.content;
    CAPTURE(name);
    for (const std::string& body : {page, plumb::test::gzip(page)}) {
      server.write(name, body);
      const std::string error = error_of(
          [&] { plumb::fetch(set_of(name, content, 16, name == "b.tar.gz" ? "m/x.mtx" : ""), options); });
      if (content == Content::any && body != page) {
        CHECK(error == "");  // nothing is known of it
        fs::remove(cache.file("sub/" + name));
        continue;
      }
      CHECK(error != "no error");
      if (body == page) CHECK(error.find("is a web page, not data") != std::string::npos);
      CHECK(fs::is_empty(cache.file("sub")));
    }
  }
}

TEST_CASE("a file named .gz must be gzip, lists must parse, archives must hold their layers") {
  if (!plumb::fetch_built()) return;
  const Scratch server, cache;
  plumb::FetchOptions options;
  options.folder = cache.path();
  options.mirror = "file://" + server.path();
  using plumb::Content;
  using plumb::test::gzip;
  const auto error = [&](const std::string& name, const std::string& bytes, Content content) {
    server.write(name, bytes);
    return error_of([&] { plumb::fetch(set_of(name, content, 32), options); });
  };
  CHECK(error("a.txt.gz", "0 1\n", Content::edge_list)
            .find("the name ends in .gz, but the content is not gzip") != std::string::npos);
  CHECK(error("a.txt.gz", gzip("# SNAP\n0 1\nx y\n"), Content::edge_list).find(":3: source vertex") !=
        std::string::npos);
  CHECK(error("c.tsv", "1\n2\nNotFound\n", Content::categories)
            .find(":3: category id is not an integer: NotFound") != std::string::npos);
  CHECK(error("i.tsv.gz", gzip("1\t33\t1\n"), Content::images).find(":1: feature is outside 1..32: 33") !=
        std::string::npos);
  CHECK(error("w.tar.gz", gzip(plumb::test::tar_end()), Content::weights).find("layers found") !=
        std::string::npos);
  CHECK(fs::is_empty(cache.file("sub")));
  plumb::save_network(server.file("w.tar.gz"), plumb::radixnet(32, 2));
  CHECK(error_of([&] { plumb::fetch(set_of("w.tar.gz", Content::weights, 32), options); }) == "");
  CHECK(error_of([&] {
          plumb::fetch(set_of("w.tar.gz", Content::weights, 64), options);
        }).find("layer of another size") != std::string::npos);
}

TEST_CASE("a file that is present is checked as a download is, and the message names --force") {
  if (!plumb::fetch_built()) return;
  const Scratch server, cache;
  plumb::FetchOptions options;
  options.folder = cache.path();
  options.mirror = "file://" + server.path();
  fs::create_directories(cache.file("sub"));
  server.write("c.tsv", "1\n5\n");
  cache.write("sub/c.tsv", "<html>login</html>");
  const plumb::RemoteSet set = set_of("c.tsv", plumb::Content::categories);
  const std::string error = error_of([&] { plumb::fetch(set, options); });
  CHECK(error.find(cache.file("sub/c.tsv") + ": is a web page, not data") == 0);
  CHECK(error.find("--force") != std::string::npos);
  options.force = true;
  plumb::fetch(set, options);
  CHECK(slurp(cache.file("sub/c.tsv")) == "1\n5\n");
}

TEST_CASE("fetches of one file at once leave one whole file") {
  if (!plumb::fetch_built()) return;
  const Scratch server, cache;
  std::string list;
  for (int id = 1; id <= 200000; ++id) list += std::to_string(id) + "\n";
  server.write("c.tsv", list);
  const plumb::RemoteSet set = set_of("c.tsv", plumb::Content::categories);
  std::vector<std::string> errors(6);
  std::vector<std::thread> fetches;
  for (std::string& error : errors) {
    fetches.emplace_back([&] {
      plumb::FetchOptions options;
      options.folder = cache.path();
      options.mirror = "file://" + server.path();
      error = error_of([&] { plumb::fetch(set, options); });
    });
  }
  for (std::thread& fetch : fetches) fetch.join();
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(slurp(cache.file("sub/c.tsv")) == list);
  CHECK(std::distance(fs::directory_iterator(cache.file("sub")), fs::directory_iterator{}) == 1);
}
