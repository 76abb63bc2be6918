// The prover's results for one verifier with one draft sampling, and the share of instances that reveal a mutant.
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
  int instances = 0;  ///< instances per verifier and draft sampling; 0: the level's default
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  ExplorerLimits limits{};
  std::optional<Tier> tier = Tier::proof;  ///< tier of the properties to check; nullopt: all tiers
  std::string property{};                  ///< name of the only property to check; empty: all properties
  const std::atomic<bool>* stop = nullptr;
  bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
  /// Called by one thread at a time with the number of instances that are done and the number of all instances.
  std::function<void(std::size_t, std::size_t)> progress{};
  Checkpoint* checkpoint = nullptr;  ///< stores the blocks of instances
};

/// Total variation of the output distribution to the target, over the completely enumerated instances.
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
  bool complete = true;             ///< false after an interrupt: instances are missing, and nothing is proved
  std::uint64_t leaves = 0;         ///< number of branches enumerated
  double seconds = 0;               ///< elapsed wall-clock time
  std::vector<Finding> findings{};  ///< for each property that applies, in the registry's order
  std::optional<Distance> distance{};

  /// Whether the verifier can be enumerated, so that its output distribution is decided.
  bool provable() const { return verifier->info().unsupported.explore.empty(); }
  /// Whether a property that decides losslessness passed on every instance, and no instance is missing.
  bool exact() const {
    return complete && std::any_of(Level::decisive.begin(), Level::decisive.end(),
                                   [this](auto property) { return passed(property); });
  }
  /// Whether the scheme's promise holds on every instance. For a verifier that cannot be enumerated: whether
  /// every property that was checked passed, and at least one was checked.
  bool kept() const {
    if (!complete) return false;
    if (provable()) return exact() || passed("within_tau");
    const auto asked = [](const Finding& finding) { return finding.status != Status::skipped; };
    return std::any_of(findings.begin(), findings.end(), asked) &&
           std::all_of(findings.begin(), findings.end(), [&asked](const Finding& finding) {
             return !asked(finding) || finding.status == Status::passed;
           });
  }
  /// Whether the scheme is lossy by design and a decisive property failed.
  bool lossy() const {
    return verifier->info().promise == Promise::lossy &&
           std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
             return decisive(finding.property) && finding.status == Status::failed;
           });
  }
  /// Returns a failed finding, if possible of a decisive property; null if no finding failed.
  const Finding* violation() const {
    const Finding* found = nullptr;
    for (const Finding& finding : findings)
      if (finding.status == Status::failed && (!found || decisive(finding.property))) found = &finding;
    return found;
  }

 private:
  bool passed(std::string_view property) const {
    return std::any_of(findings.begin(), findings.end(), [property](const Finding& finding) {
      return finding.property == property && finding.status == Status::passed;
    });
  }
  static bool decisive(std::string_view property) {
    return std::find(Level::decisive.begin(), Level::decisive.end(), property) != Level::decisive.end();
  }
};

/// Returns the combined status of the proofs. Proofs of mutants and lossy schemes are ignored.
template <class Level>
Status status_of(const std::vector<ProofOf<Level>>& proofs) {
  Status status = Status::passed;
  for (const ProofOf<Level>& proof : proofs) {
    if (proof.verifier->kind() != Kind::verifier) continue;
    if (proof.violation()) return Status::failed;
    if (!proof.kept()) status = Status::undecided;
  }
  return status;
}

// The share of generated instances that reveal a mutant. The smaller the share, the more it depends on the seed
// whether the mutant is found.
//
// Correctness: a mutant that one instance in ten reveals is missed by 240 instances with probability 1e-11, so
// practically every one of 20 seeds finds it.

struct ShownShare {
  static constexpr int least_in = 10;      ///< at least one instance in `least_in` must reveal a mutant
  static constexpr int least_listed = 10;  ///< or this number of cases, if the cases list pairs of settings

  int shown = 0, asked = 0;
  bool listed = false;  ///< whether the cases list pairs of settings instead of being random; each pair then has few
                        ///< cases

  static auto fields(auto& share) { return std::tie(share.shown, share.asked, share.listed); }
  /// Whether enough instances reveal the mutant; true if no instance was checked.
  bool enough() const { return least_in * shown >= asked || (listed && shown >= least_listed); }
};

}  // namespace draftproof
