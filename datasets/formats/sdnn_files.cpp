#include "datasets/formats/sdnn_files.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/shape_comment.hpp"
#include "datasets/formats/triplets.hpp"
#include "datasets/io/text.hpp"
#include "reference/core/error.hpp"
#include "reference/core/memory.hpp"
#include "reference/core/threads.hpp"

namespace plumb {
namespace {

namespace fs = std::filesystem;

// The entries of one piece of text. Lines without an entry are recorded, so that the line of an entry can be
// computed later.
struct LayerPart {
  Triplets<float> entries;
  text::SkippedLines skipped;  // blank lines
  std::int32_t largest_row = -1;
};
using LayerParts = std::deque<text::Parsed<LayerPart>>;

struct Columns {
  const char *row, *col, *value;  // what messages call them
};
constexpr Columns kLayerColumns{"input neuron", "output neuron", "weight"};
constexpr Columns kImageColumns{"image", "feature", "value"};

void parse_entries(std::string_view piece, std::int64_t rows, std::int64_t cols, const Columns& names,
                   LayerPart& to) {
  text::Cursor in{piece.data(), piece.data() + piece.size()};
  text::LineCounter lines(piece.data());
  const std::size_t most = text::most_entries(piece, 6);  // "1 1 1\n"
  to.entries.row.resize(most);
  to.entries.col.resize(most);
  to.entries.val.resize(most);
  std::size_t n = 0;
  for (; !in.at_end(); in.at += in.at_end() ? 0 : 1) {
    if (in.line_done()) {
      to.skipped.add(lines.line_of(in.at));
      continue;
    }
    const auto row = static_cast<std::int32_t>(text::take_index(in, names.row, 1, rows) - 1);
    to.entries.row[n] = row;
    to.entries.col[n] = static_cast<std::int32_t>(text::take_index(in, names.col, 1, cols) - 1);
    to.entries.val[n] = text::take_real<float>(in, names.value, true);
    to.largest_row = std::max(to.largest_row, row);
    if (!in.line_done()) in.fail("text after the third column");
    ++n;
  }
  to.entries.row.resize(n);
  to.entries.col.resize(n);
  to.entries.val.resize(n);
  text::trim(to.entries.row);
  text::trim(to.entries.col);
  text::trim(to.entries.val);
}

// The line of the second appearance of an entry.
std::int64_t line_of_repeat(const LayerParts& parts, const Repeat& repeat) {
  bool once = false;
  for (const auto& p : parts) {
    const Triplets<float>& e = p.part.entries;
    for (std::size_t k = 0; k < e.size(); ++k) {
      if (e.row[k] != repeat.row || e.col[k] != repeat.col) continue;
      if (!once) {
        once = true;
        continue;
      }
      return p.first_line + p.part.skipped.line_of(static_cast<std::int64_t>(k));
    }
  }
  return 0;
}

Csr<float> build(const std::string& name, const LayerParts& parts, std::int64_t rows, std::int64_t cols) {
  std::vector<const Triplets<float>*> pieces;
  for (const auto& p : parts) pieces.push_back(&p.part.entries);
  Csr<float> out = csr_of<float>(name, rows, cols, pieces);
  const Repeat repeat = find_repeat(out);
  if (repeat.row >= 0) {
    throw input_error(name, line_of_repeat(parts, repeat), "entry is repeated",
                      std::to_string(repeat.row + 1) + " " + std::to_string(repeat.col + 1));
  }
  return out;
}

// One layer's whole text, on this thread.
Csr<float> layer_of(const std::string& content, const std::string& name, std::int64_t neurons) {
  LayerParts parts(1);
  parts[0].first_line = 1;
  try {
    parse_entries(content, neurons, neurons, kLayerColumns, parts[0].part);
  } catch (const text::LineError& e) {
    throw input_error(name, 1 + std::count(content.data(), e.at, '\n'), e.what, e.value);
  }
  return build(name, parts, neurons, neurons);
}

void check_neurons(const std::string& label, std::int64_t found, std::int64_t& neurons) {
  if (neurons == 0) neurons = found;
  if (found != neurons) {
    throw input_error(label, 0, "layer of another size: neurons in the name, neurons asked for",
                      std::to_string(found) + ", " + std::to_string(neurons));
  }
}

// The comment with the shape, where there is one, for lists that count from 1. `rows` 0: any number.
std::optional<ShapeComment> take_checked_shape(ByteSource& source, std::int64_t rows, std::int64_t cols) {
  std::optional<ShapeComment> shape = take_shape_comment(source);
  if (!shape) return shape;
  if (shape->base != 1 || shape->cols != cols || (rows != 0 && shape->rows != rows)) {
    throw input_error(
        source.name(), 1,
        "list of another shape, or not counted from 1; columns expected: " + std::to_string(cols),
        to_text(*shape).substr(2, to_text(*shape).size() - 3));
  }
  return shape;
}

using LayerMap = std::map<std::int64_t, Csr<float>>;

SdnnNetwork network_of(const std::string& path, LayerMap& found, std::int64_t neurons, std::int64_t layers) {
  const std::int64_t want = layers > 0 ? layers : (found.empty() ? 0 : found.rbegin()->first);
  if (want == 0) throw input_error(path, 0, "no layer in it: no file is named nN-lK.tsv");
  SdnnNetwork out;
  out.neurons = neurons;
  for (std::int64_t layer = 1; layer <= want; ++layer) {
    const auto it = found.find(layer);
    if (it == found.end()) throw input_error(path, 0, "layer is missing", std::to_string(layer));
    out.layers.push_back(std::move(it->second));
  }
  return out;
}

// One thread at a time steps through the archive and inflates; the others parse the members they took.
SdnnNetwork read_tar(ByteSource& source, std::int64_t neurons, std::int64_t layers) {
  struct Job {
    std::string label, text;
    Csr<float>* to = nullptr;
    std::exception_ptr failed;
  };
  LayerMap found;
  std::deque<Job> jobs;
  std::atomic<bool> failed{false};
  TarReader tar(source);
  TarReader::Member member;
  const auto take = [&](Job*& job) {
    while (!failed &&
           tar.next(member)) {  // to the end, also past the last layer asked for: damage there is an error
      if (layers > 0 && static_cast<std::int64_t>(found.size()) == layers) continue;
      const auto name = sdnn_layer_name(member.name);
      if (!name || (layers > 0 && name->layer > layers)) continue;
      check_neurons(tar.label(), name->neurons, neurons);
      const auto [slot, fresh] = found.try_emplace(name->layer);
      if (!fresh) throw input_error(tar.label(), 0, "layer is there twice", std::to_string(name->layer));
      job = &jobs.emplace_back(Job{tar.label(), tar.content(), &slot->second, nullptr});
      return true;
    }
    return false;
  };
  const auto work = [&](Job* job) noexcept {
    try {
      *job->to = layer_of(job->text, job->label, neurons);
    } catch (...) {
      job->failed = std::current_exception();
      failed = true;
    }
    std::string().swap(job->text);
  };
  const std::exception_ptr unreadable = text::deal<Job*>(take, work);
  for (const Job& job : jobs) {
    if (job.failed) std::rethrow_exception(job.failed);
  }
  if (unreadable) std::rethrow_exception(unreadable);
  return network_of(source.name(), found, neurons, layers);
}

SdnnNetwork read_folder(const std::string& path, std::int64_t neurons, std::int64_t layers) {
  struct File {
    std::string path;
    Csr<float>* to;
    std::exception_ptr failed;
  };
  std::map<std::int64_t, std::string> names;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(path, unreadable)) {
    const std::string file = entry.path().string();
    const auto name = sdnn_layer_name(file);
    if (!name || (layers > 0 && name->layer > layers)) continue;
    check_neurons(file, name->neurons, neurons);
    if (!names.emplace(name->layer, file).second) {
      throw input_error(file, 0, "layer is there twice", std::to_string(name->layer));
    }
  }
  if (unreadable) throw input_error(path, 0, "cannot read the folder", unreadable.message());
  LayerMap found;
  std::vector<File> files;
  for (const auto& [layer, file] : names) files.push_back({file, &found[layer], nullptr});
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t k = 0; k < files.size(); ++k) {
    try {
      const auto source = open_source(files[k].path);
      *files[k].to = layer_of(read_all(*source), files[k].path, neurons);
    } catch (...) { files[k].failed = std::current_exception(); }
  }
  for (const File& file : files) {
    if (file.failed) std::rethrow_exception(file.failed);
  }
  return network_of(path, found, neurons, layers);
}

