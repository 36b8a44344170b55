#include "datasets/formats/load_matrix.hpp"

#include <filesystem>
#include <type_traits>

#include "datasets/formats/format_table.hpp"
#include "reference/core/error.hpp"

namespace plumb {

template <class T>
Csr<T> load_matrix(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw input_error(path, 0, "a folder is not a matrix; known formats: " + known_inputs());
  }
  const auto source = open_source(path);
  const FileFormat& format = format_of_input(*source);
  if constexpr (std::is_same_v<T, float>) {
    return format.load_f32(*source);
  } else {
    return format.load_f64(*source);
  }
}

template Csr<float> load_matrix(const std::string&);
template Csr<double> load_matrix(const std::string&);

}  // namespace plumb
