#include "datasets/save_matrix.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "datasets/atomic_file.hpp"
#include "datasets/binary_cache.hpp"
#include "datasets/matrix_market.hpp"
#include "datasets/npy.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

namespace fs = std::filesystem;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Text or bytes into an atomic file, gzipped or not.
class Writer {
 public:
  Writer(const std::string& path, bool gzip) : path_(path), file_(path), gzip_(gzip) {
    if (gzip_) {
      constexpr int kWindow = 15 + 16;  // 16: a gzip header
      if (deflateInit2(&stream_, 6, Z_DEFLATED, kWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
    }
  }
  ~Writer() {
    if (gzip_) deflateEnd(&stream_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(std::string_view text) {
    pending_ += text;
    if (pending_.size() >= kBlock) flush(Z_NO_FLUSH);
  }
  void commit() {
    flush(Z_FINISH);
    file_.commit();
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;

  void flush(int mode) {
    if (!gzip_) {
      file_.write(pending_.data(), pending_.size());
      pending_.clear();
      return;
    }
    std::size_t done = 0;
    int code = Z_OK;
    do {  // avail_in has 32 bits
      const std::size_t piece = std::min<std::size_t>(pending_.size() - done, std::size_t{1} << 30);
      stream_.next_in = reinterpret_cast<Bytef*>(pending_.data() + done);
      stream_.avail_in = static_cast<uInt>(piece);
      done += piece;
      do {
        stream_.next_out = out_.data();
        stream_.avail_out = static_cast<uInt>(out_.size());
        code = deflate(&stream_, done == pending_.size() ? mode : Z_NO_FLUSH);
        if (code == Z_STREAM_ERROR) throw input_error(path_, 0, "cannot write", "deflate failed");
        file_.write(out_.data(), out_.size() - stream_.avail_out);
      } while (stream_.avail_out == 0);
    } while (done < pending_.size());
    pending_.clear();
  }

  std::string path_;
  AtomicFile file_;
  bool gzip_;
  std::string pending_;
  z_stream stream_{};
  std::array<Bytef, std::size_t{1} << 16> out_{};
};

template <class N>
void append(std::string& text, N value, char end) {
  std::array<char, 40> digits;
  char* last = std::to_chars(digits.data(), digits.data() + digits.size() - 1, value).ptr;
  *last++ = end;
  text.append(digits.data(), last);
}

// Entries by column, then row: a counting sort of the CSR order.
template <class T>
Csr<T> transposed(const Csr<T>& a) {
  Csr<T> t;
  t.rows = a.cols;
  t.cols = a.rows;
  t.row_ptr.assign(static_cast<std::size_t>(a.cols + 1), 0);
  for (const std::int32_t j : a.col) ++t.row_ptr[static_cast<std::size_t>(j) + 1];
  for (std::size_t j = 1; j < t.row_ptr.size(); ++j) t.row_ptr[j] += t.row_ptr[j - 1];
  std::vector<std::int32_t> next(t.row_ptr.begin(), t.row_ptr.end() - 1);
  t.col.resize(a.col.size());
  t.val.resize(a.val.size());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t e = a.row_ptr[static_cast<std::size_t>(i)];
         e < a.row_ptr[static_cast<std::size_t>(i + 1)]; ++e) {
      const auto to =
          static_cast<std::size_t>(next[static_cast<std::size_t>(a.col[static_cast<std::size_t>(e)])]++);
      t.col[to] = static_cast<std::int32_t>(i);
      t.val[to] = a.val[static_cast<std::size_t>(e)];
    }
  }
  return t;
}

template <class T>
void save_triples(const std::string& path, const Csr<T>& a, bool by_column, std::int64_t base) {
  const Csr<T> sorted = by_column ? transposed(a) : Csr<T>{};
  const Csr<T>& from = by_column ? sorted : a;
  Writer out(path, ends_with(path, ".gz"));
  std::string line;
  for (std::int64_t r = 0; r < from.rows; ++r) {
    line.clear();
    for (std::int64_t e = from.row_ptr[static_cast<std::size_t>(r)];
         e < from.row_ptr[static_cast<std::size_t>(r + 1)]; ++e) {
      const std::int64_t other = from.col[static_cast<std::size_t>(e)];
      append(line, (by_column ? other : r) + base, '\t');
      append(line, (by_column ? r : other) + base, '\t');
      append(line, from.val[static_cast<std::size_t>(e)],
             '\n');  // shortest digits that read back to the same value
    }
    out.write(line);
  }
  out.commit();
}

void put(std::string& to, std::uint64_t value, int bytes) {
  for (int k = 0; k < bytes; ++k) to += static_cast<char>(value >> (8 * k) & 0xff);
}

// A stored (not deflated) zip, all numpy needs: entries one after the other, then the directory.
class Zip {
 public:
  explicit Zip(const std::string& path) : path_(path), file_(path) {}

  void add(const std::string& name, const std::string& header, const void* data, std::size_t bytes) {
    const std::uint64_t size = header.size() + bytes;
    if (at_ + size + 1024 > std::numeric_limits<std::uint32_t>::max()) {
      throw input_error(path_, 0, "an .npz of more than 4 GiB is not written; choose .plumb or .mtx");
    }
    const auto sum = crc32_z(crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size()),
                             static_cast<const Bytef*>(data), bytes);
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
  AtomicFile file_;
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

template <class T>
void save_npz(const std::string& path, const Csr<T>& a) {
  Zip zip(path);
  const auto add = [&zip](const char* name, const char* type, const auto& values) {
    zip.add(name, npy_header(type, fmt::format("({},)", values.size())), values.data(),
            values.size() * sizeof(values[0]));
  };
  add("indices.npy", "<i4", a.col);
  add("indptr.npy", "<i4", a.row_ptr);
  zip.add("format.npy", npy_header("|S3", "()"), "csr", 3);
  add("shape.npy", "<i8", std::vector<std::int64_t>{a.rows, a.cols});
  add("data.npy", sizeof(T) == 4 ? "<f4" : "<f8", a.val);
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
Csr<float> as_float(const std::string& path, const Csr<T>& a) {
  Csr<float> f;
  f.rows = a.rows;
  f.cols = a.cols;
  f.row_ptr = a.row_ptr;
  f.col = a.col;
  f.val.reserve(a.val.size());
  for (const T v : a.val) {
    const auto narrow = static_cast<float>(v);
    if (static_cast<T>(narrow) != v && v == v) {
      std::string text;
      append(text, v, ' ');
      throw input_error(path, 0, "a .plumb file holds fp32, and a value is not exact in it (ask for fp32)",
                        text);
    }
    f.val.push_back(narrow);
  }
  return f;
}

// One member of a ustar archive, owned by nobody in particular.
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

// A folder appears whole too: filled beside its place, then renamed.
template <class Fill>
void in_new_folder(const std::string& path, const Fill& fill) {
  fs::path place = fs::path(path).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  if (fs::exists(place) && !(fs::is_directory(place) && fs::is_empty(place))) {
    throw input_error(path, 0, "is there and not an empty folder");
  }
  const fs::path making = place.string() + ".part";
  std::error_code failed;
  fs::remove_all(making, failed);
  fs::create_directory(making, failed);
  if (failed) throw input_error(making.string(), 0, "cannot make the folder", failed.message());
  ++open_files;  // a handler of Ctrl-C must let this unwind, between two files too
  try {
    fill(making);
    fs::remove(place);
    fs::rename(making, place);
    --open_files;
  } catch (...) {
    --open_files;
    fs::remove_all(making, failed);
    throw;
  }
}

}  // namespace

const char* saved_formats() { return ".mtx .npz .npy .plumb .tsv .tsv.gz .el"; }

template <class T>
void save_matrix(const std::string& path, const Csr<T>& a) {
  if (ends_with(path, ".mtx")) {
    write_matrix_market(path, a);
  } else if (ends_with(path, ".npz")) {
    save_npz(path, a);
  } else if (ends_with(path, ".npy")) {
    save_dense(path, a);
  } else if (ends_with(path, ".plumb")) {
    write_cache(path, CacheKind::matrices, std::vector<Csr<float>>{as_float(path, a)});
  } else if (ends_with(path, ".tsv") || ends_with(path, ".tsv.gz")) {
    save_triples(path, a, true, 1);
  } else if (ends_with(path, ".el")) {
    save_triples(path, a, false, 0);
  } else {
    throw input_error(path, 0, std::string("no format known for this ending; known are ") + saved_formats());
  }
}

void save_network(const std::string& path, const RadixNet& net) {
  if (ends_with(path, ".plumb")) {
    std::vector<Csr<float>> layers(static_cast<std::size_t>(net.layers));
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t l = 0; l < net.layers; ++l)
      layers[static_cast<std::size_t>(l)] = radixnet_layer(net, l);
    write_cache(path, CacheKind::weights, layers);
    return;
  }
  if (ends_with(path, ".tar") || ends_with(path, ".tar.gz")) {
    Writer out(path, ends_with(path, ".gz"));
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
  in_new_folder(path, [&net](const fs::path& folder) {
    for (std::int64_t l = 0; l < net.layers; ++l) {
      Writer out((folder / layer_name(net, l)).string(), false);
      out.write(radixnet_tsv(net, l));
      out.commit();
    }
  });
}

void save_gcn(const std::string& path, const GcnSet<double>& set) {
  in_new_folder(path, [&set](const fs::path& folder) {
    const auto vector = [&folder](const char* name, const auto& values) {
      write_npy((folder / name).string(), {static_cast<std::int64_t>(values.size())}, values);
    };
    vector("A_indptr.npy", set.a.row_ptr);
    vector("A_indices.npy", set.a.col);
    vector("A_values_f64.npy", set.a.val);
    write_npy((folder / "X.npy").string(), set.x);
    write_npy((folder / "W1.npy").string(), set.w1);
    write_npy((folder / "W2.npy").string(), set.w2);
    vector("b1.npy", set.b1);
    vector("b2.npy", set.b2);
  });
}

void save_inputs(const std::string& path, const PixelMask& mask) {
  if (ends_with(path, ".plumb")) {
    write_cache(path, CacheKind::images, std::vector<Csr<float>>{to_csr(mask)});
    return;
  }
  if (!ends_with(path, ".tsv") && !ends_with(path, ".tsv.gz")) {
    throw input_error(path, 0, "inputs are written to NAME.plumb, NAME.tsv or NAME.tsv.gz");
  }
  // Feature by feature from the bits: a CSR matrix of the largest set would not have to fit beside them.
  Writer out(path, ends_with(path, ".gz"));
  std::string lines;
  for (std::int64_t f = 0; f < mask.features; ++f) {
    lines.clear();
    for (std::int64_t m = 0; m < mask.rows; ++m) {
      if (!mask.test(m, f)) continue;
      append(lines, m + 1, '\t');
      append(lines, f + 1, '\t');
      lines += "1\n";
    }
    out.write(lines);
  }
  out.commit();
}

void save_idx_images(const std::string& path, const GreyImages& images) {
  Writer out(path, ends_with(path, ".gz"));
  std::string header;
  for (const std::int64_t word : {std::int64_t{0x803}, images.count, images.rows, images.cols}) {
    for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(word >> shift & 0xff);
  }
  out.write(header);
  out.write({reinterpret_cast<const char*>(images.pixels.data()), images.pixels.size()});
  out.commit();
}

template void save_matrix<float>(const std::string&, const Csr<float>&);
template void save_matrix<double>(const std::string&, const Csr<double>&);

}  // namespace plumb
