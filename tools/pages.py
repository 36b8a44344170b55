#!/usr/bin/env python3
"""Man pages and completion for bash, zsh and fish, from what the programs say of themselves: `plumb help`,
and the tables of options (tools/option_table.hpp) of verify, bench, infer, dataset and simt.

    tools/pages.py PLUMB BIN OUT     PLUMB: the front end; BIN: the programs; OUT: the share/ to write"""

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = ("verify", "bench", "infer", "dataset")


@dataclass
class Option:
    names: list  # ["-v", "--verbose"]; a positional one has a name without hyphens
    takes: str  # what its value is called; "" where it takes none
    group: str
    about: str

    @property
    def positional(self):
        return not self.names[0].startswith("-")


@dataclass
class Command:
    name: str  # "infer sdnn"
    about: str
    footer: str = ""
    options: list = field(default_factory=list)


def said(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def unescaped(word):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), word)


def read_table(text):
    """The commands of a program's table."""
    commands = []
    for line in text.splitlines():
        kind, *words = [unescaped(word) for word in line.split("\t")]
        if kind == "command":
            name, about, footer = words
            commands.append(Command(name, about.removeprefix(f"{name}: "), footer))
        else:
            names, takes, group, about = words
            names = sorted(names.split(","), key=lambda n: n.startswith("--"))
            commands[-1].options.append(Option(names, takes, group, about))
    return commands


def words_of_help(text):
    """{command: what it does}, of lines such as `  verify --case all     judges ...`."""
    found = {}
    for name, about in re.findall(r"^  ([a-z][a-z-]*)(?: [^ \n]+)*? {2,}(\S[^\n]*)", text, re.M):
        found.setdefault(name, about)
    return found


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def page(name, about, body, version):
    title = name.upper().replace("-", "\\-")
    return f'.TH {title} 1 "" "plumbline {version}"\n.SH NAME\n{roff(name)} \\- {roff(about)}\n{body}'


def verbatim(text):
    return f".nf\n{roff(text.rstrip())}\n.fi\n"


def options_body(command, title):
    words = "".join(
        f".TP\n.B {roff(', '.join(o.names) + (' ' + o.takes if o.takes else ''))}\n{roff(o.about)}\n"
        for o in command.options
    )
    return f".SH {title}\n{roff(command.about)}\n{words}"


def man_pages(help_text, programs, version):
    """{file: text}"""
    pages = {
        "plumb.1": page(
            "plumb",
            "judges kernels of sparse and dense operators",
            ".SH COMMANDS\n" + verbatim(help_text.replace("tools/plumb", "plumb")),
            version,
        )
    }
    for name, commands in programs.items():
        top = commands[0]
        body = f".SH SYNOPSIS\n.B plumb {name}\n[options]\n" + options_body(top, "OPTIONS")
        body += "".join(options_body(c, c.name.upper()) for c in commands[1:])
        if top.footer:
            body += ".SH EXAMPLES AND NOTES\n" + verbatim(top.footer)
        pages[f"plumb-{name}.1"] = page(f"plumb-{name}", top.about.split("\n")[0], body, version)
    return pages


def tree_of(words, programs):
    """[(words before, {next word: about}, options)] of every command that completion knows."""
    rows = [
        (
            "",
            words,
            [
                Option(["--version"], "", "", "the version"),
                Option(["--extra"], "DIR", "", "kernels of your own"),
            ],
        )
    ]
    for commands in programs.values():
        for c in commands:
            depth = c.name.count(" ") + 1
            subs = {
                s.name.split(" ")[-1]: s.about
                for s in commands
                if s.name.startswith(c.name + " ") and s.name.count(" ") == depth
            }
            rows.append((c.name, subs, [o for o in c.options if not o.positional]))
    return rows


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def short(about):
    return re.split(r"[.;:](?:\s|$)|\n", about)[0].strip()


def bash(rows):
    cases, valued = [], set()
    for before, subs, options in rows:
        names = [*subs, *(name for o in options for name in o.names)]
        valued |= {name for o in options if o.takes for name in o.names}
        cases.append(f"    {quoted(before)}) words={quoted(' '.join(names))} ;;")
    known = " ".join(quoted(before) for before, _, _ in rows if before)
    return f"""# completion of plumb for bash; made by tools/pages.py
_plumb() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} at='' word next words='' known
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    next=${{at:+$at }}$word
    for known in {known}; do [ "$next" != "$known" ] || at=$next; done
  done
  case " {" ".join(sorted(valued))} " in
    *" $prev "*) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
  esac
  case $at in
{chr(10).join(cases)}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}}
complete -o bashdefault -o default -F _plumb plumb
"""


def zsh(rows):
    cases = []
    for before, subs, options in rows:
        words = [f"{word}:{short(about)}" for word, about in subs.items()]
        words += [f"{name}:{short(o.about)}" for o in options for name in o.names]
        cases.append(f"    {quoted(before)}) words_here=({' '.join(map(quoted, words))}) ;;")
    known = " ".join(quoted(before) for before, _, _ in rows if before)
    return f"""#compdef plumb
# made by tools/pages.py
local at='' word next known
local -a words_here
for word in ${{words[2,CURRENT-1]}}; do
  next=${{at:+$at }}$word
  for known in {known}; do [[ $next != $known ]] || at=$next; done
done
case $at in
{chr(10).join(cases)}
esac
_describe plumb words_here
_files
"""


def fish(rows):
    lines = ["# made by tools/pages.py"]
    for before, subs, options in rows:
        if before:
            there = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in before.split(" "))
        else:
            there = "__fish_use_subcommand"
        for word, about in subs.items():
            lines.append(f"complete -c plumb -f -n {quoted(there)} -a {word} -d {quoted(short(about))}")
        for o in options:
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in o.names)
            takes = " -r" if o.takes else ""
            lines.append(f"complete -c plumb -n {quoted(there)} {names}{takes} -d {quoted(short(o.about))}")
    return "\n".join(lines) + "\n"


def main():
    plumb, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    help_text = said(plumb, "help")
    version = said(plumb, "--version").split()[-1]
    programs = {name: read_table(said(folder / name, "--option-table")) for name in PROGRAMS}
    programs["simt"] = read_table(said(plumb, "simt", "--option-table"))
    words = {**words_of_help(help_text), **{name: commands[0].about for name, commands in programs.items()}}
    rows = tree_of(words, programs)
    files = {f"man/man1/{name}": text for name, text in man_pages(help_text, programs, version).items()}
    files["bash-completion/completions/plumb"] = bash(rows)
    for folder in ("site-functions", "vendor-completions"):  # where zsh looks; Debian's in the latter
        files[f"zsh/{folder}/_plumb"] = zsh(rows)
    files["fish/vendor_completions.d/plumb.fish"] = fish(rows)
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
