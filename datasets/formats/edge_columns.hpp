// Which columns of an edge list are what: guessed from its first lines, named by its header, or given. Internal to edge_list.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/io/byte_source.hpp"

namespace plumb {

struct EdgeColumns {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  char delimiter = ' ';                      // ' ': runs of blanks and tabs
  std::size_t from = 0, to = 1, weight = 2;  // from 0; weight kNone: every edge weighs 1
  std::size_t count = 0;                     // columns of a line; 0: as many as there are
  std::int64_t header = 0;                   // the line with the names of the columns, from 1; 0: none
  bool dictionary = false;                   // the weight is in {'weight': 1.5}, as networkx writes it

  /// `from to` or `from to weight` between blanks, with nothing to leave out: lines are read as they stand.
  [[nodiscard]] bool plain() const {
    return delimiter == ' ' && from == 0 && to == 1 && (weight == 2 || weight == kNone) && count == 0 &&
           header == 0 && !dictionary;
  }
};

/// Looks at the first 64 KiB; adds what it guessed to the source's notes. `given`: words of --columns (from, to, weight, -), one for each
/// column, or empty.
///
/// Guesses   the delimiter: blanks, tab, comma, semicolon or |; a header: a line without numbers where a line with numbers follows,
///           whose words name the columns (source, target, weight, time and their like); a third or fourth column of Unix times.
/// Errors    `given` without from or to, or with other words; vertices that are names; columns that nothing tells apart.
[[nodiscard]] EdgeColumns guess_columns(ByteSource& source, const std::vector<std::string>& given);

/// The source as lines `from to [weight]`, as many lines as `source` has, from its line `first_line` on. Comments (#, %, //) and the header
/// become blank lines. `source` must outlive it. Errors, with the line: a column is missing; more columns than the first line has.
[[nodiscard]] std::unique_ptr<ByteSource> select_columns(ByteSource& source, const EdgeColumns& columns);

/// The size that comments at the beginning tell: SNAP's `# Nodes: N Edges: M`, KONECT's `% M ROWS COLUMNS`. 0: none.
struct TellTaleSize {
  std::int64_t rows = 0, cols = 0;
  bool bipartite = false;  // ids of rows and of columns are numbered apart
};
[[nodiscard]] TellTaleSize size_in_comments(ByteSource& source);

}  // namespace plumb
