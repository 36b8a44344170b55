#include "verify/cli/report_command.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "reference/core/exit_code.hpp"
#include "tools/help.hpp"
#include "verify/report/page.hpp"
#include "verify/report/trend.hpp"

namespace plumb {
namespace {

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  PageFile file(path);
  file.finish(text);
  if (!file.write_error().empty()) throw Error(file.write_error());
}

}  // namespace

int report_main(int argc, char** argv) {
  CLI::App app{"verify report: what stored reports of --json say together", "verify report"};
  set_help(
      app,
      {{{"verify report trend reports/*.json", "counts of each run, and what changed last"},
        {"verify report trend reports/*.json --html trend.html --badge verify.svg",
         "a page, and a badge of the last run"}},
       {},
       {{"exit codes", {{"0", "the last run passed"}, {"1", "something failed in it"}, {"2", "bad input"}}}}},
      asks_for_all(argc, argv));
  CLI::App* const trend = app.add_subcommand("trend", "runs one after the other, by their times");
  std::vector<std::string> files;
  std::string html, svg;
  trend->add_option("REPORT", files, "reports of verify --json, each named as its commit")->required();
  trend->add_option("--html", html, "write a page")->type_name("FILE");
  trend->add_option("--badge", svg, "write a badge of the last run, as SVG")->type_name("FILE");
  app.require_subcommand(1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) { return app.exit(e); } catch (const CLI::ParseError& e) {
    throw Error(fmt::format("{} (verify report --help)", e.what()));
  }
  const std::vector<TrendRun> runs = read_trend(files);
  fmt::print(is_standard_output(html) || is_standard_output(svg) ? stderr : stdout, "{}", trend_text(runs));
  write_file(html, trend_page(runs));
  write_file(svg, badge(runs.back()));
  return runs.back().failed > 0 ? kFailed : kOk;
}

}  // namespace plumb
