#include "datasets/formats/format_table.hpp"

#include <algorithm>
#include <type_traits>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/edge_list.hpp"
#include "datasets/formats/matrix_market.hpp"
#include "datasets/formats/npz_matrix.hpp"
#include "datasets/formats/save_matrix.hpp"
#include "datasets/formats/sdnn_files.hpp"
#include "datasets/formats/shape_comment.hpp"
#include "datasets/formats/triplets.hpp"
#include "datasets/io/text.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

constexpr std::size_t kLooked = 512;  // bytes; a tar's header

std::string_view without_blanks(std::string_view first) {
  const std::size_t at = first.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? std::string_view{} : first.substr(at);
}
bool begins_with(std::string_view first, std::string_view magic) {
  return without_blanks(first).substr(0, magic.size()) == magic;
}

template <class T>
Csr<T> converted(const Csr<float>& a) {
  return {a.rows, a.cols, a.row_ptr, a.col, std::vector<T>(a.val.begin(), a.val.end())};
}

template <class T>
Csr<T> load_matrix_market(ByteSource& source) {
  return to_csr<T>(read_matrix_market(source));
}

template <class T>
Csr<T> load_npy(ByteSource& source) {
  const NpyArray array = read_npy(source);
  const Dense<T> dense = npy_dense<T>(array);
  if (dense.rows > kLargestIndex || dense.cols > kLargestIndex)
    throw input_error(array.name, 0, "array has 2^31 rows or columns or more", array.shape_text());
  return without_zeros(array.name, dense);
}

template <class T>
Csr<T> load_layer(ByteSource& source) {
  return converted<T>(read_sdnn_weights(source).layers.at(0));
}

template <class T>
Csr<T> load_images(ByteSource& source) {
  return converted<T>(read_sdnn_images(source, 0, 0));
}

template <class T>
Csr<T> load_cache(ByteSource& source) {
  const BinaryCache cache(source);
  if (cache.size() != 1) {
    throw input_error(source.name(), 0, "binary cache holds several matrices, expected one",
                      std::to_string(cache.size()));
  }
  return converted<T>(cache.copy(0));
}

template <class T>
Csr<T> refuse_tar(ByteSource& source) {
  throw input_error(source.name(), 0, "a tar archive is not a matrix; known formats: " + known_inputs());
}

template <class T>
void save_npy(const std::string& path, const Csr<T>& a, bool) {
  save_dense(path, a);
}
template <class T>
void save_zip(const std::string& path, const Csr<T>& a, bool) {
  save_npz(path, a);
}
template <class T>
void save_one_cache(const std::string& path, const Csr<T>& a, bool) {
  write_cache(path, CacheKind::matrices, std::vector<Csr<float>>{exact_in_fp32(path, a)});
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

std::string_view without_gz(std::string_view path) {
  return ends_with(path, ".gz") ? path.substr(0, path.size() - 3) : path;
}

const FileFormat* named(const std::string& name, bool written) {
  for (const FileFormat& f : formats()) {
    if (name == f.name && (!written || f.save_f64 != nullptr)) return &f;
  }
  return nullptr;
}

std::string names(bool written) {
  std::string out;
  for (const FileFormat& f : formats()) {
    if (written && f.save_f64 == nullptr) continue;
    if (!out.empty()) out += ' ';
    out += f.name;
  }
  return out;
}

[[noreturn]] void unknown_name(const std::string& name, bool written) {
  throw Error("unknown format '" + printable(name) + "'; known are " + names(written));
}

}  // namespace

