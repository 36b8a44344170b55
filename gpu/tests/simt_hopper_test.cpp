// What sm_90 does beside its threads: products of a warpgroup, copies by tensor maps, and the mistakes made with either.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;
using plumb::simt::Finding;
using plumb::simt::FindingKind;

namespace {

struct FormCase {
  GroupForm form;
  int bytes;  // of an element
  unsigned one_a, two_a, one_b, two_b, sign_a, sign_b;
};
constexpr FormCase kForms[] = {
    {GroupForm::f16, 2, 0x3c00, 0x4000, 0x3c00, 0x4000, 0x8000, 0x8000},
    {GroupForm::bf16, 2, 0x3f80, 0x4000, 0x3f80, 0x4000, 0x8000, 0x8000},
    {GroupForm::f16_turned, 2, 0x3c00, 0x4000, 0x3c00, 0x4000, 0x8000, 0x8000},
    {GroupForm::tf32, 4, 0x3f800fff, 0x40001fff, 0x3f801fff, 0x40000001, 0x80000000,
     0x80000000},  // 13 bits that tf32 drops
    {GroupForm::fp8, 1, 0x38, 0x40, 0x3c, 0x40, 0x80, 0x80},
    {GroupForm::int8, 1, 1, 2, 1, 2, 0, 0},
    {GroupForm::f16_sums, 2, 0x3c00, 0x4000, 0x3c00, 0x4000, 0x8000, 0x8000},
};

// -2 .. 2, other ones for each operand; an unsigned operand takes magnitudes.
int number(int i, int salt) { return (i * 7 + i / 5 * salt + salt) % 5 - 2; }

unsigned code(int v, unsigned one, unsigned two, unsigned sign, bool negatives_by_complement) {
  const unsigned magnitude = v == 0 ? 0 : std::abs(v) == 1 ? one : two;
  if (negatives_by_complement) return static_cast<unsigned>(v) & 0xffu;
  return v < 0 ? magnitude | sign : magnitude;
}

float float_of(unsigned word) {
  float x;
  std::memcpy(&x, &word, sizeof x);
  return x;
}

double value_of(const FormCase& f, unsigned word) {
  if (f.form == GroupForm::int8) return static_cast<int>(word);
  if (f.form != GroupForm::f16_sums) return static_cast<double>(float_of(word));
  const int exponent = static_cast<int>(word >> 10 & 31u);
  const double magnitude = exponent == 0 ? 0 : std::ldexp(1024.0 + (word & 1023u), exponent - 25);
  return (word & 0x8000u) != 0 ? -magnitude : magnitude;
}

void check_form(const FormCase& f, int width) {
  const int depth = 32 / f.bytes;
  std::vector<unsigned char> a(64 * 32), b(16 * 32);
  std::vector<unsigned> c(64 * 16);
  const bool whole = f.form == GroupForm::int8;
  const auto of_a = [&](int i) { return number(i, 3); };
  const auto of_b = [&](int i) { return whole ? std::abs(number(i, 11)) : number(i, 11); };
  for (int i = 0; i < 80 * depth; ++i) {
    const bool first = i < 64 * depth;
    const int at = first ? i : i - 64 * depth;
    const unsigned bits = first ? code(of_a(at), f.one_a, f.two_a, f.sign_a, whole)
                                : code(of_b(at), f.one_b, f.two_b, f.sign_b, whole);
    std::memcpy((first ? a : b).data() + at * f.bytes, &bits, static_cast<std::size_t>(f.bytes));
  }
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Run run(seed);
    plumb::simt::add_array("a", a.data(), a.size(), true, false);
    plumb::simt::add_array("b", b.data(), b.size(), true, false);
    group_form(f.form, width, a.data(), b.data(), run.output(c));
    expect_none();
    int wrong = 0;
    for (int i = 0; i < 64; ++i) {
      for (int j = 0; j < 16; ++j) {
        int sum = 0;
        for (int k = 0; k < depth; ++k) sum += of_a(i * depth + k) * of_b(j * depth + k);
        if (f.form == GroupForm::f16_turned) sum = -sum;
        wrong += value_of(f, c.data()[i * 16 + j]) == sum ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("a warpgroup multiplies operands of every type and layout") {
  for (const FormCase& f : kForms) {
    for (const int width : {16, 32, 64, 128}) {
      CAPTURE(static_cast<int>(f.form));
      CAPTURE(width);
      check_form(f, width);
    }
  }
}

namespace {

constexpr int kChunks = 3;

struct Loop {
  std::vector<float> a = std::vector<float>(64 * 8 * kChunks), b = std::vector<float>(8 * kChunks * 16),
                     c = std::vector<float>(64 * 16);
  Loop() {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(number(static_cast<int>(i), 3));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(number(static_cast<int>(i), 11));
  }
  std::vector<Finding> run(GroupFault fault, std::uint64_t seed) {
    Run run(seed);
    plumb::simt::add_array("a", a.data(), a.size() * sizeof(float), true, false);
    plumb::simt::add_array("b", b.data(), b.size() * sizeof(float), true, false);
    group_loop(fault, a.data(), b.data(), run.output(c), kChunks);
    return Run::findings();
  }
  bool right() const {
    for (int i = 0; i < 64; ++i) {
      for (int j = 0; j < 16; ++j) {
        float sum = 0;
        for (int k = 0; k < 8 * kChunks; ++k) sum += a.data()[i * 8 * kChunks + k] * b.data()[k * 16 + j];
        if (c.data()[i * 16 + j] != sum) return false;
      }
    }
    return true;
  }
};

}  // namespace

TEST_CASE("a loop of products is right, and its mistakes are reported with both lines") {
  const int write = line_of("warpgroups", "product write"), product = line_of("warpgroups", "product");
  REQUIRE(write > 0);
  REQUIRE(product > 0);
  Loop loop;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const GroupFault legal : {GroupFault::none, GroupFault::refilled}) {
      const auto none = loop.run(legal, seed);
      CHECK_MESSAGE(none.empty(), all_of(none));
      CHECK(loop.right());
    }
    if (!checked()) continue;
    for (const GroupFault fault : {GroupFault::no_wait, GroupFault::no_proxy_fence}) {
      CAPTURE(static_cast<int>(fault));
      const auto findings = loop.run(fault, seed);
      CHECK_MESSAGE(reports(findings, FindingKind::race, write, product), all_of(findings));
    }
  }
}

TEST_CASE(
    "registers of a product used before its wait or without a fence are no race of a thread with itself") {
  const int product = line_of("warpgroups", "product"), wait = line_of("warpgroups", "product wait"),
            early = line_of("warpgroups", "product early");
  REQUIRE(early > 0);
  if (!checked()) return;
  Loop loop;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const auto unfenced = loop.run(GroupFault::no_fence, seed);
    CHECK_MESSAGE(reports(unfenced, FindingKind::product_registers, product), all_of(unfenced));
    CHECK_MESSAGE(reports(unfenced, FindingKind::product_registers, product, wait), all_of(unfenced));
    const auto touched = loop.run(GroupFault::written_early, seed);
    CHECK_MESSAGE(reports(touched, FindingKind::product_registers, early, product), all_of(touched));
    for (const auto& findings : {unfenced, touched}) {
      for (const Finding& f : findings) CHECK(f.kind != FindingKind::race);
      CHECK(all_of(findings).find("of the same warp") != std::string::npos);
    }
  }
}

TEST_CASE("four warps that start different products are reported with what each starts") {
  const int product = line_of("warpgroups", "product");
  Loop loop;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const auto findings = loop.run(GroupFault::other_product, seed);
    CHECK_MESSAGE(reports(findings, FindingKind::divergent_barrier, product, product), all_of(findings));
    REQUIRE(!findings.empty());
    CHECK(findings[0].text.find("different products") != std::string::npos);
    CHECK((findings[0].thread.thread.x >= 96) != (findings[0].other_thread.thread.x >= 96));
  }
}

