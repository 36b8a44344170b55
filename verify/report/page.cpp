#include "verify/report/page.hpp"

#include <fmt/format.h>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"

namespace plumb {

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' ? '?' : c;
    }
  }
  return out;
}

std::string page_head(std::string_view title) {
  return fmt::format(
             "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport "
             "content='width=device-width'>\n<title>{}</title>\n",
             escape_markup(title)) +
         R"(<style>
:root{color-scheme:light dark;--p:#3a9d5d;--m:#d9a404;--f:#d1383d;--s:#b9c0c7;--u:#9a5fc4;--line:#d5dae0}
@media(prefers-color-scheme:dark){:root{--p:#3fa968;--m:#d2a62c;--f:#f0585c;--s:#4c545e;--u:#a974d6;--line:#3a4149}}
body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:1500px;padding:0 1em}
h1{font-size:1.5em}h2{margin-top:1.6em;font-size:1.15em}
code,pre{font:12px/1.45 ui-monospace,monospace;overflow-wrap:anywhere;white-space:pre-wrap}
.p{background:var(--p);fill:var(--p)}.m{background:var(--m);fill:var(--m)}.f{background:var(--f);fill:var(--f)}
.s{background:var(--s);fill:var(--s)}.u{background:var(--u);fill:var(--u)}
.pt{color:var(--p)}.ft{color:var(--f)}.st{opacity:.7}
.wide{overflow-x:auto}table{border-collapse:collapse}th{font-weight:500;text-align:left;white-space:nowrap;padding-right:1em}
td{padding:1px .5em}td.n{text-align:right}td.c{line-height:11px;max-width:80em}
.matrix tr,.rows tr{border-bottom:1px solid var(--line)}
td.c i,.chip i{display:inline-block;width:10px;height:10px;margin-right:1px;border-radius:2px}
.chip{margin-right:1em;white-space:nowrap}svg.h path{stroke:currentColor;opacity:.5}
#at{position:sticky;top:0;background:Canvas;border-bottom:1px solid var(--line);padding:.4em 0;min-height:1.5em;z-index:1}
@media print{#at{display:none}}
.k{opacity:.8}.failure{border-left:3px solid var(--f);padding-left:1em;margin:1em 0}
</style>
)";
}

std::string page_foot() {
  return R"(<script>
const show=e=>{const c=e.target.closest('td.c i[title]');if(!c)return;
const t=c.closest('table'),k=[...c.parentNode.children].indexOf(c),v=c.closest('tr').firstChild.textContent;
document.getElementById('at').textContent=v+'   '+t.dataset.cases.split('|')[k]+'   '+c.title.replace(/^\d+: /,'')};
for(const kind of ['mouseover','click','focusin'])document.addEventListener(kind,show);
</script>
</html>
)";
}

PageFile::PageFile(std::string path) : path_(std::move(path)), replaceable_(is_regular_output(path_)) {
  require_writable(path_);
}

void PageFile::write(std::string_view contents) {
  if (replaceable_) finish(contents);
}

void PageFile::finish(std::string_view contents) {
  try {
    OutputFile file(path_);
    file.write(contents);
    file.commit();
    write_error_.clear();
  } catch (const Error& e) { write_error_ = e.what(); }
}

}  // namespace plumb
