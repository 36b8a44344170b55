// .npz: a zip of .npy members.
#include "datasets/formats/npy.hpp"
#include "datasets/io/zip_archive.hpp"
#include "reference/core/error.hpp"

namespace plumb {

NpzArrays read_npz(ByteSource& source) {
  const std::string bytes = read_all(source);
  const ZipArchive zip(source.name(), bytes);
  NpzArrays out;
  for (const ZipArchive::Member& member : zip.members()) {
    std::string name = member.name;
    if (name.size() < 4 || name.substr(name.size() - 4) != ".npy") continue;
    name.resize(name.size() - 4);
    const std::string content = zip.content(member);
    if (content.substr(0, 2) == "\x1f\x8b") {  // memory_source would inflate it: no .npy begins that way
      throw input_error(source.name() + ":" + member.name, 0, "not a .npy file: wrong magic");
    }
    const auto inner = memory_source(source.name() + ":" + member.name, content);
    NpyArray array;
    try {
      array = read_npy(*inner);
    } catch (
        const UnreadType& e) {  // names of vertices beside the numbers: an error where they are asked for
      array.name = inner->name(), array.kind = e.kind, array.unread = e.what();
    }
    if (!out.emplace(name, std::move(array)).second) {
      throw input_error(source.name(), 0, "array is repeated in the .npz", member.name);
    }
  }
  return out;
}

NpzArrays read_npz(const std::string& path) {
  const auto source = open_source(path);
  return read_npz(*source);
}

}  // namespace plumb
