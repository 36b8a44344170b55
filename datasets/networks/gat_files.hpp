// A graph attention network whose graph, features and weights are files of a user's own.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/networks/gcn_data.hpp"

namespace plumb {

/// One layer, as reference/models/gat/gat.hpp lays it out.
struct GatLayerParts {
  std::int64_t heads = 1;
  Dense<double> w;  // (inputs, heads * width)
  std::vector<double> source, target,
      bias;  // (heads * width); bias: that, (width) where heads are averaged, or empty
};

struct LoadedGat {
  LoadedGcn graph;  // without weights; the values of its A say nothing here
  std::vector<GatLayerParts> layers;
};

/// Reads graph and features as read_gcn_files does, and the layers:
///
/// .npy        for each layer a matrix (inputs, heads * width), att_src and att_dst, each (heads, width), (1, heads, width) or, of one head,
///             (width), and, if there is one, a bias
/// .npz, .pt   a state dict of PyTorch Geometric's GATConv: NAME.att_src, NAME.att_dst, NAME.lin.weight (also lin_src.weight, lin_l.weight) and,
///             if there is one, NAME.bias; layers in the order of NAME
/// Errors      those of the readers; an array that is missing or has no role; shapes that do not fit: the array and both numbers
[[nodiscard]] LoadedGat read_gat_files(const GcnRequest& request);

}  // namespace plumb