SdnnNetwork from_cache(ByteSource& source, std::int64_t neurons, std::int64_t layers) {
  const BinaryCache cache(source);
  SdnnNetwork out;
  out.neurons = neurons;
  const std::int64_t want = check_sdnn_cache(cache, source.name(), out.neurons, layers);
  for (std::int64_t k = 0; k < want; ++k) out.layers.push_back(cache.copy(k));
  return out;
}

}  // namespace

std::int64_t check_sdnn_cache(const BinaryCache& cache, const std::string& path, std::int64_t& neurons,
                              std::int64_t layers) {
  if (cache.kind() != CacheKind::weights) throw input_error(path, 0, "binary cache holds no weights");
  const std::int64_t want = layers > 0 ? layers : cache.size();
  if (want > cache.size() || want == 0) {
    throw input_error(path, 0, "binary cache holds fewer layers than asked for",
                      std::to_string(cache.size()) + ", want " + std::to_string(want));
  }
  for (std::int64_t k = 0; k < want; ++k) {
    check_neurons(path, cache.matrix(k).rows, neurons);
    check_neurons(path, cache.matrix(k).cols, neurons);
  }
  return want;
}

std::optional<SdnnLayerName> sdnn_layer_name(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  const auto number = [&](char letter) -> std::int64_t {
    if (name.empty() || name[0] != letter) return -1;
    std::int64_t value = 0;
    const auto parsed = std::from_chars(name.data() + 1, name.data() + name.size(), value);
    if (parsed.ec != std::errc{} || value < 1 || value > kLargestIndex) return -1;
    name.remove_prefix(static_cast<std::size_t>(parsed.ptr - name.data()));
    return value;
  };
  const std::int64_t neurons = number('n');
  if (neurons < 0 || name.empty() || name[0] != '-') return {};
  name.remove_prefix(1);
  const std::int64_t layer = number('l');
  if (layer < 0 || (name != ".tsv" && name != ".tsv.gz")) return {};
  return SdnnLayerName{neurons, layer};
}

