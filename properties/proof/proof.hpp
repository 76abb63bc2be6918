// What the prover finds out about one verifier under one draft law.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/proof/level.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/sim/random/explorer.hpp>

namespace draftproof {

struct ProofOptions {
  int instances = 0;  ///< per verifier and draft law; 0: as many as the level takes
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  ExplorerLimits limits{};
  std::optional<Tier> tier = Tier::proof;  ///< properties of this tier alone; nothing: of all
  std::string property{};                  ///< this one alone
  const std::atomic<bool>* stop = nullptr;
};

/// How far the output law was from the target in total variation, over the instances whose tree was walked whole.
template <class Instance>
struct DistanceOf {
  Rational largest = 0;
  Instance instance{};  ///< the first on which it is the largest
  int off = 0;          ///< instances on which it is not 0
};

template <class Level>
struct ProofOf {
  using Finding = FindingOf<typename Level::Instance>;
  using Distance = DistanceOf<typename Level::Instance>;

  const typename Level::Verifier* verifier = nullptr;
  const typename Level::Drafter* drafter = nullptr;
  int instances = 0;                ///< examined
  std::uint64_t leaves = 0;         ///< branches walked
  double seconds = 0;               ///< wall clock
  std::vector<Finding> findings{};  ///< one per property that applies, in the registry's order
  std::optional<Distance> distance{};

  /// The verifier can be explored: its output law is decided.
  bool provable() const { return verifier->info().unsupported.explore.empty(); }
  /// What decides losslessness held on every instance.
  bool exact() const {
    return std::any_of(Level::decisive.begin(), Level::decisive.end(),
                       [this](auto property) { return held(property); });
  }
  /// What the scheme promises and can be asked held on every instance.
  bool kept() const {
    if (provable()) return exact() || held("within_tau");
    const auto asked = [](const Finding& finding) { return finding.status != Status::skipped; };
    return std::any_of(findings.begin(), findings.end(), asked) &&
           std::all_of(findings.begin(), findings.end(), [&asked](const Finding& finding) {
             return !asked(finding) || finding.status == Status::held;
           });
  }
  /// Lossy by design, and seen to be.
  bool lossy() const {
    return verifier->info().promise == Promise::lossy &&
           std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
             return decisive(finding.property) && finding.status == Status::violated;
           });
  }
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

/// What proofs come to together. Mutants and lossy schemes are not lossless and do not count.
template <class Level>
Status status_of(const std::vector<ProofOf<Level>>& proofs) {
  Status status = Status::held;
  for (const ProofOf<Level>& proof : proofs) {
    if (proof.verifier->kind() != Kind::verifier) continue;
    if (proof.violation()) return Status::violated;
    if (!proof.kept()) status = Status::undecided;
  }
  return status;
}

}  // namespace draftproof
