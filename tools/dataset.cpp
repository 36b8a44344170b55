// dataset: the data a person needs, by name, by recipe, or converted: list, info, fetch, generate, convert.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "datasets/formats/convert.hpp"
#include "datasets/formats/format_table.hpp"
#include "datasets/formats/inspect.hpp"
#include "datasets/generators/lookalikes.hpp"
#include "datasets/io/output_file.hpp"
#include "datasets/remote/fetch.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "reference/core/watched_start.hpp"
#include "tools/dataset_commands.hpp"
#include "tools/help.hpp"
#include "tools/option_table.hpp"
#include "tools/read_options.hpp"
#include "tools/terminal.hpp"
#include "tools/threads.hpp"
#include "tools/version.hpp"

namespace {

namespace fs = std::filesystem;
using plumb::Command;
using plumb::Error;

std::int64_t size_on_disk(const std::string& path) {
  std::error_code none;
  if (fs::is_regular_file(path)) return static_cast<std::int64_t>(fs::file_size(path, none));
  std::int64_t sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path, none)) {
    if (entry.is_regular_file()) sum += static_cast<std::int64_t>(entry.file_size(none));
  }
  return sum;
}

void list(const CLI::App& generate) {
  const std::string folder = plumb::find_cache_folder().value_or("(no cache folder)");
  fmt::print("to fetch (dataset fetch NAME), kept in {}:\n", folder);
  for (const plumb::RemoteSet& set : plumb::manifest()) {
    bool all = true;
    for (const plumb::RemoteFile& file : set.files)
      all = all && fs::exists(fs::path(folder) / set.folder / file.file);
    fmt::print("  {:<17} {} {}; {}\n", set.name, all ? "*" : " ", set.what, set.licence);
  }
  fmt::print(
      "  (* is there)\n\nlook-alikes (dataset generate lookalike NAME): shape, entries and longest row of\n");
  for (const plumb::LookalikeProfile& of : plumb::lookalike_profiles()) {
    fmt::print("  {:<17}   {} x {}, {} entries, longest row {}; {}\n", of.name, plumb::show_grouped(of.rows),
               plumb::show_grouped(of.cols), plumb::show_grouped(of.nnz), plumb::show_grouped(of.max_row),
               of.kind);
  }
  std::string names;
  for (const CLI::App* generator : generate.get_subcommands([](const CLI::App*) { return true; }))
    names += " " + generator->get_name();
  fmt::print("\nto generate (dataset generate NAME --help):{}\n", names);
}

void fetch(const std::string& name, plumb::FetchOptions options, bool quiet) {
  const plumb::RemoteSet& set = plumb::manifest_entry(name);
  if (options.folder.empty()) options.folder = plumb::cache_folder();
  plumb::Progress progress(quiet);
  const plumb::Stopwatch clock;
  options.progress = [&](const std::string& file, std::int64_t now, std::int64_t total) {
    const auto got = static_cast<double>(now);
    progress.say(total > 0 ? fmt::format("{}: {} of {} ({:.0f} %)", file, plumb::show_bytes(now),
                                         plumb::show_bytes(total), 100 * got / static_cast<double>(total))
                           : fmt::format("{}: {}", file, plumb::show_bytes(now)));
  };
  options.say = [&](const std::string& text) {
    progress.clear();
    if (!quiet) std::fprintf(stderr, "%s\n", text.c_str());
  };
  const std::vector<std::string> paths = plumb::fetch(set, options);
  progress.clear();
  for (const std::string& path : paths) fmt::print("{}\n", path);
  if (!quiet)
    std::fprintf(stderr, "%s\n",
                 fmt::format("{}: {} file{}, {:.1f} s; {}", set.name, paths.size(),
                             paths.size() == 1 ? "" : "s", clock.seconds(), set.licence)
                     .c_str());
}

