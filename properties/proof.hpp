// What the prover finds out about one verifier under one draft law.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include <draftproof/properties/finding.hpp>
#include <draftproof/properties/level.hpp>
#include <draftproof/sim/explorer.hpp>

namespace draftproof {

struct ProofOptions {
  int instances = 0;  ///< per verifier and draft law; 0: as many as the level takes
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  ExplorerLimits limits{};
  const std::atomic<bool>* stop = nullptr;
};

template <class Level>
struct ProofOf {
  using Finding = FindingOf<typename Level::Instance>;

  const typename Level::Verifier* verifier = nullptr;
  const typename Level::Drafter* drafter = nullptr;
  int instances = 0;                ///< examined
  std::uint64_t leaves = 0;         ///< branches walked
  double seconds = 0;               ///< wall clock
  std::vector<Finding> findings{};  ///< one per property that applies, in the registry's order

  /// What decides losslessness held on every instance.
  bool exact() const {
    return std::any_of(Level::decisive.begin(), Level::decisive.end(),
                       [this](auto property) { return held(property); });
  }
  /// What the scheme promises of its law held on every instance.
  bool kept() const { return exact() || held("within_tau"); }
  /// The first, or null.
  const Finding* violation() const {
    // Losslessness first: it is what the reader came for.
    const Finding* found = nullptr;
    for (const Finding& finding : findings)
      if (finding.status == Status::violated && (!found || decisive(finding.property))) found = &finding;
    return found;
  }

 private:
  bool held(std::string_view property) const {
    return std::any_of(findings.begin(), findings.end(), [property](const Finding& finding) {
      return finding.property == property && finding.status == Status::held;
    });
  }
  static bool decisive(std::string_view property) {
    return std::find(Level::decisive.begin(), Level::decisive.end(), property) != Level::decisive.end();
  }
};

}  // namespace draftproof
