#include "gpu/simt/host/report/report_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace plumb::simt {

namespace {

constexpr int kLinesAround = 4;
constexpr std::size_t kStepsShown = 8;

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Findings of plumb simt</title>
<style>
:root { color-scheme: light dark; --line: #c3c9d0; --soft: #f4f6f8; --dim: #59636e; --bad: #c8232c; --hit: #ffd9d6; --meet: #dcecdc; --met: #4f9a4f }
@media (prefers-color-scheme: dark) { :root { --line: #3a4149; --soft: #1c2128; --dim: #9198a1; --bad: #ff7b72; --hit: #5a1d1d; --meet: #1d3a24; --met: #56a364 } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; overflow-wrap: anywhere }
section { border-top: 1px solid var(--line); padding: 1em 0 }
h2 { font-size: 1.15em; margin: 0 0 .3em } h3 { font-size: 1em; margin: .6em 0 .2em }
pre { font: 13px/1.45 ui-monospace, monospace; background: var(--soft); padding: .5em; margin: .3em 0; white-space: pre-wrap }
pre span { display: block; padding-left: 5em; text-indent: -5em }
pre b { font-weight: normal; background: var(--hit); display: block; padding-left: 5em; text-indent: -5em }
.two, .lanes { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 1.5em }
.lanes { grid-template-columns: minmax(0, 1fr) minmax(5em, 12em) minmax(0, 1fr); gap: .35em .5em; margin: 1em 0; align-items: center }
.lanes > div { text-align: center }
.step { border: 1px solid var(--line); border-radius: 1em; padding: .1em .8em; display: inline-block }
.both { grid-column: 1 / 4; background: var(--meet); border: 1px solid var(--met); padding: .1em }
.access { border: 2px solid var(--bad); background: var(--hit); padding: .3em .8em; display: inline-block }
.missing { color: var(--bad) }
.missing i { display: block; border-top: 3px dashed var(--bad); margin: .2em 0 }
.note h2 { color: var(--dim) } .dim { color: var(--dim) }
@media (max-width: 600px) { body { margin: 1em auto } .two { grid-template-columns: minmax(0, 1fr) } .lanes { font-size: 12px; gap: .35em .2em }
  .lanes { grid-template-columns: minmax(0, 1fr) 4.5em minmax(0, 1fr) } .step, .access { padding: .1em .3em } }
@media print { section { break-inside: avoid } b, .both, .access { print-color-adjust: exact; -webkit-print-color-adjust: exact } }
</style></head><body>
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string show_place(const Place& p) {
  return p.line == 0 ? "an unknown line" : escaped(fmt::format("{}:{}", p.file, p.line));
}

std::string show_thread(const ThreadId& id) {
  if (id.host) return "the host";
  return fmt::format("block ({},{},{}) thread ({},{},{})", id.block.x, id.block.y, id.block.z, id.thread.x,
                     id.thread.y, id.thread.z);
}

// The lines around a place, where its file can be read.
std::string excerpt(const Place& p) {
  std::ifstream in(p.file);
  if (p.line == 0 || !in) return "";
  std::string out = "<pre>", line;
  for (int n = 1; n <= p.line + kLinesAround && std::getline(in, line); ++n) {
    if (n < p.line - kLinesAround) continue;
    const char* const tag = n == p.line ? "b" : "span";
    out += fmt::format("<{0}>{1:5}  {2}</{0}>", tag, n, escaped(line));
  }
  return out + "</pre>\n";
}

// What the finding's text says of a place: "written here" of "'part' is written here and read there".
std::string said_of(const Finding& f, const std::string& where) {
  const std::size_t at = f.text.find(" " + where);
  if (at == std::string::npos) return where;
  const std::size_t begin = f.text.rfind(' ', at - 1) + 1;
  return escaped(f.text.substr(begin, at - begin)) + " " + where;
}

std::string side(const std::string& said, const Place& place, const ThreadId& thread) {
  return fmt::format("<div><h3>{}</h3>{}<br><span class=dim>{}</span>\n{}</div>\n", said, show_place(place),
                     show_thread(thread), excerpt(place));
}

std::vector<TrailStep> before_access(const std::vector<TrailStep>& trail) {
  std::vector<TrailStep> out;
  std::copy_if(trail.begin(), trail.end(), std::back_inserter(out),
               [](const TrailStep& s) { return s.before; });
  if (out.size() > kStepsShown) out.erase(out.begin(), out.end() - kStepsShown);
  return out;
}

std::string show_step(const TrailStep& s) {
  const std::string at = s.place.line == 0 ? "" : fmt::format(", line {}", s.place.line);
  return escaped(s.what) + at;
}

bool same_block(const Finding& f) {
  const uint3 a = f.thread.block, b = f.other_thread.block;
  return f.other_kernel.empty() && !f.thread.host && !f.other_thread.host && a.x == b.x && a.y == b.y &&
         a.z == b.z;
}

// A barrier that both threads were part of: the order that there is.
bool meet(const TrailStep& a, const TrailStep& b) {
  return a.what.rfind("__syncthreads", 0) == 0 && b.what.rfind("__syncthreads", 0) == 0 &&
         a.generation == b.generation;
}

std::string lane(const TrailStep* s) {
  return s == nullptr ? "<div></div>" : "<div><span class=step>" + show_step(*s) + "</span></div>";
}

// Both threads' steps from top to bottom, a row for each; what both met goes across.
std::string steps_of(const Finding& f) {
  const auto left = before_access(f.trail), right = before_access(f.other_trail);
  std::string out;
  std::size_t i = 0, j = 0;
  while (i < left.size() || j < right.size()) {
    const TrailStep* a = i < left.size() ? &left[i] : nullptr;
    const TrailStep* b = j < right.size() ? &right[j] : nullptr;
    if (a != nullptr && b != nullptr && same_block(f)) {
      if (meet(*a, *b)) {
        out += "<div class=both>" + show_step(*a) + ": orders all before it with all behind it</div>\n";
        ++i, ++j;
        continue;
      }
      if (a->generation < b->generation)
        b = nullptr;
      else if (b->generation < a->generation)
        a = nullptr;
    }
    out += lane(a) + "<div></div>" + lane(b) + "\n";
    i += a != nullptr ? 1 : 0, j += b != nullptr ? 1 : 0;
  }
  return out;
}

// The two threads as lanes, time downwards, and what is not there between the two accesses.
std::string drawing(const Finding& f) {
  std::string out = "<div class=lanes>\n";
  out += fmt::format("<div><strong>{}</strong></div><div></div><div><strong>{}</strong></div>\n",
                     show_thread(f.thread), show_thread(f.other_thread));
  out += steps_of(f);
  const auto access = [&](const char* where, const Place& p) {
    return fmt::format("<div><span class=access>{}<br>{}</span></div>", said_of(f, where), show_place(p));
  };
  out += access("here", f.place) + "<div class=missing><i></i>no order between these two<i></i></div>" +
         access("there", f.other_place) + "\n</div>\n";
  if (f.other_trail.empty() && !f.other_thread.host)
    out +=
        "<p class=dim>What the other thread met is not kept: its block has ended, or it met nothing.</p>\n";
  return out;
}

std::string section(const Finding& f) {
  std::string out =
      fmt::format("<section{}>\n<h2>{}{} in {}</h2>\n<p>{}</p>\n", f.is_note ? " class=note" : "",
                  f.is_note ? "note: " : "", name_of(f.kind), escaped(f.kernel), escaped(f.text));
  if (!f.hint.empty()) out += "<p><strong>" + escaped(f.hint) + "</strong></p>\n";
  if (f.repeats > 1) out += fmt::format("<p class=dim>seen {} times</p>\n", f.repeats);
  out += "<div class=two>\n";
  out += side(f.has_other ? said_of(f, "here") : "here", f.place, f.thread);
  if (f.has_other) out += side(said_of(f, "there"), f.other_place, f.other_thread);
  out += "</div>\n";
  if (f.kind == FindingKind::race) out += drawing(f);
  return out + "</section>\n";
}

}  // namespace

std::string report_page(const std::vector<Finding>& findings, std::uint64_t seed, const RunEnd& end) {
  std::string told, let_be;
  std::size_t count = 0;
  for (const Finding& f : findings) {
    if (f.suppressed.empty()) {
      told += section(f);
      ++count;
    } else {
      let_be += fmt::format("<li>{} in {}, {}: by {}</li>\n", name_of(f.kind), escaped(f.kernel),
                            show_place(f.place), escaped(f.suppressed));
    }
  }
  std::string out = kHead;
  out += fmt::format("<h1>{} finding{} and notes</h1>\n<p class=dim>plumb simt, seed {}</p>\n", count,
                     count == 1 ? "" : "s", seed);
  if (!end.is_complete) out += "<p><strong>The run is not complete: " + escaped(end.how) + "</strong></p>\n";
  out += told;
  if (!let_be.empty()) out += "<section><h2>suppressed</h2>\n<ul>\n" + let_be + "</ul></section>\n";
  return out + "</body></html>";
}

}  // namespace plumb::simt
