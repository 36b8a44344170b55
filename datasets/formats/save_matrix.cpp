#include "datasets/formats/save_matrix.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "datasets/formats/format_table.hpp"
#include "datasets/formats/npy.hpp"
#include "datasets/formats/sdnn_files.hpp"
#include "datasets/formats/shape_comment.hpp"
#include "datasets/formats/triplets.hpp"
#include "datasets/io/output_text.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/dtype.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

// `row column value` lines; `comment` goes first.
template <class T>
void save_triples(const std::string& path, const Csr<T>& a, bool gzip, bool by_column, std::int64_t base,
                  const std::string& comment) {
  const Csr<T> sorted = by_column ? transposed(a) : Csr<T>{};
  const Csr<T>& from = by_column ? sorted : a;
  OutputText out(path, gzip);
  out.write(comment);
  for (std::int64_t r = 0; r < from.rows; ++r) {
    for (std::int64_t e = from.row_ptr[static_cast<std::size_t>(r)];
         e < from.row_ptr[static_cast<std::size_t>(r + 1)]; ++e) {
      const std::int64_t other = from.col[static_cast<std::size_t>(e)];
      out.number((by_column ? other : r) + base, '\t');
      out.number((by_column ? r : other) + base, '\t');
      out.number(from.val[static_cast<std::size_t>(e)], '\n');
    }
  }
  out.commit();
}

// The files of the challenge have no comments, and their readers accept none: a matrix whose shape the lines do not show is refused.
template <class T>
void save_for_challenge(const std::string& path, const Csr<T>& a, bool gzip) {
  (void)exact_in_fp32(path, a);
  if (const Repeat repeat = find_repeat(a); repeat.row >= 0) {
    throw input_error(path, 0, "a file of the challenge holds no entry twice, here",
                      std::to_string(repeat.row + 1) + " " + std::to_string(repeat.col + 1));
  }
  for (const T v : a.val) {
    if (!std::isfinite(v))
      throw input_error(path, 0, "a file of the challenge holds finite values", fmt::format("{}", v));
  }
  save_triples(path, a, gzip, true, 1, "");
}

[[noreturn]] void wrong_shape(const std::string& path, const char* want, std::int64_t rows,
                              std::int64_t cols) {
  throw input_error(path, 0, want, fmt::format("{} x {}; choose another name", rows, cols));
}

void put(std::string& to, std::uint64_t value, int bytes) {
  for (int k = 0; k < bytes; ++k) to += static_cast<char>(value >> (8 * k) & 0xff);
}

// A stored (not deflated) zip, all numpy needs: entries one after the other, then the directory.
class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path) : path_(path), file_(path) {}

  void add(const std::string& name, const std::string& header, const void* data, std::size_t bytes) {
    const std::uint64_t size = header.size() + bytes;
    if (at_ + size + 1024 > std::numeric_limits<std::uint32_t>::max()) {
      throw input_error(path_, 0, "an .npz of more than 4 GiB is not written; choose .plumb or .mtx");
    }
    auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
    if (bytes > 0)
      sum = crc32_z(sum, static_cast<const Bytef*>(data), bytes);  // zlib forgets the sum at a null pointer
    std::string fields;
    put(fields, 20, 2);          // version needed
    put(fields, 0, 2);           // flags
    put(fields, 0, 2);           // stored
    put(fields, 0x00210000, 4);  // 1980-01-01, so that equal matrices give equal files
    put(fields, sum, 4);
    put(fields, size, 4);
    put(fields, size, 4);
    put(fields, name.size(), 2);
    put(fields, 0, 2);  // no extra field
    std::string local = "PK\3\4" + fields + name;
    directory_ += "PK\1\2";
    put(directory_, 20, 2);  // version made by
    directory_ += fields;
    put(directory_, 0, 2);  // comment
    put(directory_, 0, 2);  // disk
    put(directory_, 0, 2);  // internal attributes
    put(directory_, 0, 4);  // external attributes
    put(directory_, at_, 4);
    directory_ += name;
    file_.write(local.data(), local.size());
    file_.write(header.data(), header.size());
    file_.write(data, bytes);
    at_ += local.size() + size;
    ++entries_;
  }
  void commit() {
    std::string end = "PK\5\6";
    put(end, 0, 4);
    put(end, entries_, 2);
    put(end, entries_, 2);
    put(end, directory_.size(), 4);
    put(end, at_, 4);
    put(end, 0, 2);
    file_.write(directory_.data(), directory_.size());
    file_.write(end.data(), end.size());
    file_.commit();
  }

 private:
  std::string path_;
  OutputFile file_;
  std::string directory_;
  std::uint64_t at_ = 0, entries_ = 0;
};

std::string npy_header(const std::string& type, const std::string& shape) {
  std::string dictionary = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  put(header, dictionary.size(), 2);
  return header + dictionary;
}

}  // namespace

