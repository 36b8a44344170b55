#include "datasets/generators/save_generated.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/npy.hpp"
#include "datasets/io/output_file.hpp"
#include "datasets/io/output_text.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

namespace fs = std::filesystem;

// One member of a ustar archive, with no particular owner.
std::string tar_header(const std::string& name, std::size_t bytes) {
  std::string h(512, '\0');
  const auto text = [&h](std::size_t at, std::string_view s) { s.copy(h.data() + at, s.size()); };
  const auto octal = [&](std::size_t at, int digits, std::uint64_t value) {
    for (int k = digits - 1; k >= 0; --k, value >>= 3)
      h[at + static_cast<std::size_t>(k)] = static_cast<char>('0' + (value & 7));
  };
  text(0, name);
  octal(100, 7, 0644);
  octal(108, 7, 0);
  octal(116, 7, 0);
  octal(124, 11, bytes);
  octal(136, 11, 0);
  text(148, "        ");
  h[156] = '0';
  text(257, std::string_view("ustar\00000", 8));
  std::uint64_t sum = 0;
  for (const char c : h) sum += static_cast<unsigned char>(c);
  octal(148, 6, sum);
  h[154] = '\0';
  return h;
}

std::string layer_name(const RadixNet& net, std::int64_t layer) {
  return fmt::format("n{}-l{}.tsv", net.neurons, layer + 1);
}

}  // namespace

void save_network(const std::string& path, const RadixNet& net) {
  if (path.ends_with(".plumb")) {
    std::vector<Csr<float>> layers(static_cast<std::size_t>(net.layers));
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t l = 0; l < net.layers; ++l)
      layers[static_cast<std::size_t>(l)] = radixnet_layer(net, l);
    write_cache(path, CacheKind::weights, layers);
    return;
  }
  if (path.ends_with(".tar") || path.ends_with(".tar.gz")) {
    OutputText out(path, path.ends_with(".gz"));
    for (std::int64_t l = 0; l < net.layers; ++l) {
      const std::string text = radixnet_tsv(net, l);
      out.write(tar_header(fmt::format("neuron{}/{}", net.neurons, layer_name(net, l)), text.size()));
      out.write(text);
      out.write(std::string((512 - text.size() % 512) % 512, '\0'));
    }
    out.write(std::string(1024, '\0'));
    out.commit();
    return;
  }
  if (!fs::path(path).extension().empty() && !fs::is_directory(path)) {
    throw input_error(path, 0, "a network is written to NAME.plumb, NAME.tar, NAME.tar.gz or a folder");
  }
  OutputFolder folder(path);
  for (std::int64_t l = 0; l < net.layers; ++l) {
    OutputText out(folder.path() + "/" + layer_name(net, l), false);
    out.write(radixnet_tsv(net, l));
    out.commit();
  }
  folder.commit();
}

void save_gcn(const std::string& path, const GcnSet<double>& set) {
  OutputFolder folder(path);
  const auto file = [&folder](const std::string& name) { return folder.path() + "/" + name; };
  const auto vector = [&file](const std::string& name, const auto& values) {
    write_npy(file(name), {static_cast<std::int64_t>(values.size())}, values);
  };
  vector("A_indptr.npy", set.a.row_ptr);
  vector("A_indices.npy", set.a.col);
  vector("A_values_f64.npy", set.a.val);
  write_npy(file("X.npy"), set.x);
  for (std::size_t l = 0; l < set.weights.size(); ++l) {
    const std::string number = std::to_string(l + 1) + ".npy";
    write_npy(file("W" + number), set.weights[l]);
    vector("b" + number, set.biases[l]);
  }
  folder.commit();
}

void save_inputs(const std::string& path, const PixelMask& mask) {
  if (path.ends_with(".plumb")) {
    write_cache(path, CacheKind::images, std::vector<Csr<float>>{to_csr(mask)});
    return;
  }
  if (!path.ends_with(".tsv") && !path.ends_with(".tsv.gz")) {
    throw input_error(path, 0, "inputs are written to NAME.plumb, NAME.tsv or NAME.tsv.gz");
  }
  // Feature by feature from the bits: a CSR matrix of the largest set would not have to fit beside them.
  OutputText out(path, path.ends_with(".gz"));
  for (std::int64_t f = 0; f < mask.features; ++f) {
    for (std::int64_t m = 0; m < mask.rows; ++m) {
      if (!mask.test(m, f)) continue;
      out.number(m + 1, '\t');
      out.number(f + 1, '\t');
      out.write("1\n");
    }
  }
  out.commit();
}

}  // namespace plumb