TEST_CASE("a wrong stride of a descriptor gives wrong sums") {
  Loop loop;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    (void)loop.run(GroupFault::stride, seed);
    CHECK(!loop.right());
  }
}

TEST_CASE("all four warps start a product, or its wait never ends") {
  Loop loop;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const auto findings = loop.run(GroupFault::missing_warp, seed);
    CHECK_MESSAGE(reports(findings, FindingKind::divergent_barrier, line_of("warpgroups", "product wait")),
                  all_of(findings));
  }
}

TEST_CASE("a block that ends waits for its products, whose sums hold no number before") {
  std::vector<float> a(128, 1.0f), c(128);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Run run(seed);
    group_unfinished(run.input(a), run.output(c));
    const auto findings = Run::findings();
    const auto of_kind = [&](FindingKind kind) {
      return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.kind == kind; });
    };
    CHECK_MESSAGE(of_kind(FindingKind::async_copy_not_waited_for), all_of(findings));
    if (checked())
      CHECK_MESSAGE(of_kind(FindingKind::product_registers), all_of(findings));  // it is read, too
    CHECK(std::isnan(c[5]));
  }
}

namespace {

struct Tiles {
  alignas(128) float in[5 * 12 * 20];
  alignas(128) float out[5 * 12 * 20];
  std::vector<float> seen = std::vector<float>(64);
  Tiles() {
    for (int i = 0; i < 1200; ++i) in[i] = static_cast<float>(i + 1);
  }
  std::vector<Finding> run(TileFault fault, std::uint64_t seed, int swizzle = 0, bool nan = false, int x = 4,
                           int y = 3, int z = 1) {
    std::fill(out, out + 1200, 0.0f);
    Run run(seed);
    plumb::simt::add_array("in", in, sizeof in, true, false);
    plumb::simt::add_array("to", out, sizeof out, true, true);
    tensor_tiles(fault, swizzle, nan, in, run.output(seen, "seen"), out, x, y, z);
    return Run::findings();
  }
  // Whether the box came as it lies, filled past the ends, and went back doubled, and nothing else did.
  bool right(int swizzle, bool nan, int x, int y, int z) const {
    std::vector<float> wanted(1200, 0.0f);
    for (int i = 0; i < 64; ++i) {
      const int c = x + i % 8, r = y + i / 8 % 4, p = z + i / 32;
      const bool inside = c >= 0 && c < 20 && r >= 0 && r < 12 && p >= 0 && p < 5;
      const int place = swizzle == 0 ? i : i ^ (i / 32 % 2) << 2;  // bit 4 of the address by its bit 7
      const float v = seen[static_cast<std::size_t>(place)];
      if (!inside && !(nan ? std::isnan(v) : v == 0.0f)) return false;
      if (!inside) continue;
      const int at = (p * 12 + r) * 20 + c;
      if (v != in[at]) return false;
      wanted[static_cast<std::size_t>(at)] = 2.0f * in[at];
    }
    return std::equal(wanted.begin(), wanted.end(), out);
  }
};

}  // namespace

