// Extents that people have, for timing: layers of published networks, graphs, and the thin products beside them. Each table names its source;
// an operator says what the extents are called there.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "reference/cases/case_space.hpp"

namespace plumb::timed {

/// Up to this share more or less of a published number, in half of the draws.
inline constexpr double kNoise = 0.15;

using Pairs = std::vector<std::pair<int, int>>;
/// A family of shapes that fix two extents.
inline TimedFamily of_pairs(std::string name, std::string source, const std::string& first,
                            const std::string& second, const Pairs& pairs) {
  TimedFamily family{std::move(name), std::move(source), {}, kNoise};
  for (const auto& [a, b] : pairs)
    family.shapes.push_back(first + '=' + std::to_string(a) + ',' + second + '=' + std::to_string(b));
  return family;
}

/// Dense layers of transformers, `out` by `in`: BERT base and large, Llama 2 7B, Llama 3 8B, whose keys have 1,024 columns.
inline TimedFamily transformers(const std::string& out, const std::string& in) {
  return of_pairs("layers of transformers", "Devlin 2019, Touvron 2023, Grattafiori 2024", out, in,
                  {{768, 768},
                   {3072, 768},
                   {768, 3072},
                   {1024, 1024},
                   {4096, 1024},
                   {1024, 4096},
                   {4096, 4096},
                   {11008, 4096},
                   {4096, 11008},
                   {14336, 4096},
                   {4096, 14336}});
}

/// Dense layers behind convolutions, `out` by `in`: ResNet-50, VGG-16.
inline TimedFamily classifiers(const std::string& out, const std::string& in) {
  return of_pairs("classifiers of images", "He 2016, Simonyan 2015", out, in,
                  {{1000, 2048}, {4096, 25088}, {4096, 4096}, {1000, 4096}});
}

/// Classes of graphs: Cora and Flickr 7, ogbn-arxiv 40, Reddit 41, ogbn-products 47, ogbn-proteins 112, MAG240M 153, ogbn-papers100M 172;
/// and 16 hidden units of the first GCN.
inline TimedFamily class_counts(const std::string& key) {
  return {"classes of graphs",
          "Kipf 2017, Hamilton 2017, Hu 2020 and 2021",
          {key + "=7|16|40|41|47|112|153|172"}};
}

/// The layer of a graph network with all nodes of a graph: nodes, features, and hidden units or classes. Cora, CiteSeer, PubMed, Flickr,
/// Reddit, ogbn-arxiv, ogbn-products (its first half a million nodes), ogbn-proteins.
inline TimedFamily graph_layers(const std::string& nodes, const std::string& in, const std::string& out) {
  TimedFamily family{"layers of graph networks", "Kipf 2017, Zeng 2020, Hamilton 2017, Hu 2020", {}, kNoise};
  const std::vector<std::pair<std::string, std::pair<int, const char*>>> graphs = {
      {"2708", {1433, "7|16"}},   {"3327", {3703, "6|16"}},   {"19717", {500, "3|16"}},
      {"89250", {500, "7|64"}},   {"232965", {602, "41|64"}}, {"169343", {128, "40|64"}},
      {"500000", {100, "47|64"}}, {"132534", {8, "64|112"}}};
  for (const auto& [rows, widths] : graphs)
    family.shapes.push_back(nodes + '=' + rows + ',' + in + '=' + std::to_string(widths.first) + ',' + out +
                            '=' + widths.second);
  return family;
}

/// Their adjacency matrices, by nodes and neighbours of a node. Larger ones (Reddit 492 a row, ogbn-products 51) keep the length of their
/// rows, not their number.
inline TimedFamily graphs() {
  TimedFamily family{"graphs", "Kipf 2017, Zeng 2020, Hamilton 2017, Hu 2020", {}, kNoise};
  for (const char* const shape : {"rows=2708,cols=2708,row_mean=4", "rows=3327,cols=3327,row_mean=3",
                                  "rows=19717,cols=19717,row_mean=5", "rows=89250,cols=89250,row_mean=10",
                                  "rows=169343,cols=169343,row_mean=14", "row_mean=51", "row_mean=492"})
    family.shapes.push_back(std::string(shape) + ",pattern=powerlaw|rmat");
  return family;
}

/// Weights of the sparse DNN challenge: 32 connections for each neuron.
inline TimedFamily sparse_networks() {
  TimedFamily family{"sparse networks", "Kepner 2019 (Graph Challenge)", {}, 0};
  for (const char* const neurons : {"1024", "4096", "16384", "65536"})
    family.shapes.push_back(std::string("rows=") + neurons + ",cols=" + neurons +
                            ",row_mean=32,pattern=uniform|banded|unsorted");
  return family;
}

/// Rows as long as a vocabulary, or ImageNet's classes: Llama 2, GPT-2, Llama 3.
inline TimedFamily vocabularies(const std::string& key) {
  return {"vocabularies",
          "Russakovsky 2015, Radford 2019, Touvron 2023, Grattafiori 2024",
          {key + "=1000|32000|50257|128256"}};
}

/// Rows as long as a layer of the sparse DNN challenge, or of a transformer.
inline TimedFamily neurons(const std::string& key) {
  return {"neurons of a layer",
          "Kepner 2019 (Graph Challenge), Devlin 2019, Touvron 2023",
          {key + "=1024|4096|16384|65536", key + "=768|3072|4096|11008"}};
}

/// The convolutions of ResNet-50, of VGG-16 and of LeNet-5; the number of images is free.
inline TimedFamily convolutions() {
  TimedFamily family{"layers of images", "He 2016, Simonyan 2015, LeCun 1998", {}, kNoise};
  const auto layers = [&](const char* const rest, const std::vector<std::vector<int>>& shapes) {
    for (const std::vector<int>& s : shapes)
      family.shapes.push_back("c=" + std::to_string(s[0]) + ",h=" + std::to_string(s[1]) +
                              ",w=" + std::to_string(s[1]) + ",k=" + std::to_string(s[2]) + ',' + rest);
  };
  layers("r=7,s=7,stride=2,pad=3,dilation=1", {{3, 224, 64}});
  layers("r=5,s=5,stride=1,pad=0,dilation=1", {{1, 32, 6}, {6, 14, 16}});
  layers("r=3,s=3,stride=1,pad=1,dilation=1", {{64, 56, 64},
                                               {128, 28, 128},
                                               {256, 14, 256},
                                               {512, 7, 512},
                                               {3, 224, 64},
                                               {64, 224, 64},
                                               {128, 112, 128},
                                               {256, 56, 256},
                                               {512, 28, 512}});
  layers("r=3,s=3,stride=2,pad=1,dilation=1", {{128, 56, 128}, {256, 28, 256}, {512, 14, 512}});
  layers("r=1,s=1,stride=1,pad=0,dilation=1", {{64, 56, 64},
                                               {64, 56, 256},
                                               {256, 56, 64},
                                               {512, 28, 128},
                                               {128, 28, 512},
                                               {1024, 14, 256},
                                               {256, 14, 1024},
                                               {2048, 7, 512},
                                               {512, 7, 2048}});
  return family;
}

/// Products with few rows or columns on one side.
inline TimedFamily thin(const std::string& first, const std::string& second) {
  return {
      "thin products", "", {first + "=1..64", second + "=1..64", first + "=65..512", second + "=65..512"}};
}

}  // namespace plumb::timed
