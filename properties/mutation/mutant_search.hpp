// The search for a mutant's smallest counterexample, for positions or paths. It examines instances from small
// to large, checks each property on them until that property fails, and shrinks each property's first failure. Unlike
// a proof it stops early.
//
// Order within an instance: the properties that decide losslessness, the other proofs, edge checks, trials. A
// property that varies its instance may fail before the distribution is wrong on the instance itself, so the
// search continues until a decisive property fails. The other properties then get `further` more instances.
// Trials are not run after the first failure, because they cost more and add nothing.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/proof/proof.hpp>
#include <draftproof/properties/proof/prove_with.hpp>

namespace draftproof {

template <class Level>
struct SearchResult {
  std::vector<Finding> findings{};  ///< one for each property; `work` counts branches until its failure
  int first = -1;                   ///< index of the first failed finding, or -1
  int decided = -1;                 ///< index of the failed finding that decides losslessness, or -1
  int instances = 0;                ///< number of instances examined
  std::uint64_t leaves = 0;         ///< branches enumerated, over all instances
  std::optional<DistanceOf<typename Level::Instance>> distance{};
  double seconds = 0;
};

/// The search for one mutant. search_mutants() requires instances sorted from small to large, share() requires
/// instances in the order in which they were generated.
template <class Level>
class MutantSearch : private Prover<Level> {
  using Base = Prover<Level>;

 public:
  using typename Base::Drafter;
  using typename Base::Instance;
  using typename Base::InstanceAnalysis;
  using typename Base::Property;
  using typename Base::Verifier;

  using Base::Base;

  SearchResult<Level> search_mutants(const std::vector<Instance>& instances, int further) const {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<const Property*> properties = in_order();
    SearchResult<Level> found;
    for (const Property* property : properties)
      found.findings.push_back({.property = std::string(property->name), .tier = property->tier});
    int left = further;
    for (const Instance& instance : instances) {
      if (this->options().stop && this->options().stop->load(std::memory_order_relaxed)) break;
      if (!InstanceAnalysis::possible(this->verifier(), this->drafter(), instance)) continue;
      if (found.decided >= 0 && left-- == 0) break;
      ++found.instances;
      examine(instance, properties, found);
    }
    found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return found;
  }

  /// Returns on how many of `instances` a property other than a trial fails, which reveals the mutant. Only failures on
  /// the instance itself count, not failures on varied instances.
  ShownShare share(const std::vector<Instance>& instances) const {
    const std::vector<const Property*> properties = in_order();
    ShownShare share;
    for (const Instance& instance : instances) {
      if (this->options().stop && this->options().stop->load(std::memory_order_relaxed)) break;
      if (!InstanceAnalysis::possible(this->verifier(), this->drafter(), instance)) continue;
      InstanceAnalysis at(this->verifier(), this->drafter(), instance, this->options().limits);
      ++share.asked;
      share.shown += std::any_of(properties.begin(), properties.end(), [&at](const Property* property) {
        return property->tier != Tier::sampled && Base::ask(*property, at).status == Status::failed;
      });
    }
    return share;
  }

 private:
  std::vector<const Property*> in_order() const {
    std::vector<const Property*> properties;
    for (const Property& property : Level::properties())
      if (Base::asked_of(property, this->verifier(), this->drafter())) properties.push_back(&property);
    std::stable_sort(properties.begin(), properties.end(), [](const Property* a, const Property* b) {
      const auto key = [](const Property& property) { return std::pair(property.tier, !Base::decides(property)); };
      return key(*a) < key(*b);
    });
    return properties;
  }

  void examine(const Instance& instance, const std::vector<const Property*>& properties,
               SearchResult<Level>& found) const {
    InstanceAnalysis at(this->verifier(), this->drafter(), instance, this->options().limits);
    const std::uint64_t before = found.leaves;
    for (std::size_t n = 0; n < properties.size(); ++n) {
      Finding& finding = found.findings[n];
      if (finding.status == Status::failed) continue;
      if (found.first >= 0 && finding.tier == Tier::sampled) continue;
      const auto answer = Base::ask(*properties[n], at);
      found.leaves = before + at.leaves();
      if (answer.status == Status::failed) {
        finding = this->violation_of(*properties[n], instance, answer.evidence);
        finding.work = found.leaves;
        if (found.first < 0) found.first = static_cast<int>(n);
        if (found.decided < 0 && Base::decides(*properties[n])) found.decided = static_cast<int>(n);
      } else if (answer.status == Status::passed && finding.status == Status::skipped) {
        finding.status = Status::passed;
      } else if (answer.status == Status::undecided) {
        finding.status = Status::undecided;
        finding.evidence = answer.evidence;
      }
    }
    if (const auto distance = Base::distance_at(at)) note(*distance, instance, found.distance);
    found.leaves = before + at.leaves();
  }

  static void note(const Rational& distance, const Instance& instance, std::optional<DistanceOf<Instance>>& largest) {
    if (!largest) largest.emplace();
    largest->off += distance > 0;
    if (distance <= largest->largest) return;
    largest->largest = distance;
    largest->instance = instance;
  }
};

}  // namespace draftproof
