// Compares the arrays of a ratio table with the arrays of the table that the host builds from the same rows, bit for
// bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <draftproof/gpu/simulation/hot_tokens.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/numeric/cut_bound.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof::parity {

/// Counts comparisons and mismatches, and prints the first mismatches.
class SameTables {
 public:
  void expect(bool same, const std::string& what, const std::string& where) {
    ++compared;
    if (same) return;
    if (++mismatches <= 20) std::printf("mismatch: %s, %s\n", what.c_str(), where.c_str());
  }

  template <class T>
  void expect_array(const T* wanted, const T* found, std::size_t size, const std::string& what,
                    const std::string& where) {
    if (std::memcmp(wanted, found, size * sizeof(T)) == 0) return expect(true, what, where);
    std::size_t i = 0;
    while (std::memcmp(wanted + i, found + i, sizeof(T)) == 0) ++i;
    expect(false, what + " at " + std::to_string(i) + " of " + std::to_string(size), where);
  }

  /// Compares the host's table with the arrays `found` and `hot`, which must lie in host memory.
  void expect_table(const RatioTable& table, const TableView& found, const gpu::HotTokens& hot,
                    const std::string& where) {
    const TableView wanted = table.view();
    const bool sizes = wanted.size == found.size && wanted.rows == found.rows &&
                       wanted.ratios.size == found.ratios.size && wanted.ratios.cells == found.ratios.cells;
    expect(sizes, "sizes", where);
    if (!sizes) return;
    const auto vocabulary = static_cast<std::size_t>(wanted.size), tokens = wanted.ratios.size;
    expect_array(wanted.probabilities, found.probabilities, vocabulary * (1 + static_cast<std::size_t>(wanted.rows)),
                 "probabilities", where);
    expect_array(wanted.tokens, found.tokens, tokens, "order", where);
    expect_array(wanted.ratios.ratios, found.ratios.ratios, tokens, "ratios", where);
    expect_array(wanted.masses, found.masses, tokens + 1, "masses", where);
    expect_array(wanted.ratios.start, found.ratios.start, wanted.ratios.cells + 1, "guide of ratios", where);
    expect_array(wanted.likeliest, found.likeliest, std::min<std::size_t>(vocabulary, max_drafts), "likeliest",
                 where);
    for (int k = 0; k < wanted.rows; ++k) {
      const ProposalView &q = wanted.proposals[k], &r = found.proposals[k];
      const std::string of = " of proposal " + std::to_string(k);
      expect(q.sums.sums == r.sums.sums && q.sums.shift == r.sums.shift, "sizes of sums" + of, where);
      expect_array(q.cells, r.cells, vocabulary, "alias cells" + of, where);
      expect_array(q.rests, r.rests, vocabulary, "alias rests" + of, where);
      expect_array(q.sums.below, r.sums.below, q.sums.sums, "sums" + of, where);
      expect_array(q.sums.guide, r.sums.guide, q.sums.guide_size(), "guide of sums" + of, where);
    }
    const gpu::ChosenHotTokens chosen = gpu::chosen_hot_tokens(wanted);
    expect(chosen.view().count == hot.count, "hot tokens", where);
    expect_array(chosen.tokens.data(), hot.tokens, chosen.tokens.size(), "hot tokens", where);
    expect_array(chosen.slot.data(), hot.slot, vocabulary, "slots", where);
  }

  void expect_optimum(const Optimum& wanted, const Optimum& found, const std::string& where) {
    expect(
        std::memcmp(&wanted.acceptance, &found.acceptance, sizeof found.acceptance) == 0 && wanted.cut == found.cut,
        "optimum " + std::to_string(wanted.acceptance) + " at " + std::to_string(wanted.cut) + ", found " +
            std::to_string(found.acceptance) + " at " + std::to_string(found.cut),
        where);
  }

  int report(const char* name) const {
    std::printf("%s: %lld comparisons, %lld mismatches\n", name, compared, mismatches);
    return mismatches == 0 && compared > 0 ? 0 : 1;
  }

  long long compared = 0, mismatches = 0;
};

/// Returns the optimum by a scan of every prefix of the table's order.
inline Optimum scanned_optimum(const RatioTable& table, int drafts) {
  Optimum best{1, table.order().size()};
  for (std::size_t j = 0; j < table.prefix().size(); ++j)
    if (const double v = cut_value(table.prefix()[j].target, table.prefix()[j].proposal, drafts); v < best.acceptance)
      best = {v, j};
  return best;
}

}  // namespace draftproof::parity