TEST_CASE("boxes of a tensor come and go, swizzled or not, and past its ends") {
  Tiles tiles;
  const int places[][3] = {{4, 3, 1}, {0, 0, 0}, {16, 10, 4}, {-3, -2, -1}, {14, 3, 1}, {20, 0, 0}};
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const auto& p : places) {
      for (const int swizzle : {0, 1}) {
        const bool nan = seed % 2 == 1;
        CAPTURE(seed);
        CAPTURE(p[0]);
        CAPTURE(swizzle);
        const auto findings = tiles.run(TileFault::none, seed, swizzle, nan, p[0], p[1], p[2]);
        CHECK_MESSAGE(findings.empty(), all_of(findings));
        CHECK(tiles.right(swizzle, nan, p[0], p[1], p[2]));
      }
    }
  }
}

TEST_CASE("mistakes with copies of boxes are reported") {
  const int use = line_of("tensors", "tile use"), write = line_of("tensors", "tile write"),
            store = line_of("tensors", "tile store"), reuse = line_of("tensors", "tile reuse");
  REQUIRE(use > 0);
  REQUIRE(reuse > 0);
  Tiles tiles;
  int early = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const auto many = tiles.run(TileFault::too_many_bytes, seed);
    CHECK_MESSAGE((!many.empty() && many[0].kind == FindingKind::deadlock), all_of(many));
    const auto unwaited = tiles.run(TileFault::unwaited, seed);
    CHECK_MESSAGE(reports(unwaited, FindingKind::async_copy_not_waited_for, store), all_of(unwaited));
    if (!checked()) continue;
    early +=
        reports(tiles.run(TileFault::no_wait, seed), FindingKind::async_copy_not_waited_for, use) ? 1 : 0;
    const auto few = tiles.run(TileFault::too_few_bytes, seed);
    CHECK_MESSAGE(!few.empty(), all_of(few));
    const auto unfenced = tiles.run(TileFault::no_proxy_fence, seed);
    CHECK_MESSAGE(reports(unfenced, FindingKind::race, store, write), all_of(unfenced));
    const auto reused = tiles.run(TileFault::no_read_wait, seed);
    CHECK_MESSAGE(reports(reused, FindingKind::race, store, reuse), all_of(reused));
  }
  if (checked()) CHECK(early > 0);  // where the box has not landed before its use
}

TEST_CASE("maps that the driver refuses are refused") { CHECK(refused_tensor_maps()); }

