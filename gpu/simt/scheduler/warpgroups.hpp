// What four consecutive warps have under way together: products in the order in which all of them start them.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gpu/simt/language/async_proxy.hpp"
#include "gpu/simt/memory/proxy.hpp"
#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

/// A thread's sums of one set of variables, in 32-bit words.
struct LaneSums {
  std::vector<void*> at;
  std::vector<unsigned> now;
};
/// The sums of a warp that products add to, from the first of them until their wait, and what they were then.
struct Accumulator {
  LaneSums lanes[kWarp];
  std::uint64_t last = 0;  // of the warp's products
  Here here{"", 0};        // of that one
  bool landed = false;     // the variables hold them
};

/// One wgmma.mma_async of a warp, as it was called.
struct StartedProduct {
  ProductForm form{};
  unsigned long long a_at = 0, b_at = 0;
  bool a_in_registers = false, add = false;
  unsigned a[kWarp][4] = {};
  std::shared_ptr<Accumulator> sums;
  std::uint64_t number = 0;
  Here here{"", 0};
  bool begun = false;
};

/// What a warp of a warpgroup has done.
struct WarpProducts {
  std::uint64_t issued = 0, waited = 0;  // products
  std::deque<std::uint64_t> groups;      // committed and not waited for: the number behind the last of each
  std::uint64_t committed = 0;           // products, in all
  std::deque<std::shared_ptr<StartedProduct>> open;  // not computed
  std::vector<std::shared_ptr<Accumulator>> sums;
  std::vector<std::uint64_t> fragments;  // of A in registers, since a fence: their hashes
  bool fenced = false;                   // since the last wait
  bool told = false;                     // an early write of sums, since then
  Here waited_at{"", 0};                 // that wait; line 0: none yet
};

/// A product as the warpgroup's warps agree on it.
struct GroupProduct {
  ProductForm form{};
  unsigned long long a_at = 0, b_at = 0;
  bool a_in_registers = false;
  Here here{"", 0};
  std::uint16_t thread = 0;          // who started it first
  std::vector<std::uint32_t> reads;  // shared memory, by 16 bytes
};

struct Warpgroup {
  WarpProducts warps[kWarpgroupWarps];
  std::deque<GroupProduct> products;  // those that some warp has not waited for
  std::uint64_t first = 0;            // number of the first of them
  std::uint64_t settled = 0;          // products that someone has waited for
  std::uint32_t settled_generation = 0;
  std::vector<std::uint16_t> waiting;  // threads
};

/// What products do with a thread's variable of 32 bits.
struct RegisterUse {
  std::uint64_t
      sum_of = 0,
      a_of = 0;      // the number behind that of the last product that adds to it, and reads it as A; 0: none
  Here here{"", 0};  // of that product
  std::uint32_t written = 0;  // fences of the thread before its last write since then, and one; 0: none
  Location written_at = 0;
};
/// Those of a thread's variables that products have used, by address. Each access of the thread's stack asks: the words between the first
/// and the last of them have a place in a table, and no hash.
class RegisterUses {
 public:
  /// Null: no product has used that word.
  [[nodiscard]] RegisterUse* find(std::uintptr_t word) {
    const std::size_t i = (word - low_) / 4;
    return i < numbers_.size() && numbers_[i] != 0 ? &uses_[numbers_[i] - 1u] : nullptr;
  }
  /// `on_stack`: it lies on the thread's stack. Elsewhere find() does not look.
  RegisterUse& at(const void* word, bool on_stack);

 private:
  std::uintptr_t low_ = 0;              // of the first place
  std::vector<std::uint16_t> numbers_;  // by place: of its use, from 1 on; 0: it has none
  std::deque<RegisterUse> uses_;
  std::unordered_map<const void*, RegisterUse> elsewhere_;
};
struct ProductRegisters {
  RegisterUses uses;
  std::uint32_t fences = 0;  // wgmma.fence
};

struct Block;
struct Thread;
/// An access of the thread's to its own variables, of which products have some: none may be touched while its product is under way.
void touch_registers(Thread& thread, const void* at, std::size_t bytes, bool writes, Location location);
/// A block that ends, or a warp, must have waited for its products. False: it is a finding that stops the launch.
void check_products(const Block& block);
void check_products_at_exit(const Thread& thread);

}  // namespace plumb::simt
