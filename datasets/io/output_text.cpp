#include "datasets/io/output_text.hpp"

#include <algorithm>
#include <new>

#include "reference/core/error.hpp"

namespace plumb {

OutputText::OutputText(const std::string& path, bool gzip) : path_(path), file_(path), gzip_(gzip) {
  constexpr int kWindow = 15 + 16;  // 16: a gzip header
  if (gzip_ && deflateInit2(&stream_, 6, Z_DEFLATED, kWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

OutputText::~OutputText() {
  if (gzip_) deflateEnd(&stream_);
}

void OutputText::commit() {
  flush(Z_FINISH);
  file_.commit();
}

void OutputText::flush(int mode) {
  if (!gzip_) {
    file_.write(pending_);
    pending_.clear();
    return;
  }
  std::size_t done = 0;
  do {  // avail_in has 32 bits
    const std::size_t piece = std::min<std::size_t>(pending_.size() - done, std::size_t{1} << 30);
    stream_.next_in = reinterpret_cast<Bytef*>(pending_.data() + done);
    stream_.avail_in = static_cast<uInt>(piece);
    done += piece;
    do {
      stream_.next_out = out_.data();
      stream_.avail_out = static_cast<uInt>(out_.size());
      const int code = deflate(&stream_, done == pending_.size() ? mode : Z_NO_FLUSH);
      if (code == Z_STREAM_ERROR) throw input_error(path_, 0, "cannot write", "deflate failed");
      file_.write(out_.data(), out_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  } while (done < pending_.size());
  pending_.clear();
}

}  // namespace plumb
