#include "verify/report/page.hpp"

#include <algorithm>
#include <cctype>

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

namespace {

// Whether an absolute path begins at `i`.
bool begins_path(std::string_view text, std::size_t i) {
  if (text[i] != '/' || i + 1 == text.size()) return false;
  const char next = text[i + 1];
  if (std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '.' && next != '_') return false;
  return i == 0 || std::string_view(" '\"=(:,`<[\n").find(text[i - 1]) != std::string_view::npos;
}

}  // namespace

std::string without_folders(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (!begins_path(text, i)) {
      out += text[i++];
      continue;
    }
    const char before = i == 0 ? ' ' : text[i - 1];
    const bool quoted = before == '\'' || before == '"';  // then it may hold blanks
    const std::string_view ends = quoted ? text.substr(i - 1, 1) : std::string_view(" '\"),:;`>]\n");
    const std::string_view path = text.substr(i, text.find_first_of(ends, i) - i);
    out += path.substr(path.rfind('/') + 1);
    i += path.size();
  }
  return out;
}

std::string page_head(std::string_view title) {
  return fmt::format(
             "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport "
             "content='width=device-width'>\n<title>{}</title>\n",
             escape_markup(title)) +
         R"(<style>
:root{color-scheme:light dark;--p:#3a9d5d;--m:#d9a404;--f:#e5484d;--s:#b9c0c7;--u:#b07cd8;--line:#d5dae0;--good:#1a7f37;--bad:#c8232c;--soft:#f6f8fa}
@media(prefers-color-scheme:dark){:root{--p:#3fa968;--m:#d2a62c;--f:#f0585c;--s:#737d88;--u:#b98be0;--line:#3a4149;--good:#56d364;--bad:#ff7b72;--soft:#1c2128}}
body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:1500px;padding:0 1em}
h1{font-size:1.5em}h2{margin-top:1.6em;font-size:1.25em;overflow-wrap:anywhere}h3{margin:1em 0 .3em;font-size:1.05em;overflow-wrap:anywhere}
code,pre{font:12px/1.45 ui-monospace,monospace;overflow-wrap:anywhere;white-space:pre-wrap}
p,li,summary{overflow-wrap:anywhere}summary{cursor:pointer}
.p{background:var(--p);fill:var(--p)}.m{background:var(--m);fill:var(--m)}.f{background:var(--f);fill:var(--f)}
.s{background:var(--s);fill:var(--s)}.u{background:var(--u);fill:var(--u)}
td.p,td.f,td.m,td.u,td.s{color:#000}
.pt{color:var(--good)}.ft,.bad{color:var(--bad)}.st{opacity:.8}
.wide{overflow-x:auto}table{border-collapse:collapse}th{font-weight:500;text-align:left;white-space:nowrap;padding-right:1em}
td{padding:1px .5em}td.n{text-align:right}td.c{line-height:11px;max-width:80em}
.matrix tr,.rows tr{border-bottom:1px solid var(--line)}.matrix th,.matrix td{vertical-align:top}
td.c i,.chip i{display:inline-block;width:10px;height:10px;margin-right:1px;border-radius:2px;font:bold 10px/10px sans-serif;text-align:center;color:#000;vertical-align:top;overflow:hidden}
.chip i{vertical-align:baseline}i.f::before{content:"\D7"}i.m::before{content:"~"}i.s::before{content:"\2013"}i.u::before{content:"?"}
.chip{margin-right:1em;white-space:nowrap}svg.h path{stroke:currentColor;opacity:.5}
#at,#filter{position:sticky;top:0;background:Canvas;border-bottom:1px solid var(--line);padding:.4em 0;min-height:1.5em;z-index:1}
#filter{z-index:2}#at{top:2.6em}input,select{font:inherit}#words{width:16em;max-width:60vw}
.k{opacity:.8}.cause{border-left:4px solid var(--bad);background:var(--soft);padding:.1em 1em .6em;margin:1em 0}
.cause ul{margin:.3em 0;padding-left:1.2em}.failure{border-top:1px solid var(--line);padding:.3em 0 .3em 1em}
[hidden]{display:none}
@media(max-width:600px){body{margin:1em auto}.matrix tr,.matrix th,.matrix td{display:block;text-align:left}.matrix th{white-space:normal}
#filter,#at{position:static}}
@media print{#at,#filter{display:none}body{margin:0;max-width:none}.cause,tr{break-inside:avoid}.wide{overflow:visible}
i,td,rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
</style>
)";
}

std::string page_foot() {
  return R"(<script>
const show=e=>{const c=e.target.closest('td.c i[title]');if(!c)return;
const t=c.closest('table'),k=[...c.parentNode.children].indexOf(c),v=c.closest('tr').firstChild.textContent;
document.getElementById('at').textContent=v+'   '+t.dataset.cases.split('|')[k]+'   '+c.title.replace(/^\d+: /,'')};
for(const kind of ['mouseover','click','focusin'])document.addEventListener(kind,show);
const all=q=>[...document.querySelectorAll(q)],words=document.getElementById('words');
if(words){const verdict=document.getElementById('verdict'),left=document.getElementById('left');
const sift=()=>{const w=words.value.toLowerCase().split(/\s+/),v=verdict.value,on=v||words.value.trim();let n=0;
for(const e of all('.failure')){const t=(e.textContent+e.closest('.cause').firstChild.textContent).toLowerCase();
e.hidden=!w.every(x=>t.includes(x))||v&&e.dataset.verdict!==v;n+=e.hidden?0:1}
const rows=all('.matrix tr'),fits=r=>{const t=(r.closest('.wide').previousElementSibling.id+' '+r.firstChild.textContent).toLowerCase();
return w.every(x=>t.includes(x))},some=rows.some(fits);for(const r of rows)r.hidden=some&&!fits(r);
for(const c of all('.cause')){const some=c.querySelector('.failure:not([hidden])');
c.hidden=on&&!some;c.querySelector('.cases').open=!!(on&&some)}
left.textContent=on?n+' failures shown':''};
words.addEventListener('input',sift);verdict.addEventListener('change',sift);
words.form.addEventListener('submit',e=>e.preventDefault())}
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