namespace {

std::vector<Finding> add_rows(AddFault fault, bool by_map, std::uint64_t seed, std::vector<float>& out) {
  std::vector<float> in(3 * 64);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t row = i / 64;
    in[i] = static_cast<float>(i % 64 + 1000 * row);
  }
  alignas(16) static float sums[64];
  std::fill(sums, sums + 64, 1.0f);
  Run run(seed, 2);
  plumb::simt::add_array("sums", sums, sizeof sums, true, true);
  bulk_add(fault, by_map, run.input(in), sums, 3);
  std::vector<Finding> findings = Run::findings();
  out.assign(sums, sums + 64);
  return findings;
}

}  // namespace

TEST_CASE("blocks add rows to global memory by bulk reductions; a missing fence or wait is reported") {
  std::vector<float> sums;
  const int write = line_of("tensors", "add write"), reuse = line_of("tensors", "add reuse"),
            read = line_of("tensors", "add read");
  REQUIRE(read > 0);
  for (std::uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    const bool by_map = seed % 2 != 0;
    const int add = line_of("tensors", by_map ? "add box" : "add run");
    CAPTURE(seed);
    const auto none = add_rows(AddFault::none, by_map, seed, sums);
    CHECK_MESSAGE(none.empty(), all_of(none));
    for (int i = 0; i < 64; ++i) CHECK(sums[static_cast<std::size_t>(i)] == static_cast<float>(3 * i + 3001));
    const auto unwaited = add_rows(AddFault::unwaited, by_map, seed, sums);
    CHECK_MESSAGE(reports(unwaited, FindingKind::async_copy_not_waited_for, add), all_of(unwaited));
    if (!checked()) continue;
    const auto unfenced = add_rows(AddFault::no_proxy_fence, by_map, seed, sums);
    CHECK_MESSAGE(reports(unfenced, FindingKind::race, add, write), all_of(unfenced));
    const auto reused = add_rows(AddFault::no_read_wait, by_map, seed, sums);
    CHECK_MESSAGE(reports(reused, FindingKind::race, add, reuse), all_of(reused));
    const auto read_plainly = add_rows(AddFault::plain_reader, by_map, seed, sums);
    CHECK_MESSAGE(reports(read_plainly, FindingKind::race, add, read), all_of(read_plainly));
  }
}

TEST_CASE("bulk reductions of every kind of number") {
  struct Four {
    unsigned in[4], out[4], want[4];
  };
  const Four cases[kBulkReductions] = {
      {{1, 2, 0xffffffff, 4}, {10, 20, 2, 40}, {11, 22, 1, 44}},                       // add.u32
      {{0xffffffff, 5, 7, 0}, {3, 0xfffffff0, 9, 0}, {0xffffffff, 0xfffffff0, 7, 0}},  // min.s32
      {{0, 1, 5, 0}, {0xffffffff, 0, 6, 0}, {0, 1, 6, 0}},                             // max.u64
      {{12, 10, 0xff, 0}, {10, 10, 0xf0f, 1}, {8, 10, 0xf, 0}},                        // and.b32
      {{1, 2, 3, 4}, {1, 0, 1, 0}, {0, 2, 2, 4}},                                      // xor.b64
      {{5, 5, 5, 0}, {4, 5, 9, 0}, {5, 0, 0, 0}},                                      // inc.u32
      {{0x3c003c00, 0, 0x00010001, 0},
       {0x40003c00, 0, 0x00010000, 0},
       {0x42004000, 0, 0x00020001, 0}},                                       // add.f16
      {{0x3f80c000, 0, 0, 0}, {0x40003f80, 0, 0, 0}, {0x40003f80, 0, 0, 0}},  // max.bf16
      {{0, 0x3ff00000, 0, 0}, {0, 0x40000000, 0, 0}, {0, 0x40080000, 0, 0}},  // add.f64
  };
  std::vector<unsigned> in;
  alignas(16) static unsigned out[4 * kBulkReductions];
  for (int i = 0; i < kBulkReductions; ++i) {
    in.insert(in.end(), cases[i].in, cases[i].in + 4);
    std::copy(cases[i].out, cases[i].out + 4, out + 4 * i);
  }
  Run run;
  plumb::simt::add_array("out", out, sizeof out, true, true);
  bulk_reduce_each(run.input(in), out);
  expect_none();
  for (int i = 0; i < 4 * kBulkReductions; ++i) {
    CAPTURE(i);
    CHECK(out[i] == cases[i / 4].want[i % 4]);
  }
}
