// The null hypothesis of the statistical gate at one position: the distribution of an exact verifier, and the
// evidence of counts against it.
//
//   cells               (path, token), for the suite of properties/statistics/gate_suite.hpp
//   serial_dependence   pairs of token groups of two successive trials
//   drafts              tokens of draft k, K rows of V; empty if the distribution of a draft is not its proposal
//   draft_emitted       tokens among the drafts, against the optimum's upper bound
//
// Cost: one pass over the rows to construct, one over the counts for the evidence. Immutable: threads share it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <draftproof/properties/statistics/gate_suite.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// The counts of a gate.
struct SampledCounts {
  GateCounts cells;
  std::vector<std::uint64_t> serial_dependence{}, drafts{};
  std::uint64_t trials = 0, draft_emitted = 0, impossible = 0;

  static auto fields(auto& c) {
    return std::tie(c.cells, c.serial_dependence, c.drafts, c.trials, c.draft_emitted, c.impossible);
  }
  SampledCounts& operator+=(const SampledCounts& other) {
    cells += other.cells;
    for (std::size_t i = 0; i < serial_dependence.size(); ++i) serial_dependence[i] += other.serial_dependence[i];
    for (std::size_t i = 0; i < drafts.size(); ++i) drafts[i] += other.drafts[i];
    trials += other.trials;
    draft_emitted += other.draft_emitted;
    impossible += other.impossible;
    return *this;
  }
};

class SampledNull {
 public:
  /// The null for `scheme`, with its path distribution if a closed form is known for this drafter.
  SampledNull(std::string_view scheme, const AnyDrafter& drafter, const RatioTable& table, int drafts);

  /// Returns all-zero counts of the right shape.
  SampledCounts nothing() const;
  /// Returns the index of the cell of two successive tokens, in 0 .. groups()^2 - 1.
  std::size_t pair(Token a, Token b) const;
  /// Returns the number of token groups.
  static std::size_t groups();
  /// Returns the group of every token.
  std::span<const std::uint32_t> group_of_tokens() const { return groups_; }
  /// Whether the tokens of drafts are counted.
  bool sees_drafts() const { return !drafts_.empty(); }
  const GateSuite& suite() const { return suite_; }
  const std::vector<double>& target() const { return target_; }
  /// Returns the optimum's upper bound, if known.
  const std::optional<double>& optimum() const { return optimum_; }

  /// Returns the components of the evidence, whose weights sum to 1. `exposure` and `pairs` are the planned numbers of
  /// trials and of pairs.
  std::vector<GateComponent> evidence(const SampledCounts& counts, double exposure, double pairs) const;

 private:
  std::vector<double> pair_distribution() const;

  std::vector<double> target_, proposal_;
  GateSuite suite_;
  std::vector<std::uint32_t> groups_;
  ETable neighbours_;
  std::vector<ETable> drafts_;
  std::optional<double> optimum_;
};

}  // namespace draftproof
