// The prover's results for one verifier under one draft law, and the share of instances that show a mutant.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/proof/level.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/sim/random/explorer.hpp>

namespace draftproof {

class Checkpoint;

struct ProofOptions {
  int instances = 0;  ///< per verifier and draft law; 0: the level's default
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  ExplorerLimits limits{};
  std::optional<Tier> tier = Tier::proof;  ///< restricts to properties of this tier; nothing: all tiers
  std::string property{};                  ///< restricts to this property; empty: all
  const std::atomic<bool>* stop = nullptr;
  bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
  /// Called by one thread at a time with the number of instances that are done, and that of all.
  std::function<void(std::size_t, std::size_t)> progress{};
  Checkpoint* checkpoint = nullptr;  ///< of blocks of instances
};

/// Total variation of the output law to the target, over the instances that were walked completely.
template <class Instance>
struct DistanceOf {
  Rational largest = 0;
  Instance instance{};  ///< the first instance with the largest distance
  int off = 0;          ///< number of instances with a positive distance
};

template <class Level>
struct ProofOf {
  using Distance = DistanceOf<typename Level::Instance>;

  const typename Level::Verifier* verifier = nullptr;
  const typename Level::Drafter* drafter = nullptr;
  int instances = 0;                ///< number of instances examined
  bool complete = true;             ///< false after a stop: instances are missing, and nothing is proved
  std::uint64_t leaves = 0;         ///< number of branches walked
  double seconds = 0;               ///< wall clock
  std::vector<Finding> findings{};  ///< one for each property that applies, in the registry's order
  std::optional<Distance> distance{};

  /// Whether the verifier can be explored, so that its output law is decided.
  bool provable() const { return verifier->info().unsupported.explore.empty(); }
  /// Whether a property that decides losslessness held on every instance, and none is missing.
  bool exact() const {
    return complete && std::any_of(Level::decisive.begin(), Level::decisive.end(),
                                   [this](auto property) { return held(property); });
  }
  /// Whether the scheme's promise held on every instance. For a verifier that cannot be explored: whether every
  /// property that was asked held, and at least one was asked.
  bool kept() const {
    if (!complete) return false;
    if (provable()) return exact() || held("within_tau");
    const auto asked = [](const Finding& finding) { return finding.status != Status::skipped; };
    return std::any_of(findings.begin(), findings.end(), asked) &&
           std::all_of(findings.begin(), findings.end(), [&asked](const Finding& finding) {
             return !asked(finding) || finding.status == Status::held;
           });
  }
  /// Whether the scheme is lossy by design and a decisive property is violated.
  bool lossy() const {
    return verifier->info().promise == Promise::lossy &&
           std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
             return decisive(finding.property) && finding.status == Status::violated;
           });
  }
  /// A violated finding, decisive properties first; null if there is none.
  const Finding* violation() const {
    // Losslessness comes first in a report.
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

/// The combined status of the proofs. Mutants and lossy schemes do not count.
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

// The share of generated instances that show a mutant: how much of its finding depends on the seed.
//
// Correctness: a mutant that one instance in ten shows escapes 240 instances with probability 1e-11, and a set of 20
// seeds that has it missed by none.

struct ShownShare {
  static constexpr int least_in = 10;      ///< at least one instance in this many must show a mutant
  static constexpr int least_listed = 10;  ///< or this many cases of a list that has each pair of settings

  int shown = 0, asked = 0;
  bool listed =
      false;  ///< whether the cases are such a list, in which few are about one pair, and not a random sample

  static auto fields(auto& share) { return std::tie(share.shown, share.asked, share.listed); }
  /// Whether enough instances show it; true where none was asked.
  bool enough() const { return least_in * shown >= asked || (listed && shown >= least_listed); }
};

}  // namespace draftproof
