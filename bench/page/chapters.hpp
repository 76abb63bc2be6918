// The text of the page of figures: the method, and a few lines for each group of benchmarks. A group without a
// chapter still gets a table.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

namespace draftproof::benchmarks {

struct Chapter {
  std::string title, about;
  std::vector<std::string> groups;
  bool rate = false;                    ///< items per second instead of time per item
  std::vector<std::string> counters{};  ///< of the first group: one table each
};

inline std::string method_text(int repetitions, double min_time) {
  return fmt::format(
      R"(# Performance

Written by `./dev bench --page docs/performance.md`; every number is from that run. `--json --output FILE` keeps the run,
`draftproof bench report FILE --page PAGE` renders it again, `draftproof bench compare OLD NEW` compares two.

## How it is measured

- One thread; processor time of that thread, so that neighbours who take the processor away are not counted. They still
  take caches and memory bandwidth.
- {} rounds. A round takes every benchmark once, for at least {:g} s, in a random order of its own. Figures are
  medians over rounds.
- Goals are ratios. Both sides run in the same rounds, so what slows one slows the other; ratios move less from run to run
  and from machine to machine than times do.
- Floors (`floor/...`) do the part that cannot be avoided and nothing else: read the rows, sort the keys. They are measured
  here, not taken from a data sheet.
- Peers (`peer/...`) are what one would write without draftproof, in numpy and scipy and with Clp, on one thread and the
  same rows. Python peers report their own processor time; starting the interpreter is not in it.
- Rows are softmax of Gaussian logits: target N(0, 2.5 squared), draft logits the target's plus N(0, 1). Optima at
  small V use 1.5 squared.
- Hot: the same rows every time, in whichever cache holds 8 V bytes. Cold: copies of them by turns over twice the last
  cache and at least 600 MB.
- An item is a trial, a decision, a step, an optimum or an instance; drafting is in the time of simulation and steps,
  not in that of decisions.
)",
      repetitions, min_time);
}

inline const std::vector<Chapter>& chapters() {
  static const std::vector<Chapter> all{
      {"Simulation",
       "Trials a second on tables prepared once: drafts drawn, verified and counted. Columns: V / K. `naive` is the "
       "same\n"
       "source on plain rows, O(K V) a trial.",
       {"simulate", "naive"},
       true,
       {"acceptance"}},
      {"Peers in numpy and scipy",
       "Time per trial, of `peer/scipy` and `peer/clp` per optimum. Columns: V / K.",
       {"peer"}},
      {"Decisions from fresh rows",
       "Time of one decision when p and q are new, as in an engine: plan and verdict. Columns: V / K.",
       {"cost", "cold"},
       false,
       {"passes", "bytes"}},
      {"Formats of rows",
       "One decision on rows of another format, the rows' logits turned into probabilities, and powers of e one by "
       "one.\n"
       "Columns: V, V / K.",
       {"rows", "softmax", "exp"}},
      {"Floors", "What no decision and no optimum can do without. Columns: V.", {"floor", "read"}},
      {"The optimum",
       "Time from rows to the optimum, and of the table it can be read off. Columns: V / K.",
       {"optimum", "table"},
       false,
       {"optimum"}},
      {"Steps", "Time per iteration on a tree: drafted, verified, counted. Columns: V / K / depth.", {"steps"}},
      {"Proofs", "Exact fractions, one thread; an item is an instance, of the kill matrix a row.", {"prove"}},
      {"The statistical gate", "One evaluation after 2^n trials. Columns: V / n.", {"gate"}},
  };
  return all;
}

}  // namespace draftproof::benchmarks