void add_list(CLI::App& app, std::vector<Command>& commands) {
  CLI::App* cmd = app.add_subcommand(
      "list", "lists what can be fetched, generated, or generated with the statistics of a known matrix");
  cmd->footer("Example:\n  dataset list");
  commands.push_back({cmd, [&app] { list(*app.get_subcommand("generate")); }});
}

void add_info(CLI::App& app, std::vector<Command>& commands) {
  struct Job {
    std::vector<std::string> paths;
    plumb::ReadOptions from;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd = app.add_subcommand("info", "what a file holds: kind, shape, entries, row lengths, defects");
  cmd->add_option("file", job->paths, "files or folders")->type_name("F");
  plumb::add_read_options(cmd, job->from, "F");
  cmd->footer("Examples:\n  dataset info matrix.mtx.gz\n  dataset info neuron1024.tar.gz");
  commands.push_back({cmd, [job] {
                        if (job->paths.empty()) throw Error("missing F (example: dataset info matrix.mtx)");
                        const char* between = "";
                        for (const std::string& path : job->paths) {
                          fmt::print("{}{}", between, plumb::to_text(plumb::inspect(path, job->from)));
                          between = "\n";
                        }
                      }});
}

void add_fetch(CLI::App& app, std::vector<Command>& commands) {
  struct Job {
    std::string name;
    plumb::FetchOptions options;
    bool quiet = false;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd = app.add_subcommand("fetch", "download a public data set into the cache folder");
  cmd->add_option("name", job->name, "which; see `dataset list`")->type_name("NAME");
  cmd->add_option("--mirror", job->options.mirror, "take every file from URL/FILE: http, https or file")
      ->type_name("URL");
  cmd->add_option("--to", job->options.folder, "folder instead of the cache folder")->type_name("DIR");
  cmd->add_flag("--force", job->options.force, "download again files that exist");
  cmd->add_flag("-q,--quiet", job->quiet, "print the paths only");
  cmd->footer(
      "Examples:\n  dataset fetch mnist\n  dataset fetch sdnn-1024\n  dataset fetch boneS10 --mirror "
      "http://localhost:8000");
  commands.push_back({cmd, [job] {
                        if (job->name.empty()) throw Error("missing NAME (example: dataset fetch mnist)");
                        fetch(job->name, job->options, job->quiet);
                      }});
}

void add_convert(CLI::App& app, std::vector<Command>& commands) {
  auto job = std::make_shared<plumb::Conversion>();
  CLI::App* cmd = app.add_subcommand("convert", "from one format to another, by the endings");
  cmd->add_option("in", job->in, plumb::known_inputs())->type_name("IN");
  cmd->add_option("out", job->out, "by ending: " + plumb::known_outputs())->type_name("OUT");
  plumb::add_read_options(cmd, job->from, "IN");
  cmd->add_option("--format", job->format,
                  "format of OUT, where its name does not tell it: " + plumb::output_format_names())
      ->type_name("FORMAT");
  cmd->add_option("--dtype", job->type, "f32 or f64 [f64; f32 for .plumb]")->type_name("T");
  cmd->footer(
      "Examples:\n  dataset convert matrix.mtx matrix.npz\n"
      "  dataset convert neuron1024.tar.gz neuron1024.plumb\n"
      "  dataset convert web-Stanford.txt.gz web-Stanford.mtx\n"
      "  dataset convert trades.csv trades.mtx --columns from,to,-,weight --base 1\n"
      "  zcat matrix.mtx.gz | dataset convert /dev/stdin /dev/stdout --format el | head");
  commands.push_back({cmd, [job] {
                        if (job->in.empty() || job->out.empty())
                          throw Error("missing IN and OUT (example: dataset convert matrix.mtx matrix.npz)");
                        const plumb::Stopwatch clock;
                        plumb::require_writable(job->out);
                        std::vector<std::string> notes;
                        const std::string what = plumb::convert(*job, notes);
                        plumb::tell(job->in, notes);
                        plumb::wrote(job->out, what, clock.seconds());
                      }});
}

// ---- command line -----------------------------------------------------------------------------------------

// The word that fits nowhere, named with the nearest one that would.
std::string unknown_words(const CLI::App& app, const std::vector<std::string>& extras) {
  const CLI::App* deepest = &app;
  std::string path = app.get_name();
  while (!deepest->get_subcommands().empty()) {
    deepest = deepest->get_subcommands().back();
    path += " " + deepest->get_name();
  }
  std::vector<std::string> known;
  const std::string& word = extras.front();
  if (word.rfind('-', 0) == 0) {
    for (const CLI::Option* option : deepest->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back(fmt::format("--{}", name));
    }
  } else {
    for (const CLI::App* sub : deepest->get_subcommands([](const CLI::App*) { return true; }))
      known.push_back(sub->get_name());
  }
  const std::string stem = word.substr(0, word.find('='));
  const std::string kind = word.rfind('-', 0) == 0 ? "option" : known.empty() ? "argument" : "command";
  return fmt::format("{}: unknown {} '{}'{} ({} --help)", path, kind, plumb::printable(stem),
                     plumb::did_you_mean(stem, known), path);
}

int run(int argc, char** argv) {
  CLI::App app("Finds, downloads, generates and converts data.", "dataset");
  app.set_version_flag("--version", std::string("plumbline ") + plumb::kVersion);
  plumb::set_help(app, {}, plumb::asks_for_all(argc, argv));
  app.require_subcommand(0, 1);  // a file may be called what a command is called
  app.footer(
      "Examples:\n"
      "  dataset list\n"
      "  dataset info matrix.mtx\n"
      "  dataset fetch mnist\n"
      "  dataset generate radixnet --neurons 1024 --layers 120 -o neuron1024.plumb\n"
      "  dataset convert matrix.mtx matrix.npz\n\n"
      "Environment:\n"
      "  PLUMB_CACHE       where fetched data is kept [$XDG_CACHE_HOME/plumbline, ~/.cache/plumbline]\n"
      "  OMP_NUM_THREADS   threads that generate and read\n"
      "  https_proxy, http_proxy, no_proxy, as curl reads them\n\n"
      "Sizes may be written 64k or 1M.\n"
      "Exit codes: 0 done, 2 bad input or environment, 128 + signal interrupted.");
  std::vector<Command> commands;
  for (const auto add : {add_list, add_info, add_fetch, plumb::add_generate, add_convert}) add(app, commands);
  if (plumb::printed_option_table(app, "dataset", argc, argv)) return plumb::kOk;

  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    throw Error(unknown_words(app, app.remaining(true)));
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) { throw Error(std::string(e.what()) + " (dataset --help)"); }

  if (const std::string now = argc > 2 ? plumb::renamed_generator(argv[2]) : "";
      !now.empty() && argv[1] == std::string("generate")) {
    fmt::print(stderr, "note: `generate {}` is now called `generate {}`\n", argv[2], now);
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    plumb::limit_threads();
    command.run();
    return plumb::kOk;
  }
  std::fputs(app.help().c_str(), stdout);
  return plumb::kOk;
}

}  // namespace

namespace plumb {

void tell(const std::string& path, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) fmt::print(stderr, "note: {}: {}\n", path, note);
}

void wrote(const std::string& path, const std::string& what, double seconds) {
  const std::string size = is_regular_output(path) ? show_bytes(size_on_disk(path)) + ", " : std::string();
  fmt::print(is_standard_output(path) ? stderr : stdout, "wrote {}: {}, {}{:.2f} s\n", path, what, size,
             seconds);
}

}  // namespace plumb

int main(int argc, char** argv) {
  plumb::note_started();
  plumb::end_cleanly_on_signals();
  plumb::run_program([&] { return run(argc, argv); }, plumb::remove_unfinished_outputs);
}
