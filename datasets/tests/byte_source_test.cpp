#include "datasets/io/byte_source.hpp"

#include <doctest/doctest.h>

#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

std::string content_of(std::string_view bytes) { return read_all(*memory_source("m", bytes)); }

}  // namespace

TEST_CASE("plain bytes come out as they are, and one byte of gzip's magic is no gzip") {
  CHECK(content_of("") == "");
  CHECK(content_of("abc") == "abc");
  CHECK(content_of("\x1f") == "\x1f");
}

TEST_CASE("gzip is recognised by its magic and inflated, several members one after the other") {
  CHECK(content_of(gzip("hello\n")) == "hello\n");
  CHECK(content_of(gzip("hello\n") + gzip("") + gzip("world\n")) == "hello\nworld\n");
  const std::string large(3'000'000, 'x');
  CHECK(content_of(gzip(large)) == large);
}

TEST_CASE("zero bytes may pad gzip, anything else after it is damage") {
  CHECK(content_of(gzip("a") + std::string(100, '\0')) == "a");
  CHECK(error_of([] { return content_of(gzip("a") + "tail"); }) == "m: bytes after the end of the gzip data");
  CHECK(error_of([] { return content_of(gzip("a") + std::string(3, '\0') + "tail"); }) ==
        "m: bytes after the end of the gzip data");
}

TEST_CASE("gzip cut anywhere is an error, never a short result") {
  const std::string whole = gzip("the quick brown fox jumps over the lazy dog");
  for (std::size_t n = 2; n < whole.size(); ++n) {
    CAPTURE(n);
    CHECK(error_of([&] { return content_of(whole.substr(0, n)); }) == "m: gzip data is cut short");
  }
}

TEST_CASE("a flipped bit in gzip's checksum is corruption") {
  std::string bytes = gzip("some text");
  bytes[bytes.size() - 8] = static_cast<char>(bytes[bytes.size() - 8] ^ 1);
  CHECK(error_of([&] { return content_of(bytes); }) == "m: gzip data is corrupt: incorrect data check");
}

TEST_CASE("a missing file and a folder are refused by name") {
  CHECK(error_of([] { return open_source("/no/such/file"); }) ==
        "/no/such/file: cannot open: No such file or directory");
  CHECK(error_of([] { return open_source("/"); }) == "/: is a folder, expected a file");
}

TEST_CASE("a tar yields its regular files in order and skips the rest") {
  const std::string bytes = tar_member("d/", "", '5') + tar_member("d/a", "first") +
                            tar_member("d/link", "", '2') + tar_member("d/b", std::string(1000, 'b')) +
                            tar_member("empty", "") + tar_end();
  const auto source = memory_source("t.tar", bytes);
  TarReader tar(*source);
  TarReader::Member member;
  REQUIRE(tar.next(member));
  CHECK(member.name == "d/a");
  CHECK(tar.label() == "t.tar:d/a");
  CHECK(tar.content() == "first");
  REQUIRE(tar.next(member));  // d/b is left unread
  CHECK(member.size == 1000);
  REQUIRE(tar.next(member));
  CHECK(member.name == "empty");
  CHECK(tar.content().empty());
  CHECK_FALSE(tar.next(member));
}

TEST_CASE("long names come from GNU and from pax headers, and a pax size counts") {
  const std::string name(150, 'n');
  const auto pax_record = [](const std::string& text) {  // "LENGTH text\n", the length counting itself
    std::size_t length = text.size() + 2;
    while (std::to_string(length).size() + text.size() + 2 != length) ++length;
    return std::to_string(length) + " " + text + "\n";
  };
  const std::string bytes = tar_member("././@LongLink", name + '\0', 'L') + tar_member("short", "gnu") +
                            tar_member("pax", pax_record("mtime=1") + pax_record("path=p" + name), 'x') +
                            tar_member("short", "pax") + tar_member("global", pax_record("comment=x"), 'g') +
                            tar_member("last", "!") + tar_end();
  const auto source = memory_source("t", bytes);
  TarReader tar(*source);
  TarReader::Member member;
  REQUIRE(tar.next(member));
  CHECK(member.name == name);
  CHECK(tar.content() == "gnu");
  REQUIRE(tar.next(member));
  CHECK(member.name == "p" + name);
  CHECK(tar.content() == "pax");
  REQUIRE(tar.next(member));
  CHECK(member.name == "last");
}

TEST_CASE("a tar that is cut in a member, or before its end mark, is an error that says so") {
  const std::string bytes = tar_member("a", "0123456789");
  const auto read = [](std::string_view part) {
    const auto source = memory_source("t.tar", part);
    TarReader tar(*source);
    TarReader::Member member;
    while (tar.next(member)) (void)tar.content();
  };
  CHECK(error_of([&] { return read(std::string_view(bytes).substr(0, 515)); }) ==
        "t.tar:a: tar member is cut short");
  CHECK(error_of([&] { return read(std::string_view(bytes).substr(0, 100)); }) ==
        "t.tar: tar is cut short: its end mark is missing");
  CHECK(error_of([&] { return read(bytes); }) == "t.tar: tar is cut short: its end mark is missing");
  CHECK(error_of([&] { return read(std::string(512, 'z')); }) == "t.tar: not a tar header (wrong checksum)");
}
