// Compares two runs of the same benchmarks, before and after a change: faster, slower, or within noise.
//
//   ratio    median of the new run over median of the old; above 1 is slower
//   n, m     repetitions of the old and of the new run
//   chance   2 n! m! / (n + m)!, that all of one run lie above all of the other if both are draws of one law
//
// A verdict needs three things: ranges of repetitions that do not overlap; a chance of at most 1 % of that, so five
// repetitions each (4 and 4: 2 / 70, 5 and 5: 2 / 252); and a ratio beyond `threshold`, since code and data lie at
// different addresses in two runs of one program, which repetitions inside a run do not show. At the least number of
// repetitions, about one of a hundred unchanged benchmarks still gets a verdict by chance: run again.
#pragma once

#include <string>
#include <vector>

#include <draftproof/bench/results/results.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof::benchmarks {

enum class Change { faster, slower, within_noise, too_few, only_old, only_new, skipped };

struct Compared {
  std::string name;
  Change change;
  double ratio = 0;  ///< of the first four kinds of change
  Spread old_spread{}, new_spread{};
};

inline constexpr double largest_chance = 0.01;

/// The chance of the table above for n and m repetitions.
double chance_of_separation(std::size_t n, std::size_t m);

/// Returns one entry per benchmark, in the order of the old run, then the new ones. `threshold` 0.05: ratios from
/// 1 / 1.05 to 1.05 are noise.
std::vector<Compared> compare(const Results& old_run, const Results& new_run, double threshold);

Document report_comparison(const std::vector<Compared>& compared, const std::string& old_file,
                           const std::string& new_file, double threshold);

}  // namespace draftproof::benchmarks
