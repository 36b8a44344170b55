#include "datasets/formats/convert.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/format_table.hpp"
#include "datasets/formats/save_matrix.hpp"
#include "datasets/formats/sdnn_files.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

namespace fs = std::filesystem;

template <class T>
std::string convert_matrix(const Conversion& job, const Csr<T>& a) {
  save_matrix(job.out, a, job.format);
  return fmt::format("{} x {}, {} entries", a.rows, a.cols, a.nnz());
}

std::string convert_network(const Conversion& job, const SdnnNetwork& net) {
  write_cache(job.out, CacheKind::weights, net.layers);
  return fmt::format("{} layers of {} neurons", net.layers.size(), net.neurons);
}

}  // namespace

std::string convert(const Conversion& job, std::vector<std::string>& notes) {
  if (!job.type.empty() && job.type != "f32" && job.type != "f64") {
    throw Error(fmt::format("--dtype must be f32 or f64, is: {}", printable(job.type)));
  }
  if (!fs::exists(job.in)) throw input_error(job.in, 0, "no such file or folder");
  const OutputFormat to = format_of_output(job.out, job.format);
  const bool cache = std::string_view(to.format->name) == "plumb";
  if (fs::is_directory(job.in)) {
    if (!cache) throw input_error(job.in, 0, "a folder is written to NAME.plumb only; OUT is", job.out);
    return convert_network(job, read_sdnn_weights(job.in));
  }
  const auto source = open_source(job.in);
  const FileFormat& from = format_of_input(*source, job.from.format);
  const std::string_view kind = from.name;
  if (cache && kind == "tar") return convert_network(job, read_sdnn_weights(*source));
  if (cache && kind == "images") {
    const Csr<float> images = read_sdnn_images(*source, 0, 0);
    write_cache(job.out, CacheKind::images, std::vector<Csr<float>>{images});
    return fmt::format("{} images of {} pixels, {} ones", images.rows, images.cols, images.nnz());
  }
  const bool as_f32 = job.type == "f32" || (job.type.empty() && to.format->holds_f32) || kind == "plumb";
  const std::string what = as_f32 ? convert_matrix(job, load_as<float>(from, *source, job.from))
                                  : convert_matrix(job, load_as<double>(from, *source, job.from));
  notes = source->findings().notes;
  return what;
}

}  // namespace plumb
