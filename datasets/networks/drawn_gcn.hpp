// GCNs that nobody chose: graphs, widths, depths and forms of X drawn from a seed. A case's id is all that it takes to
// make its network again.
#pragma once
#include <cstdint>

#include "datasets/networks/gcn_data.hpp"
#include "reference/cases/case_id.hpp"

namespace plumb {

/// The `number`-th case of `seed`, f32 where the number is even:
///
///   gcn.f32(vertices=120,graph=rmat,density=0.03,values=normalised,x=csr,x_density=0.1,widths=33-7-100,biases=all,fill=few,seed=5)
///
/// graph     a pattern (reference/cases/patterns.hpp) of `density`
/// values    normalised: those of A^; signed: uniform in [-1, 1) over the root of the row's length
/// x         csr or dense, with `x_density` of its places other than zero
/// widths    of X, and of each layer: one to seven layers, of 1 to 512 columns, powers of two and others
/// biases    all, none, or some: of every second layer
/// fill      of X, weights and biases: real, uniform in [-1, 1); positive, in [0, 1); few, a quarter times a whole number
///
/// Weights are scaled by the root of their rows, so that values of deep networks stay in range. All values but those of A^ are exact
/// in fp32. There are at most 600 vertices, and less where the network would have more than `most_products` multiplications.
[[nodiscard]] Case draw_gcn_case(std::uint64_t seed, std::uint64_t number, double most_products);

/// How large a network drawn for timing may be. Bytes: of A, X, and what each layer makes.
struct GcnSize {
  double least_bytes = 0, most_bytes = 0;
  double most_products = 0;  // multiplications: the reference makes each of them
  double most_entries = 0;   // of A
};

/// The `number`-th case of `seed` for timing, as users have them: 2 to 64 entries in a row of A, X of 8 to 512 columns, one to three
/// layers of 8 to 512, the last of 2 to 64; bytes log-uniform between the limits, unless another limit comes first. Half of the widths
/// are powers of two. Values of A^, no empty graphs, X dense or with a fiftieth or a fifth of its places in CSR.
[[nodiscard]] Case draw_timed_gcn_case(std::uint64_t seed, std::uint64_t number, const GcnSize& size);

/// Errors: a parameter that is missing or not one of those above; sizes of more than 2^31 - 1 entries.
[[nodiscard]] LoadedGcn gcn_of_case(const Case& drawn);

}  // namespace plumb
