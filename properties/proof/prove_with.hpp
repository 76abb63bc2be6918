// The body of the prover, over a level. It examines instances in parallel, asks each property of each instance, and
// shrinks the first violation of each property. Findings depend on the instances and not on threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <omp.h>

#include <fmt/format.h>

#include <draftproof/properties/blocks/ledger.hpp>
#include <draftproof/properties/instances/minimal_weights.hpp>
#include <draftproof/properties/proof/proof.hpp>
#include <draftproof/properties/proof/proof_record.hpp>
#include <draftproof/properties/proof/property.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

template <class Level>
class Prover {
 public:
  using Verifier = typename Level::Verifier;
  using Drafter = typename Level::Drafter;
  using Instance = typename Level::Instance;
  using InstanceAnalysis = typename Level::InstanceAnalysis;
  using Property = PropertyOf<Level>;
  using Finding = FindingOf<Instance>;

  Prover(const Verifier& verifier, const Drafter& drafter, const ProofOptions& options)
      : verifier_{verifier}, drafter_{drafter}, options_{options} {}

  /// Instance n is from family n % `families`; a property with `every` > 1 meets every family in turn. `first` is the
  /// number of the first of these instances.
  /// Throws: the exception of an instance, other than std::logic_error from a property.
  ProofOf<Level> examine(std::span<const Instance> instances, std::size_t families, std::size_t first = 0,
                         bool part = false) const {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<const Property*> properties = properties_asked();

    std::vector<InstanceResult> results(instances.size());
    const int threads = options_.threads > 0 ? options_.threads : default_threads();
    std::exception_ptr failure;
    std::atomic<bool> complete = !options_.stopped();
    std::atomic<std::size_t> done = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (std::size_t n = 0; n < instances.size(); ++n) {
      if (options_.stopped()) {
        complete = false;
        continue;
      }
      if (!InstanceAnalysis::possible(verifier_, drafter_, instances[n])) continue;
      try {
        results[n] = result_on(instances[n], properties, (first + n) / families);
      } catch (...) {
#pragma omp critical
        failure = std::current_exception();
      }
      ++done;
      if (!options_.progress) continue;
#pragma omp critical(proof_progress)
      options_.progress(done, instances.size());
    }
    if (failure) std::rethrow_exception(failure);

    ProofOf<Level> proof{.verifier = &verifier_, .drafter = &drafter_, .complete = complete};
    for (const InstanceResult& result : results) {
      proof.instances += !result.answers.empty();
      proof.leaves += result.leaves;
    }
    for (std::size_t column = 0; column < properties.size(); ++column)
      proof.findings.push_back(summarise(*properties[column], column, instances, results));
    proof.distance = largest_distance(instances, results);
    // Of a part only the instances count: which violation is shown, and shrunk, is known when all parts are.
    for (const Finding& finding : proof.findings)
      if (!part) note_shown(finding, proof.distance);
    proof.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return proof;
  }

  /// The proof that examine() gives of `wanted` or fewer instances, in blocks of the ledger of the options; of the known
  /// blocks alone in a run that has a part of them. `make` returns the instances.
  ProofOf<Level> examine_blocks(const std::function<std::vector<Instance>()>& make, int wanted,
                                std::size_t families) const {
    const auto start = std::chrono::steady_clock::now();
    constexpr std::size_t size = std::is_same_v<Level, TokenLevel> ? 64 : 32;  // instances of a block
    const std::size_t blocks = (static_cast<std::size_t>(wanted) + size - 1) / size;
    ProofOf<Level> proof{.verifier = &verifier_, .drafter = &drafter_};
    for (const Property* property : properties_asked()) proof.findings.push_back({.property = property->name});
    ProofOptions inside = options_;
    inside.progress = {};
    inside.threads = options_.threads > 0 ? options_.threads : default_threads();
    const int together = options_.ledger->together(blocks, inside.threads);
    if (together > 1) inside.threads = 1;
    const Prover prover(verifier_, drafter_, inside);
    std::vector<Instance> instances;  // made once, by a process that has a block
    std::once_flag made;
    const std::string group =
        fmt::format("{} {} on {} at {}", Level::name, verifier_.info().name, drafter_.info().name,
                    options_.tier ? fmt::format("tier {}", to_text(*options_.tier)) : std::string("every tier"));
    options_.ledger->run(
        group, blocks, 0, together, [&](std::uint64_t block, std::uint64_t) -> std::optional<BlockResult> {
          std::call_once(made, [&] { instances = make(); });
          const std::size_t first = std::min(instances.size(), block * size);
          const std::span<const Instance> range =
              std::span<const Instance>(instances).subspan(first, std::min(size, instances.size() - first));
          const ProofOf<Level> part = prover.examine(range, families, first, true);
          if (options_.stopped()) return std::nullopt;
          return BlockResult{.record = proof_record(part)};
        });
    const auto& records = options_.ledger->group(group).records;
    for (const auto& [block, record] : records) add_proof_record(record, proof);
    proof.complete = records.size() == blocks;
    if (!options_.ledger->partial())
      for (const Finding& finding : proof.findings) note_shown(finding, proof.distance);
    proof.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return proof;
  }

 protected:
  std::vector<const Property*> properties_asked() const {
    std::vector<const Property*> properties;
    for (const Property& property : Level::properties())
      if (asked(property) && asked_of(property, verifier_, drafter_)) properties.push_back(&property);
    return properties;
  }

  bool asked(const Property& property) const {
    return (!options_.tier || *options_.tier == property.tier) &&
           (options_.property.empty() || options_.property == property.name);
  }

