// The constants of a kernel's source, and the sizes that drawn cases take beside them.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "reference/cases/case_space.hpp"
#include "verify/drawing/draw.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/selection/source_constants.hpp"

namespace plumb {
namespace {

TEST_CASE("constants are found where kernels have them, with the line of their first place") {
  const std::string source = R"(#include "deep/64.hpp"
constexpr int kTile = 48;  // 777
#define THREADS 224
/* 999
   888 */ template <int N> __global__ void k(float* x, long n) {
  __shared__ float s[48 + 1];
  if (n >= 1'000 && threadIdx.x < 1u << 5) x[n % 96ul] = 12.5f + 3e4f + 0x1ff + float64(n);
  printf("555 %d", 300000);
}
void run() { k<7><<<n / 224, THREADS>>>(x, n); }
)";
  CHECK(constants_of(source) ==
        std::vector<SourceConstant>{{7, 10}, {32, 7}, {48, 2}, {96, 7}, {224, 3}, {1000, 7}});
  CHECK(describe("k.cu", constants_of("int a = 5;\nint b = 9;")) == "k.cu: 5 (line 1), 9 (line 2)");
  CHECK(constants_of("").empty());
}

TEST_CASE("sizes stand below, at, one and two above a constant and its small multiples") {
  CHECK(sizes_beside({{48, 1}}) ==
        std::vector<std::int64_t>{47, 48, 49, 50, 95, 96, 97, 98, 143, 144, 145, 146, 191, 192, 193, 194});
  CHECK(sizes_beside({}).empty());
}

TEST_CASE("one drawn extent in three stands beside a constant of the source") {
  CaseSpace space = find_operator("gemv").space();
  const std::vector<std::int64_t> sizes = sizes_beside({{1777, 1}});
  space.beside_constants(sizes);
  int beside = 0;
  for (std::uint64_t number = 0; number < 300; ++number) {
    const Case c = draw_case(space, 5, number, {});
    const auto is_beside = [&](const char* key) {
      return std::find(sizes.begin(), sizes.end(), c.integer(key)) != sizes.end();
    };
    beside += is_beside("rows") || is_beside("cols") ? 1 : 0;
  }
  CHECK(beside > 60);
}

}  // namespace
}  // namespace plumb
