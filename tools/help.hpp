// What --help prints, the same in every program: examples, the options that people need first, the names of the others by group;
// "--help all" describes each. At most 100 columns, and no more than the terminal has.
#pragma once
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tools/terminal.hpp"

namespace plumb {

/// The group of the options that people need first; each other group is named by what its options are about.
inline constexpr const char* kFirstOptions = "options needed first";

/// A command line, and what it does ("": nothing is said).
using HelpExample = std::pair<const char*, const char*>;

/// A paragraph of notes: its title, and its lines, each a word and what it means ("": a line of text alone).
struct HelpNote {
  const char* title;
  std::vector<std::pair<const char*, const char*>> lines;
};

struct HelpWords {
  std::vector<HelpExample> first, more;  // examples; `more` are those of "--help all"
  std::vector<HelpNote> notes;           // at the end
};

/// Whether "all" follows --help on the command line.
[[nodiscard]] inline bool asks_for_all(int argc, const char* const* argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view word = argv[i];
    if ((word == "--help" || word == "-h") && std::string_view(argv[i + 1]) == "all") return true;
  }
  return false;
}

class HelpFormatter final : public CLI::Formatter {
 public:
  /// `of`: whose words these are; its subcommands print theirs in the same form.
  HelpFormatter(const CLI::App* of, HelpWords words, bool all)
      : of_(of), words_(std::move(words)), all_(all) {
    if (const std::size_t wide = terminal_columns(stdout); wide >= kLeastColumns)
      columns_ = std::min(wide, columns_);
  }

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string out;
    for (const std::string& line : wrapped(app->get_description(), columns_)) out += line + "\n";
    return out + usage(app) + examples(app, all_) + commands(app) + options(app) + notes(app);
  }

  /// What follows the options on a page of its own: every example, and the notes.
  [[nodiscard]] std::string words_of(const CLI::App* app) const { return examples(app, true) + notes(app); }

 private:
  using Rows = std::vector<std::pair<std::string, std::string>>;
  static constexpr std::size_t kLeastColumns = 60, kOption = 22, kExample = 46;

  [[nodiscard]] std::string examples(const CLI::App* app, bool all) const {
    if (app != of_ || words_.first.empty()) return "";
    Rows pairs(words_.first.begin(), words_.first.end());
    if (all) pairs.insert(pairs.end(), words_.more.begin(), words_.more.end());
    return "\nexamples\n" + rows(pairs, kExample);
  }

  [[nodiscard]] std::string notes(const CLI::App* app) const {
    std::string out;
    for (const HelpNote& note : app == of_ ? words_.notes : std::vector<HelpNote>{})
      out += fmt::format("\n{}\n", note.title) + rows({note.lines.begin(), note.lines.end()}, kOption);
    const std::string footer = app->get_footer();
    return footer.empty() ? out : out + "\n" + footer + "\n";
  }

  // Pairs in two columns, the left at most so wide; what is longer has a line of its own.
  [[nodiscard]] std::string rows(const Rows& pairs, std::size_t most) const {
    std::size_t left = 0;
    for (const auto& [word, what] : pairs) {
      if (word.size() <= most) left = std::max(left, word.size());
    }
    std::string out;
    const std::string margin(left + 4, ' ');
    for (const auto& [word, what] : pairs) {
      std::string line = "  " + word;
      if (!what.empty() && word.size() > left) out += std::exchange(line, "") + "\n";
      if (what.empty()) {
        out += line + "\n";
        continue;
      }
      for (const std::string& text : wrapped(what, columns_ - margin.size())) {
        out += line + std::string(margin.size() - line.size(), ' ') + text + "\n";
        line.clear();
      }
    }
    return out;
  }

  static std::string path_of(const CLI::App* app) {
    const CLI::App* const up = app->get_parent();
    return up == nullptr ? app->get_name() : path_of(up) + " " + app->get_name();
  }

  static std::string usage(const CLI::App* app) {
    std::string positionals;
    for (const CLI::Option* o : app->get_options(
             [](const CLI::Option* o) { return o->get_positional() && !o->get_group().empty(); }))
      positionals += o->get_required() ? " " + o->get_name() : " [" + o->get_name() + "]";
    const bool commands = !app->get_subcommands({}).empty();
    return fmt::format("usage: {}{} [OPTIONS]{}\n", path_of(app), commands ? " [COMMAND]" : "", positionals);
  }

  [[nodiscard]] std::string commands(const CLI::App* app) const {
    Rows pairs;
    for (const CLI::App* sub : app->get_subcommands({})) {
      if (!sub->get_group().empty()) pairs.emplace_back(sub->get_name(), sub->get_description());
    }
    if (pairs.empty()) return "";
    return fmt::format("\ncommands ({} COMMAND --help)\n", app->get_name()) + rows(pairs, kOption);
  }

  [[nodiscard]] std::string options(const CLI::App* app) const {
    std::string out;
    Rows others;
    for (const std::string& group : groups_of(app)) {
      Rows pairs;
      std::string names;
      for (const CLI::Option* o :
           app->get_options([&](const CLI::Option* o) { return o->get_group() == group; })) {
        pairs.emplace_back(named(o), described(o));
        names += (names.empty() ? "" : " ") + o->get_name();
      }
      const bool alone = groups_of(app).size() == 1;
      if (group == "Options" && !alone && !all_) continue;  // --help
      if (all_ || group == kFirstOptions || alone)
        out += fmt::format("\n{}\n", group == "Options" ? "options" : group) + rows(pairs, kOption);
      else
        others.emplace_back(group, names);
    }
    if (others.empty()) return out;
    return out + "\nother options (--help all describes them)\n" + rows(others, kExample);
  }

  // The first ones first.
  static std::vector<std::string> groups_of(const CLI::App* app) {
    std::vector<std::string> groups;
    for (const CLI::Option* o : app->get_options({})) {
      const std::string& group = o->get_group();
      if (!group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end())
        groups.push_back(group);
    }
    std::stable_partition(groups.begin(), groups.end(),
                          [](const std::string& g) { return g == kFirstOptions; });
    return groups;
  }

  static std::string named(const CLI::Option* o) {
    std::string name = o->get_positional() ? o->get_name() : o->get_name(false, true);
    for (std::size_t at = 0; (at = name.find(',', at)) != std::string::npos; at += 2)
      name.replace(at, 1, ", ");
    if (const std::size_t set = name.find('{');
        set != std::string::npos)  // --stress{1}: what it stands for alone
      return name.substr(0, set) + "[=N]";
    const bool takes = o->get_items_expected_max() > 0 && !o->get_positional();
    return takes ? fmt::format("{} {}", name, o->get_type_name() == "TEXT" ? "WORD" : short_type(o)) : name;
  }

  // "INT:INT in [2 - 10000]" is for machines.
  static std::string short_type(const CLI::Option* o) {
    const std::string type = o->get_type_name();
    const std::string first = type.substr(0, type.find(':'));
    return first == "INT" || first == "UINT" ? "N" : first == "FLOAT" ? "X" : first;
  }

  static std::string described(const CLI::Option* o) {
    const std::string value = o->get_default_str();
    return value.empty() ? o->get_description()
                         : fmt::format("{} (default: {})", o->get_description(), value);
  }

  const CLI::App* of_;
  HelpWords words_;
  bool all_;
  std::size_t columns_ = 100;
};

/// Makes `app`, and the subcommands that are added after it, print its help in this form.
inline void set_help(CLI::App& app, HelpWords words, bool all) {
  app.formatter(std::make_shared<HelpFormatter>(&app, std::move(words), all));
  app.set_help_flag("-h,--help", "this text; '--help all' describes every option");
}

/// Declares that of the options of `app`, which have no groups, these are needed first; the others are "further options".
inline void need_first(CLI::App& app, const std::vector<std::string>& names) {
  for (CLI::Option* o : app.get_options([](const CLI::Option* o) { return o->get_group() == "Options"; })) {
    if (o->check_name("--help")) continue;
    const bool first = std::find(names.begin(), names.end(), o->get_name()) != names.end();
    o->group(first ? kFirstOptions : "further options");
  }
}

}  // namespace plumb
