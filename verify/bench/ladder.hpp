// The ladder of an operator on a case: as a table on a terminal, as SVG, and as a page that needs no other file.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "verify/bench/result.hpp"

namespace plumb {

/// "4.12 us", "3.41 ms": four digits and a unit.
[[nodiscard]] std::string time_text(double seconds);
/// Of BenchResult::pays_after: "120", "never", or "-" where there is nothing to compare.
[[nodiscard]] std::string pays_text(double runs);
/// "4,289 GB/s" is rate_text(4.289e12, "B/s"): three or four digits with the prefix that fits.
[[nodiscard]] std::string rate_text(double per_second, const std::string& unit);

/// The case ids of a report, each once, in order.
[[nodiscard]] std::vector<std::string> cases_of(const BenchReport&);
/// Tables of the console. `columns`: how wide a line may be; 0: no limit.
[[nodiscard]] std::string roofs_table(const std::vector<Roof>&);
[[nodiscard]] std::string machine_table(const BenchReport&, std::size_t columns = 0);
[[nodiscard]] std::string ladder_table(const BenchReport&, const std::string& case_id,
                                       std::size_t columns = 0);

/// One picture: per variant its times cold and warm, its share of the vendor's speed and of the roof. Readable on light and dark pages.
[[nodiscard]] std::string ladder_svg(const BenchReport&, const std::string& case_id);
/// The cases as one Markdown table of our fastest against the vendor's, with the geometric mean by operator and type, and a
/// table per case below it, with its plot where `plots` (case id, path from the page) has one.
[[nodiscard]] std::string bench_markdown(const BenchReport&,
                                         const std::map<std::string, std::string>& plots = {});
/// All of it in one file.
[[nodiscard]] std::string bench_html(const BenchReport&);
/// Writes ladder_svg of every case into a folder, which is made if need be. Returns the paths by case. Throws Error.
std::map<std::string, std::string> write_svgs(const BenchReport&, const std::string& folder);

}  // namespace plumb