  /// A walk that reaches a branch of probability zero counts as a violation of the property.
  static Answer ask(const Property& property, InstanceAnalysis& at) {
    try {
      return property.check(at);
    } catch (const EnumerationCut& cut) {
      return Answer::undecided(cut.what());
    } catch (const std::logic_error& error) {
      return Answer::violated(error.what());
    }
  }

  static bool asked_of(const Property& property, const Verifier& verifier, const Drafter& drafter) {
    return property.applies(verifier, drafter) && (!property.explores || verifier.info().unsupported.explore.empty());
  }

  /// Total variation of the output law to the target; nothing if it cannot be computed.
  static std::optional<Rational> distance_at(InstanceAnalysis& at) {
    if (!at.verifier().info().unsupported.explore.empty()) return std::nullopt;
    try {
      return Level::distance(at);
    } catch (const std::logic_error&) {  // a branch of probability zero or a cut enumeration, which a finding reports
      return std::nullopt;
    }
  }

  /// The finding of a violation, with the shrunk instance.
  Finding violation_of(const Property& property, const Instance& instance, std::string evidence) const {
    Finding finding{.property = property.name, .status = Status::violated, .evidence = std::move(evidence)};
    finding.instance = shrink(property, instance, finding.evidence);
    finding.replay =
        fmt::format("{} replay {} --law {} --property {} --instance '{}'", program_name(), verifier_.info().name,
                    drafter_.info().name, property.name, finding.instance->text());
    return finding;
  }

  /// Whether the property decides losslessness.
  static bool decides(const Property& property) {
    return std::find(Level::decisive.begin(), Level::decisive.end(), property.name) != Level::decisive.end();
  }

  const Verifier& verifier() const { return verifier_; }
  const Drafter& drafter() const { return drafter_; }
  const ProofOptions& options() const { return options_; }

 private:
  /// The answers of one instance, one for each property.
  struct InstanceResult {
    std::vector<Answer> answers;
    std::optional<Rational> distance{};
    std::uint64_t leaves = 0;
  };

  InstanceResult result_on(const Instance& instance, const std::vector<const Property*>& properties,
                           std::size_t turn) const {
    InstanceResult result;
    InstanceAnalysis at(verifier_, drafter_, instance, options_.limits);
    for (const Property* property : properties)
      result.answers.push_back(turn % static_cast<std::size_t>(property->every) == 0 ? ask(*property, at)
                                                                                     : Answer::not_applicable());
    if (!options_.tier || *options_.tier == Tier::proof) result.distance = distance_at(at);
    result.leaves = at.leaves();
    return result;
  }

  static std::optional<DistanceOf<Instance>> largest_distance(std::span<const Instance> instances,
                                                              const std::vector<InstanceResult>& results) {
    std::optional<DistanceOf<Instance>> distance;
    for (std::size_t n = 0; n < results.size(); ++n) {
      const auto& here = results[n].distance;
      if (!here) continue;
      if (!distance) distance.emplace();
      distance->off += *here > 0;
      if (*here <= distance->largest) continue;
      distance->largest = *here;
      distance->instance = instances[n];
    }
    return distance;
  }

  /// Takes the counterexample that is shown into the largest distance: shrinking may lead to a larger one.
  void note_shown(const Finding& finding, std::optional<DistanceOf<Instance>>& distance) const {
    if (!distance || !finding.instance || finding.status != Status::violated) return;
    InstanceAnalysis at(verifier_, drafter_, *finding.instance, options_.limits);
    const auto here = distance_at(at);
    if (!here || *here <= distance->largest) return;
    distance->largest = *here;
    distance->instance = *finding.instance;
  }

  /// Greedy descent: the first smaller instance that still violates, until there is none; then the lightest of its
  /// shape.
  Instance shrink(const Property& property, Instance instance, std::string& evidence) const {
    const auto step = [&](const std::vector<Instance>& candidates) {
      for (const Instance& candidate : candidates) {
        if (!InstanceAnalysis::possible(verifier_, drafter_, candidate)) continue;
        InstanceAnalysis at(verifier_, drafter_, candidate, options_.limits);
        if (const Answer answer = ask(property, at); answer.status == Answer::Status::violated) {
          instance = candidate;
          evidence = answer.evidence;
          return true;
        }
      }
      return false;
    };
    while (step(shrinks(instance))) continue;
    step(of_small_weights(instance));
    return instance;
  }

  Finding summarise(const Property& property, std::size_t column, std::span<const Instance> instances,
                    const std::vector<InstanceResult>& results) const {
    Finding finding{.property = property.name};
    for (std::size_t n = 0; n < results.size(); ++n) {
      if (results[n].answers.empty()) continue;
      const Answer& answer = results[n].answers[column];
      if (answer.status == Answer::Status::held) ++finding.held;
      if (answer.status == Answer::Status::undecided) {
        ++finding.undecided;
        finding.evidence = answer.evidence;
      }
      if (answer.status == Answer::Status::violated) {
        Finding violated = violation_of(property, instances[n], answer.evidence);
        violated.held = finding.held;
        violated.undecided = finding.undecided;
        return violated;
      }
    }
    if (finding.held > 0)
      finding.status = finding.undecided > 0 ? Status::undecided : Status::held;
    else
      finding.status = finding.undecided > 0 ? Status::undecided : Status::skipped;
    return finding;
  }

  const Verifier& verifier_;
  const Drafter& drafter_;
  const ProofOptions& options_;
};

}  // namespace draftproof
