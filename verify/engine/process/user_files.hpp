// The files of a user's own folder (tools/plumb --extra), as CMake lists them beside the programs it compiles them into. Apart from
// manifest.hpp, so that the list compiles at once.
#pragma once
#include <initializer_list>
#include <vector>

namespace plumb {

/// A file of a user's folder (tools/plumb --extra).
struct UserFile {
  const char* stem;  // the file's name without its ending, which the variant must have too
  bool here;         // compiled into this program
  bool simt;         // compiled into the folder's worker for the CPU executor
  const char* path;
};

/// All of them, in the programs that PlumbExtra.cmake builds; none in the usual ones.
[[nodiscard]] std::vector<UserFile>& user_files();

/// A namespace-scope object that adds to them.
struct UserFiles {
  explicit UserFiles(std::initializer_list<UserFile> files) {
    user_files().insert(user_files().end(), files);
  }
};

}  // namespace plumb