template <class T>
void save_tsv(const std::string& path, const Csr<T>& a, bool gzip) {
  save_triples(path, a, gzip, true, 1, to_text(ShapeComment{a.rows, a.cols, a.nnz(), 1}));
}

template <class T>
void save_el(const std::string& path, const Csr<T>& a, bool gzip) {
  save_triples(path, a, gzip, false, 0, to_text(ShapeComment{a.rows, a.cols, a.nnz(), 0}));
}

template <class T>
void save_layer(const std::string& path, const Csr<T>& a, bool gzip) {
  const auto name = sdnn_layer_name(path);
  if (name && (a.rows != name->neurons || a.cols != name->neurons)) {
    wrong_shape(path, "a layer must have the shape that its name says, has", a.rows, a.cols);
  }
  save_for_challenge(path, a, gzip);
}

template <class T>
void save_images(const std::string& path, const Csr<T>& a, bool gzip) {
  const auto neurons = sdnn_image_neurons(path);
  const bool last_row = a.rows > 0 && a.row_ptr[static_cast<std::size_t>(a.rows)] >
                                          a.row_ptr[static_cast<std::size_t>(a.rows) - 1];
  if ((neurons && a.cols != *neurons) || !last_row) {
    wrong_shape(path, "images must have the columns that their name says and an entry in the last row, have",
                a.rows, a.cols);
  }
  save_for_challenge(path, a, gzip);
}

template <class T>
void save_npz(const std::string& path, const Csr<T>& a) {
  ZipWriter zip(path);
  const auto add = [&zip](const char* name, const char* type, const auto& values) {
    zip.add(name, npy_header(type, fmt::format("({},)", values.size())), values.data(),
            values.size() * sizeof(values[0]));
  };
  add("indices.npy", "<i4", a.col);
  add("indptr.npy", "<i4", a.row_ptr);
  zip.add("format.npy", npy_header("|S3", "()"), "csr", 3);
  add("shape.npy", "<i8", std::vector<std::int64_t>{a.rows, a.cols});
  add("data.npy", of_value_type<T>("<f4", "<f8"), a.val);
  zip.commit();
}

template <class T>
void save_dense(const std::string& path, const Csr<T>& a) {
  if (a.cols > 0 && a.rows > std::numeric_limits<std::int32_t>::max() / a.cols) {
    throw input_error(path, 0, "too large to be dense",
                      std::to_string(a.rows) + " x " + std::to_string(a.cols));
  }
  Dense<T> dense{a.rows, a.cols, std::vector<T>(static_cast<std::size_t>(a.rows * a.cols), T{0})};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t e = a.row_ptr[static_cast<std::size_t>(i)];
         e < a.row_ptr[static_cast<std::size_t>(i + 1)]; ++e) {
      dense.data[static_cast<std::size_t>(i * a.cols + a.col[static_cast<std::size_t>(e)])] +=
          a.val[static_cast<std::size_t>(e)];
    }
  }
  write_npy(path, dense);
}

template <class T>
Csr<float> exact_in_fp32(const std::string& path, const Csr<T>& a) {
  Csr<float> f{a.rows, a.cols, a.row_ptr, a.col, {}};
  f.val.reserve(a.val.size());
  for (const T v : a.val) {
    const auto narrow = static_cast<float>(v);
    if (static_cast<T>(narrow) != v && v == v) {
      throw input_error(path, 0,
                        "this kind of file holds fp32, and a value is not exact in it (ask for fp32)",
                        fmt::format("{}", v));
    }
    f.val.push_back(narrow);
  }
  return f;
}

template <class T>
void save_matrix(const std::string& path, const Csr<T>& a, const std::string& format) {
  const OutputFormat out = format_of_output(path, format);
  if constexpr (std::is_same_v<T, float>) {
    out.format->save_f32(path, a, out.gzip);
  } else {
    out.format->save_f64(path, a, out.gzip);
  }
}

#define PLUMB_INSTANTIATE(T)                                            \
  template void save_tsv(const std::string&, const Csr<T>&, bool);      \
  template void save_el(const std::string&, const Csr<T>&, bool);       \
  template void save_layer(const std::string&, const Csr<T>&, bool);    \
  template void save_images(const std::string&, const Csr<T>&, bool);   \
  template void save_npz(const std::string&, const Csr<T>&);            \
  template void save_dense(const std::string&, const Csr<T>&);          \
  template Csr<float> exact_in_fp32(const std::string&, const Csr<T>&); \
  template void save_matrix(const std::string&, const Csr<T>&, const std::string&);
PLUMB_INSTANTIATE(float)
PLUMB_INSTANTIATE(double)
#undef PLUMB_INSTANTIATE

}  // namespace plumb
