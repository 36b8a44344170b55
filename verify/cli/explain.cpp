// verify --explain.
#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/cli/listing.hpp"
#include "verify/judge/sanitizer.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {
namespace {

// Words of the reports that are neither verdicts nor fills; several names of one thing are separated by commas.
constexpr std::pair<const char*, const char*> kWords[] = {
    {"bound",
     "The largest error an element may have: a function of that element's own terms. With n terms of total "
     "magnitude M = sum |a||b| and u "
     "the unit roundoff: zero-mean data min(4 sqrt(n), 16) u M, positive data 4 sqrt(n) u M, fills exact, "
     "wide and index 0. Declared "
     "arithmetic (tf32, compensated, ...) widens or tightens it. Honest fp32 sums were measured to stay "
     "under 6 u M at n from 16 to 8192."},
    {"err/bound", "The largest error divided by its bound: over 1 fails, over 0.5 is marginal."},
    {"err/(uM), uM",
     "The error in units of u M, before any bound: it shows a change of precision long before a failure. "
     "tf32 where fp32 is declared "
     "errs by 240 to 7000. The table shows the largest of the fills exact, wide, index, real and scaled, "
     "whose "
     "terms have zero mean: in sums of one sign, or of values that repeat, it grows with the sum's length."},
    {"cell",
     "An output of 16 or 8 bits stands for all numbers that round to it, nearest even: its cell, both ends "
     "included. The exact value must lie in the cell, or no farther from it than the bound of the sum before "
     "its last rounding: err is that distance. With fp32 sums nearly every element has one legal bit "
     "pattern. "
     "Beyond the largest number the cell is that of infinity, in e4m3 of NaN. docs/bounds.md derives it."},
    {"poison",
     "What outputs, padding and workspace hold before a run: a NaN payload in one run, two finite sentinels "
     "in others. An element "
     "that holds its poison after every run was never written; one that changes with the poison was read "
     "before it was written."},
    {"guard, fence",
     "The pattern before, between and behind all arrays and in the padding of rows (ld > cols). Any change "
     "of it is out_of_bounds. On the host one case in four has a run in which inputs end where a page does, "
     "and the page behind it may not be read: a read past the end is a crash, though nothing uses the "
     "value."},
    {"twin",
     "The same case with its last operand negated, or one element of it, or all before it but three of their "
     "elements, or with the same arrays and another problem (scalars negated, height and width exchanged), "
     "or with rows of a "
     "sparse operand in another order, run at the same "
     "addresses right after the first run: a variant that keeps an answer, or an operand in a form of its "
     "own, by its address, or a problem by some of its numbers, returns what is stale."},
    {"soak, endurance",
     "Many calls of every variant on its first small case: 256 on the host, 16 runs elsewhere. On the host "
     "the plan of one more call is used for 16 runs, which one small case in 16 has too. A variant that is "
     "correct for its first calls only is found; on the host also one that leaks: heap, address space, "
     "descriptors or "
     "threads that grow with the calls from 33 to 64, from 65 to 128 and from 129 to 256. What is filled "
     "once, "
     "or grows until it suffices, is no leak. On the CPU executor streams, events and device arrays that are "
     "more after each of six runs in a row are."},
    {"repeat",
     "Instrument: every case is run several times with other poison and placement, and again placed as "
     "before. The results must "
     "agree, bit for bit where the variant declares itself reproducible."},
    {"numeric", "Instrument: comparison with the oracle, with poison, guards and input checks."},
    {"simt",
     "Instrument: the same .cu kernels on the CPU, threads as fibers in an order drawn from a seed; traps "
     "divergent barriers, bad shuffle "
     "masks, accesses out of bounds and reads of memory that was never written."},
    {"race detection",
     "Instrument (race): every access checked against CUDA's own order of events; both lines are named."},
    {"sanitizer",
     "Instrument: compute-sanitizer's memcheck, racecheck, initcheck and synccheck on each variant's "
     "smallest case of several tiles "
     "(--explain sanitize)."},
    {"sanitize", kSanitizerBlindSpots},
    {"archer",
     "Instrument: host kernels under ThreadSanitizer with LLVM's Archer, which knows the order that OpenMP "
     "gives, in a build of its own (tools/plumb verify --race --device cpu)."},
    {"stress",
     "Runs disturbed from a seed, 24 of them where --repeat does not say otherwise, compared as all runs "
     "are. On a GPU: other kernels take a "
     "random share of the multiprocessors, launches are delayed, streams have other priorities, L2 holds "
     "something else; and "
     "where plumb_stress_worker is built, barriers, fences and atomics wait a random while, each thread its "
     "own, and blocks are "
     "numbered in another order. A library's kernels and plug-ins are disturbed from outside only: their "
     "barriers and the order of "
     "their blocks are their own. On the CPU executor: another order of blocks, warps and lanes in every "
     "run. On the host: threads collide (--explain collide)."},
    {"collide",
     "Host threads that are usually polite, one after the other on few cores, are made to meet: there are "
     "more "
     "of them than cores, they leave the start of a parallel region together, wait at random at OpenMP "
     "constructs, "
     "locks and their start, one of them comes late, and timers interrupt them at any instruction. All of it "
     "is "
     "drawn from a seed. Done to every host variant, eight runs on each of its first two cases of integers "
     "and "
     "100,000 to 2,000,000 operations and words, one of the eight with a single thread; where a user's "
     "kernel says "
     "that it is reproducible, to its first such case of real numbers with a sum of 1,024 terms; and to all "
     "of its runs "
     "with "
     "--device cpu --stress. It finds races that change results, and sums in the order of their threads."},
    {"mutant, planted fault",
     "A kernel that is wrong on purpose, with what was changed and where it was seen in real code. verify "
     "--mutants must kill all of them."},
    {"killed", "An instrument noticed the mutant."},
    {"not tried", "Another instrument killed the mutant first; --all-instruments tries them all."},
    {"survived", "No instrument noticed the mutant: the harness is broken (exit 4)."},
    {"oracle",
     "The trusted result: fp32 operators summed in fp64, fp64 ones in twice the working precision, in files "
     "built with strict flags."},
    {"reproducible",
     "Same input and layout, same bits. Assumed of every variant, and tested; Traits{}.not_reproducible() "
     "gives it up. Not asked of outputs in which the contract leaves a choice, such as topk's columns of "
     "equal elements: runs may choose otherwise."},
    {"flushed",
     "Arithmetic in which additions turn subnormal addends and sums into 0, as fp32 atomicAdd in global "
     "memory does. Declared by Traits{}.flushes_subnormals(): the bound is then larger by n + 1 times the "
     "smallest normal number. A variant that flushes and does not say so fails the cases with subnormal=1."},
    {"by_lse",
     "Arithmetic of log_softmax in the form x - (max + log sum), which keeps one number per row: the sum of "
     "the two is rounded at the size of max, and every element of the row has that error. Declared by "
     "Traits{}.computes_in(Arithmetic::by_lse). A failure of a variant that does not declare it says so "
     "where that rounding explains it."},
    {"one_pass",
     "Arithmetic of a variance as the mean of squares less the square of the mean: its errors are relative "
     "to "
     "both of them, and where the mean is large beside the variance little is left. Declared by "
     "Traits{}.computes_in(Arithmetic::one_pass)."},
    {"tier",
     "smoke is run by default, full adds sizes and shapes, stress adds cases of more than 2^31 elements."},
    {"ulp", "Units in the last place between two numbers of the type."},
    {"map", "Where in the output the misses are: '.' none in the tile, '+' some, '#' all."},
};

}  // namespace

int print_explanation(const std::string& word) {
  std::vector<std::string> known;
  for (const Verdict v : kAllVerdicts) {
    if (name(v) == word) {
      fmt::print("{}: {}\n", word, explain(v));
      return kOk;
    }
    known.emplace_back(name(v));
  }
  for (const Fill f : kAllFills) {
    if (name(f) == word) {
      fmt::print("fill {}: {}\n", word, describe(f));
      return kOk;
    }
    known.emplace_back(name(f));
  }
  for (const auto& [names, text] : kWords) {
    for (const std::string& one : split(names, ',')) {
      known.push_back(trimmed(one));
      if (word != known.back()) continue;
      fmt::print("{}: {}\n", word, text);
      return kOk;
    }
  }
  throw Error(fmt::format("--explain: unknown word '{}'{} (known: {})", printable(word),
                          did_you_mean(word, known), fmt::join(known, ", ")));
}

}  // namespace plumb