const std::vector<FileFormat>& formats() {
  static const std::vector<FileFormat> kFileFormats{
      {"plumb",
       "binary cache (.plumb)",
       {".plumb"},
       ".plumb",
       [](std::string_view f) { return f.substr(0, 8) == "PLUMBCSR"; },
       nullptr,
       load_cache<float>,
       load_cache<double>,
       inspect_cache,
       save_one_cache<float>,
       save_one_cache<double>,
       false,
       true},
      {"mtx",
       "Matrix Market (.mtx)",
       {".mtx"},
       ".mtx",
       [](std::string_view f) { return begins_with(f, "%%MatrixMarket") || begins_with(f, "%MatrixMarket"); },
       nullptr,
       load_matrix_market<float>,
       load_matrix_market<double>,
       inspect_matrix_market,
       write_matrix_market<float>,
       write_matrix_market<double>,
       true},
      {"npz",
       "sparse arrays (.npz)",
       {".npz"},
       ".npz",
       [](std::string_view f) { return begins_with(f, "PK\x03\x04") || begins_with(f, "PK\x05\x06"); },
       nullptr,
       read_npz_matrix<float>,
       read_npz_matrix<double>,
       inspect_npz,
       save_zip<float>,
       save_zip<double>},
      {"npy",
       ".npy",
       {".npy"},
       ".npy",
       [](std::string_view f) { return begins_with(f, "\x93NUMPY"); },
       nullptr,
       load_npy<float>,
       load_npy<double>,
       inspect_npy,
       save_npy<float>,
       save_npy<double>},
      {"tar", "", {}, "", looks_like_tar, nullptr, refuse_tar<float>, refuse_tar<double>, inspect_weights},
      {"layer",
       "sparse-DNN files (nN-lK.tsv, sparse-images-N.tsv)",
       {},
       "",
       nullptr,
       [](const std::string& path) { return sdnn_layer_name(path).has_value(); },
       load_layer<float>,
       load_layer<double>,
       inspect_weights,
       save_layer<float>,
       save_layer<double>,
       true,
       true},
      {"images",
       "",
       {},
       "",
       nullptr,
       [](const std::string& path) { return sdnn_image_neurons(path).has_value(); },
       load_images<float>,
       load_images<double>,
       inspect_images,
       save_images<float>,
       save_images<double>,
       true,
       true},
      {.name = "el",
       .what = "edge list (.el, .edges, .edgelist, .csv, .txt, .tsv)",
       .reads = {".el", ".edges", ".edgelist", ".csv", ".txt", ".tsv"},
       .writes = ".el",
       .begins = begins_with_shape_comment,
       .save_f32 = save_el<float>,
       .save_f64 = save_el<double>,
       .writes_gzip = true,
       .is_edge_list = true},
      {.name = "tsv",
       .what = "",
       .reads = {},
       .writes = ".tsv",
       .save_f32 = save_tsv<float>,
       .save_f64 = save_tsv<double>,
       .writes_gzip = true,
       .is_edge_list = true,
       .base = 1},
  };
  return kFileFormats;
}

const FileFormat& format_of_input(ByteSource& source, const std::string& name) {
  if (!name.empty()) {
    if (const FileFormat* f = named(name, false)) return *f;
    unknown_name(name, false);
  }
  text::take_byte_order_mark(source);
  const std::string_view first = source.peek(kLooked);
  const std::string path(without_gz(source.name()));
  for (const FileFormat& f : formats()) {
    if ((f.begins != nullptr && f.begins(first)) || (f.is_name != nullptr && f.is_name(path))) return f;
  }
  for (const FileFormat& f : formats()) {
    const auto fits = [&path](std::string_view ending) { return ends_with(path, ending); };
    if (std::any_of(f.reads.begin(), f.reads.end(), fits)) return f;
  }
  throw input_error(source.name(), 0,
                    "unknown kind of file; name it: dataset convert --from FORMAT FILE OUT.mtx, FORMAT of " +
                        names(false) + "; known formats: " + known_inputs());
}

EdgeListOptions edge_list_options(const FileFormat& format, const ReadOptions& options) {
  EdgeListOptions edges = options.edges;
  if (!edges.base) edges.base = format.base;
  return edges;
}

void require_no_edge_options(const FileFormat& format, const ByteSource& source, const ReadOptions& options) {
  if (!options.edges.base && options.edges.columns.empty()) return;
  throw input_error(source.name(), 0, "--base and --columns are for edge lists; the format is", format.name);
}

template <class T>
Csr<T> load_as(const FileFormat& format, ByteSource& source, const ReadOptions& options) {
  if (format.is_edge_list) return read_edge_list<T>(source, edge_list_options(format, options));
  require_no_edge_options(format, source, options);
  if constexpr (std::is_same_v<T, float>) {
    return format.load_f32(source);
  } else {
    return format.load_f64(source);
  }
}

template Csr<float> load_as(const FileFormat&, ByteSource&, const ReadOptions&);
template Csr<double> load_as(const FileFormat&, ByteSource&, const ReadOptions&);

OutputFormat format_of_output(const std::string& path, const std::string& name) {
  const bool gzip = ends_with(path, ".gz");
  if (!name.empty()) {
    if (const FileFormat* f = named(name, true)) return {f, gzip && f->writes_gzip};
    unknown_name(name, true);
  }
  const std::string plain(without_gz(path));
  for (const FileFormat& f : formats()) {
    if (f.save_f64 == nullptr || (gzip && !f.writes_gzip)) continue;
    if ((f.is_name != nullptr && f.is_name(plain)) || (!f.writes.empty() && ends_with(plain, f.writes))) {
      return {&f, gzip};
    }
  }
  throw input_error(path, 0, "no format known for this ending; known are " + known_outputs());
}

std::string known_inputs() {
  std::string out;
  for (const FileFormat& f : formats()) {
    if (*f.what != '\0') out += (out.empty() ? "" : ", ") + std::string(f.what);
  }
  return out + ", each also as .gz";
}

const std::string& known_outputs() {
  static const std::string kEndings = [] {
    std::string out;
    for (const FileFormat& f : formats()) {
      if (f.writes.empty()) continue;
      for (const char* gz : {"", ".gz"}) {
        if (*gz == '\0' || f.writes_gzip) out += (out.empty() ? "" : " ") + std::string(f.writes) + gz;
      }
    }
    return out;
  }();
  return kEndings;
}

std::string input_format_names() { return names(false); }
std::string output_format_names() { return names(true); }

}  // namespace plumb