std::optional<std::int64_t> sdnn_image_neurons(std::string_view path) {
  constexpr std::string_view kPrefix = "sparse-images-";
  const std::size_t at = path.rfind(kPrefix);
  if (at == std::string_view::npos) return {};
  std::int64_t neurons = 0;
  std::from_chars(path.data() + at + kPrefix.size(), path.data() + path.size(), neurons);
  if (neurons < 1 || neurons > kLargestIndex) return {};
  return neurons;
}

Csr<float> read_sdnn_layer(ByteSource& source, std::int64_t neurons) {
  const std::int64_t line = take_checked_shape(source, neurons, neurons) ? 2 : 1;
  const LayerParts parts = text::parse_lines<LayerPart>(
      source,
      [&](std::string_view piece, LayerPart& to) {
        parse_entries(piece, neurons, neurons, kLayerColumns, to);
      },
      line);
  return build(source.name(), parts, neurons, neurons);
}

SdnnNetwork read_sdnn_weights(const std::string& path, std::int64_t neurons, std::int64_t layers) {
  if (fs::is_directory(path)) return read_folder(path, neurons, layers);
  return read_sdnn_weights(*open_source(path), neurons, layers);
}

SdnnNetwork read_sdnn_weights(ByteSource& source, std::int64_t neurons, std::int64_t layers) {
  const std::string& path = source.name();
  if (is_cache(source)) return from_cache(source, neurons, layers);
  constexpr std::size_t kTarHeader = 512;  // bytes
  if (looks_like_tar(source.peek(kTarHeader)) || path.find(".tar") != std::string::npos) {
    return read_tar(source, neurons, layers);
  }
  const auto name = sdnn_layer_name(path);
  if (name) check_neurons(path, name->neurons, neurons);
  if (neurons == 0) {
    throw input_error(
        path, 0, "neither a tar nor a folder nor a layer named nN-lK.tsv: the number of neurons is unknown");
  }
  if (layers > 1)
    throw input_error(path, 0, "the file holds one layer, layers asked for", std::to_string(layers));
  SdnnNetwork out;
  out.neurons = neurons;
  out.layers.push_back(read_sdnn_layer(source, neurons));
  return out;
}

namespace {

// One line may name image 2147483647 and so ask for gigabytes. Where the number of images is taken from the largest id, most
// of them must have an entry.
void check_image_count(const ByteSource& source, std::int64_t rows, std::int64_t entries) {
  constexpr std::int64_t kAlwaysFine = std::int64_t{1} << 20, kEmptyPerEntry = 64;
  if (rows > std::max(kAlwaysFine, kEmptyPerEntry * entries)) {
    throw input_error(source.name(), 0,
                      "largest image id is far above the number of entries (" + std::to_string(entries) + ")",
                      std::to_string(rows));
  }
}

Csr<float> images_from_cache(ByteSource& source, std::int64_t neurons, std::int64_t inputs) {
  const BinaryCache cache(source);
  check_sdnn_images_cache(cache, source.name(), neurons, inputs);
  return cache.copy(0);
}

}  // namespace

void check_sdnn_images_cache(const BinaryCache& cache, const std::string& path, std::int64_t neurons,
                             std::int64_t inputs) {
  if (cache.kind() != CacheKind::images || cache.size() != 1)
    throw input_error(path, 0, "binary cache holds no images");
  const auto& a = cache.matrix(0);
  if ((neurons != 0 && a.cols != neurons) || (inputs != 0 && a.rows != inputs)) {
    throw input_error(path, 0, "images of another shape in the binary cache",
                      std::to_string(a.rows) + " x " + std::to_string(a.cols));
  }
}

