#include "datasets/io/text.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace plumb;

TEST_CASE("pieces are taken in order, by one thread at a time, and each is worked on once") {
  std::vector<int> worked(1000, 0);
  int next = 0;
  const auto unreadable = text::deal<int>(
      [&](int& piece) {
        piece = next;
        return next++ < 1000;
      },
      [&](int piece) noexcept { ++worked[static_cast<std::size_t>(piece)]; });
  CHECK(unreadable == nullptr);
  CHECK(worked == std::vector<int>(1000, 1));
}

TEST_CASE(
    "an exception from taking a piece is rethrown once the pieces before it are done; no piece is taken "
    "after it") {
  std::atomic<int> worked{0};
  int next = 0;
  const auto unreadable = text::deal<int>(
      [&](int& piece) {
        if (next == 10) throw std::runtime_error("cut short");
        piece = next++;
        return true;
      },
      [&](int) noexcept { ++worked; });
  REQUIRE(unreadable != nullptr);
  CHECK_THROWS_WITH(std::rethrow_exception(unreadable), "cut short");
  CHECK(worked == 10);
  CHECK(next == 10);
}

TEST_CASE("pieces are dealt on threads that end, beside others: no thread's memory outlives it") {
  // Dealt as OpenMP tasks they crash LLVM's runtime (14) within a few rounds; beneath AddressSanitizer, which keeps
  // freed memory back, only now and then.
  const auto pieces_done = [] {
    std::atomic<int> done{0};
    int next = 0;
    text::deal<std::shared_ptr<int>>(
        [&](std::shared_ptr<int>& piece) {
          piece = std::make_shared<int>(next);
          return next++ < 200;
        },
        [&](const std::shared_ptr<int>& piece) noexcept {
          const std::vector<double> values(1000 + 100 * static_cast<std::size_t>(*piece % 7), 1.0);
          done += values.back() == 1.0 ? 1 : 0;
        });
    return done.load();
  };
  for (int round = 0; round < 100; ++round) {
    int beside = 0;
    std::thread other([&] { beside = pieces_done(); });
    CHECK(pieces_done() == 200);
    other.join();
    CHECK(beside == 200);
    const std::vector<std::vector<double>> reused(100, std::vector<double>(3000, 1.0));
    REQUIRE(reused.back().back() == 1.0);
  }
}
