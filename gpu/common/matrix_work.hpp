// What the entries of a sparse matrix make warps do, counted on the host in prepare(): the terms of adaptive rungs are made of it.
#pragma once
#include "gpu/common/cost_model.hpp"
#include "gpu/common/rung.hpp"
#include "gpu/device/host_array.hpp"

namespace plumb {

/// Batches of four entries that the warps take together, where a warp takes `teams` rows at once, each `each` entries at a time, and
/// leaves out those of more than `cut`: every warp waits for its longest. Of many rows, a sample.
inline double warp_batches(const HostArray<std::int32_t>& row_ptr, Index teams, Index each, Index cut) {
  constexpr Index kChunk = 4096, kChunks = 64;
  const Index rows = row_ptr.size() - 1, stride = ceil_div(rows, kChunk * kChunks);
  Index batches = 0, seen = 0;
  for (Index first = 0; first < rows; first += kChunk * stride) {
    const Index last = first + kChunk < rows ? first + kChunk : rows;
    for (Index i = first; i < last; i += teams) {
      Index most = 0;
      for (Index j = i; j < i + teams && j < last; ++j) {
        const Index length = row_ptr[j + 1] - row_ptr[j];
        if (length <= cut && length > most) most = length;
      }
      batches += ceil_div(most, each);
    }
    seen += last - first;
  }
  return seen > 0 ? static_cast<double>(batches) * static_cast<double>(rows) / static_cast<double>(seen) : 0;
}

/// What cutting rows of more than `cut` entries into even parts of at most `part` (but at most `most_parts`) leaves, and adds.
struct Cutting {
  double parts = 0, cut_rows = 0, entries = 0, most = 0;  // entries in parts; parts of one row
  Index longest = 0, longest_part = 0;                    // of the rows left
};
inline Cutting cutting_of(const HostArray<std::int32_t>& row_ptr, Index cut, Index part, Index most_parts) {
  Cutting c;
  for (Index i = 0; i + 1 < row_ptr.size(); ++i) {
    const Index length = row_ptr[i + 1] - row_ptr[i];
    if (length <= cut) {
      c.longest = length > c.longest ? length : c.longest;
      continue;
    }
    const Index needed = ceil_div(length, part), parts = needed < most_parts ? needed : most_parts,
                each = ceil_div(length, parts);
    c.parts += static_cast<double>(parts), c.cut_rows += parts > 1, c.entries += static_cast<double>(length);
    c.most = static_cast<double>(parts) > c.most ? static_cast<double>(parts) : c.most;
    c.longest_part = each > c.longest_part ? each : c.longest_part;
  }
  return c;
}

/// What a candidate does before its first run, beside what all candidates are counted by.
struct Keeping {
  double steps = 0;                              // launches, copies and allocations
  double rows = 0, entries = 0;                  // that the host goes over, as often as it does
  double to_host = 0, to_device = 0, moved = 0;  // bytes; moved: on the device
};
/// The terms: a start; steps; millions of rows and of entries on the host; megabytes to the host, to the device, on the device; none.
inline Terms terms_of(const Keeping& k) {
  constexpr double kMega = 1e6;
  return {true,
          {1, k.steps, k.rows / kMega, k.entries / kMega, k.to_host / kMega, k.to_device / kMega,
           k.moved / kMega, 0}};
}

/// The share of entries whose column lies in a line of `line` columns that none of the kWindow entries before has, in a sample.
inline double fresh_share(const std::int32_t* col /* (nnz), device */, Index nnz, Index line,
                          Context& context) {
  constexpr Index kSample = 2048, kWindow = 1024, kPlaces = 4096;
  const Index samples = nnz < 3 * kSample ? 1 : 2, most = nnz < kSample ? nnz : kSample;
  if (most <= 0) return 1;
  HostArray<std::int32_t> sample(most), seen(kPlaces), at(kPlaces);
  Index fresh = 0;
  for (Index s = 1; s <= samples; ++s) {
    const Index first = samples == 1 ? 0 : nnz * s / 3;
    device_read(sample.data(), col + first, static_cast<std::size_t>(sample.bytes()), context.stream);
    seen.fill(-1);
    for (Index k = 0; k < most; ++k) {
      const auto of = static_cast<std::int32_t>(sample[k] / line);
      const Index place = (static_cast<Index>(of) * 2654435761LL >> 7) % kPlaces;
      fresh += seen[place] != of || k - at[place] > kWindow;
      seen[place] = of, at[place] = static_cast<std::int32_t>(k);
    }
  }
  return static_cast<double>(fresh) / static_cast<double>(samples * most);
}

}  // namespace plumb