Csr<float> read_sdnn_images(ByteSource& source, std::int64_t neurons, std::int64_t inputs) {
  if (is_cache(source)) return images_from_cache(source, neurons, inputs);
  if (neurons == 0) neurons = sdnn_image_neurons(source.name()).value_or(0);
  if (neurons == 0) {
    throw input_error(source.name(), 0, "number of neurons is unknown: the name is not sparse-images-N.tsv");
  }
  const std::optional<ShapeComment> shape = take_checked_shape(source, inputs, neurons);
  std::int64_t rows = inputs > 0 ? inputs : shape ? shape->rows : 0;
  const std::int64_t most = rows > 0 ? rows : kLargestIndex;
  const LayerParts parts = text::parse_lines<LayerPart>(
      source,
      [&](std::string_view piece, LayerPart& to) { parse_entries(piece, most, neurons, kImageColumns, to); },
      shape ? 2 : 1);
  std::int64_t entries = 0;
  for (const auto& p : parts) entries += static_cast<std::int64_t>(p.part.entries.size());
  if (entries == 0 && !shape) throw input_error(source.name(), 0, "no image in it: the file holds no entry");
  if (rows == 0) {
    for (const auto& p : parts) rows = std::max<std::int64_t>(rows, p.part.largest_row + 1);
    check_image_count(source, rows, entries);
  }
  // One line with a large number asks for much memory: row pointers here, and in the answer of a program that uses them.
  constexpr double kBytesPerInput = 16;
  require_memory(fmt::format("{}: {} inputs", source.name(), rows),
                 kBytesPerInput * static_cast<double>(rows));
  return build(source.name(), parts, rows, neurons);
}

Csr<float> read_sdnn_images(const std::string& path, std::int64_t neurons, std::int64_t inputs) {
  return read_sdnn_images(*open_source(path), neurons, inputs);
}

std::vector<std::int32_t> read_sdnn_categories(ByteSource& source, std::int64_t inputs) {
  struct Ids {
    std::vector<std::pair<std::int32_t, std::int32_t>> id_and_line;
  };
  const std::int64_t most = inputs > 0 ? inputs : kLargestIndex;
  const auto parts = text::parse_lines<Ids>(source, [&](std::string_view piece, Ids& to) {
    text::Cursor in{piece.data(), piece.data() + piece.size()};
    text::LineCounter lines(piece.data());
    for (; !in.at_end(); in.at += in.at_end() ? 0 : 1) {
      if (in.line_done()) continue;
      const std::int32_t line = lines.line_of(in.at);
      to.id_and_line.emplace_back(text::take_index(in, "category id", 1, most), line);
      if (!in.line_done()) in.fail("text after the id");
    }
  });
  std::vector<std::pair<std::int32_t, std::int64_t>> all;
  for (const auto& p : parts) {
    for (const auto& [id, line] : p.part.id_and_line) all.emplace_back(id, p.first_line + line);
  }
  std::sort(all.begin(), all.end());
  std::vector<std::int32_t> ids;
  for (const auto& [id, line] : all) {
    if (!ids.empty() && ids.back() == id) {
      throw input_error(source.name(), line, "category id is repeated", std::to_string(id));
    }
    ids.push_back(id);
  }
  return ids;
}

std::vector<std::int32_t> read_sdnn_categories(const std::string& path, std::int64_t inputs) {
  const auto source = open_source(path);
  return read_sdnn_categories(*source, inputs);
}

SdnnPaths find_sdnn(const std::string& folder, std::int64_t neurons, std::int64_t layers) {
  const std::string n = std::to_string(neurons), l = std::to_string(layers);
  const auto first_of = [&](std::initializer_list<std::string> names) -> std::string {
    for (const std::string& name : names) {
      std::string path = (fs::path(folder) / name).string();
      std::error_code ignored;
      if (fs::exists(path, ignored)) return path;
    }
    return {};
  };
  const std::string network = "neuron" + n, images = "sparse-images-" + n,
                    answer = network + "-l" + l + "-categories";
  return {first_of({network + ".plumb", network + ".tar.gz", network + ".tgz", network + ".tar", network}),
          first_of({images + ".plumb", images + ".tsv.gz", images + ".tsv"}),
          first_of({answer + ".tsv", answer + ".tsv.gz"})};
}

SdnnProblem read_sdnn(const SdnnPaths& paths, std::int64_t neurons, std::int64_t layers,
                      std::int64_t inputs) {
  SdnnProblem out;
  run_side_by_side([&] { out.network = read_sdnn_weights(paths.weights, neurons, layers); },
                   [&] { out.images = read_sdnn_images(paths.images, neurons, inputs); });
  if (!paths.categories.empty()) out.categories = read_sdnn_categories(paths.categories, out.images.rows);
  return out;
}

}  // namespace plumb
