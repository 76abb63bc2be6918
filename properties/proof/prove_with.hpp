// The prover, for positions and paths. Examines instances in parallel, checks each property on each instance,
// and shrinks the first failure of each property. Findings depend on the instances and not on threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <omp.h>

#include <fmt/format.h>

#include <draftproof/properties/blocks/run_blocks.hpp>
#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/proof/proof.hpp>
#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/proof/shrink.hpp>
#include <draftproof/sim/trials/for_each_index.hpp>

namespace draftproof {

template <class Level>
class Prover {
 public:
  using Verifier = typename Level::Verifier;
  using Drafter = typename Level::Drafter;
  using Instance = typename Level::Instance;
  using InstanceAnalysis = typename Level::InstanceAnalysis;
  using Property = PropertyOf<Level>;

  Prover(const Verifier& verifier, const Drafter& drafter, const ProofOptions& options)
      : verifier_{verifier}, drafter_{drafter}, options_{options} {}

  /// Returns the proof on these instances. Instance n is from family n % `families`; a property with `every` > 1
  /// (property.hpp) is checked on one instance in `every` of each family. Throws: any exception of a check except
  /// std::logic_error, which counts as a failure of the property.
  ProofOf<Level> examine(std::span<const Instance> instances, std::size_t families) const {
    const auto start = std::chrono::steady_clock::now();
    Progress progress{.all = instances.size()};
    return proof_of(
        examine_range(instances, families, 0, threads(), progress), [&] { return instances; }, start);
  }

  /// Returns the proof on the instances that `make` returns, `wanted` or fewer, in blocks.
  ProofOf<Level> examine(const std::function<std::vector<Instance>()>& make, int wanted, std::size_t families) const {
    const auto start = std::chrono::steady_clock::now();
    const auto all = static_cast<std::size_t>(wanted);
    const std::size_t size = block_size(options_.checkpoint, all, std::is_same_v<Level, TokenLevel> ? 64 : 32);
    std::vector<Instance> instances;  // filled once, by the first thread that needs an instance
    std::once_flag made;
    const auto known = [&]() -> std::span<const Instance> {
      std::call_once(made, [&] { instances = make(); });
      return instances;
    };
    Progress progress{.all = all};
    const BlockPlan plan{
        .name =
            fmt::format("{} {} on {} at {}", Level::name, verifier_.info().name, drafter_.info().name,
                        options_.tier ? fmt::format("tier {}", to_text(*options_.tier)) : std::string("every tier")),
        .blocks = (all + size - 1) / size,
        .threads = threads()};
    const auto ranges = map_blocks(options_.checkpoint, plan, options_.stop, [&](const BlockTask& task) {
      const std::span<const Instance> here = known();
      const std::size_t first = std::min(here.size(), task.block * size);
      return examine_range(here.subspan(first, std::min(size, here.size() - first)), families, first, task.threads,
                           progress);
    });
    Range sum{.complete = ranges.size() == plan.blocks, .properties = Counts(properties_asked().size())};
    for (const Range& range : ranges) sum.add(range);
    return proof_of(sum, known, start);
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

  /// Checks a property. An exception is a failure of the property: std::logic_error, thrown at a branch of probability
  /// zero, and exceptions of the verifier.
  static Answer ask(const Property& property, InstanceAnalysis& at) {
    try {
      return property.check(at);
    } catch (const EnumerationCut& cut) {
      return Answer::undecided(cut.what());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return Answer::failed(error.what());
    } catch (...) {
      return Answer::failed("the verifier threw an object that is not a std::exception");
    }
  }

  static bool asked_of(const Property& property, const Verifier& verifier, const Drafter& drafter) {
    return property.applies(verifier, drafter) && (!property.explores || verifier.info().unsupported.explore.empty());
  }

  /// Returns the total variation of the output distribution to the target; nullopt if it cannot be computed.
  static std::optional<Rational> distance_at(InstanceAnalysis& at) {
    if (!at.verifier().info().unsupported.explore.empty()) return std::nullopt;
    try {
      return Level::distance(at);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {  // as in ask(), or EnumerationCut; a finding reports it
      return std::nullopt;
    }
  }

  /// Returns the finding of a failure, with the shrunk instance.
  Finding violation_of(const Property& property, const Instance& instance, std::string evidence) const {
    const std::string smallest = shrunk(property, instance, evidence).text(), name(property.name);
    return finding_of(
        name, property.tier, Answer::failed(std::move(evidence)), 0, smallest,
        replay_line(
            "replay", verifier_.info().name,
            {{"draft-sampling", std::string(drafter_.info().name)}, {"property", name}, {"instance", smallest}}));
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

  /// The results of one property on a range of instances. Instances after the first failure are not counted.
  struct Count {
    int passed = 0, undecided = 0;
    std::optional<std::uint64_t> failed{};  ///< number of the first instance on which the property failed
    std::string evidence{};  ///< evidence of this failure; without a failure, why the last instance is undecided

    static auto fields(auto& c) { return std::tie(c.passed, c.undecided, c.failed, c.evidence); }
    void add(const Count& later) {
      if (failed) return;
      passed += later.passed;
      undecided += later.undecided;
      failed = later.failed;
      if (failed || !later.evidence.empty()) evidence = later.evidence;
    }
  };
  using Counts = std::vector<Count>;
  /// The total variation between output and target on a range of instances.
  struct Distance {
    int off = 0;
    Rational largest = 0;
    std::uint64_t instance = 0;  ///< number of the first instance with the largest distance

    static auto fields(auto& d) { return std::tie(d.off, d.largest, d.instance); }
    void add(const Distance& later) {
      off += later.off;
      if (later.largest > largest) largest = later.largest, instance = later.instance;
    }
  };
  /// The results on a range of instances. Adding consecutive ranges in order gives the results on the range of all
  /// their instances.
  struct Range {
    int instances = 0;
    std::uint64_t leaves = 0;
    bool complete = true;
    Counts properties{};
    std::optional<Distance> distance{};

    static auto fields(auto& r) { return std::tie(r.instances, r.leaves, r.complete, r.properties, r.distance); }
    void add(const Range& later) {
      instances += later.instances;
      leaves += later.leaves;
      complete = complete && later.complete;
      for (std::size_t i = 0; i < properties.size(); ++i) properties[i].add(later.properties.at(i));
      if (!later.distance) return;
      if (!distance) distance.emplace();
      distance->add(*later.distance);
    }
  };
  struct Progress {
    std::atomic<std::size_t> done{0};
    std::size_t all = 0;
  };

  int threads() const { return threads_of(options_.threads); }

  /// `first` is the number of the first instance in the range.
  Range examine_range(std::span<const Instance> instances, std::size_t families, std::size_t first, int threads,
                      Progress& progress) const {
    const std::vector<const Property*> properties = properties_asked();
    std::vector<InstanceResult> results(instances.size());
    const auto done = for_each_index(
        instances.size(), threads, [&] { return options_.stopped(); },
        [&](std::size_t n) {
          if (!InstanceAnalysis::possible(verifier_, drafter_, instances[n])) return;
          results[n] = result_on(instances[n], properties, (first + n) / families);
          ++progress.done;
          if (!options_.progress) return;
#pragma omp critical(proof_progress)
          options_.progress(progress.done, progress.all);
        });

    const bool complete = std::find(done.begin(), done.end(), 0) == done.end();
    Range range{.complete = complete, .properties = Counts(properties.size())};
    for (std::size_t n = 0; n < results.size(); ++n) {
      const InstanceResult& result = results[n];
      range.instances += !result.answers.empty();
      range.leaves += result.leaves;
      for (std::size_t i = 0; i < result.answers.size(); ++i)
        range.properties[i].add(count_of(result.answers[i], first + n));
      if (!result.distance) continue;
      if (!range.distance) range.distance.emplace();
      range.distance->add({*result.distance > 0, *result.distance, first + n});
    }
    return range;
  }

  static Count count_of(const Answer& answer, std::uint64_t instance) {
    const auto is = [&answer](Status status) { return answer.status == status; };
    Count count{.passed = is(Status::passed), .undecided = is(Status::undecided)};
    if (is(Status::failed)) count.failed = instance;
    if (count.failed || count.undecided) count.evidence = answer.evidence;
    return count;
  }

  /// Returns the proof from the results on all instances. Calls `instances()` only if it needs an instance.
  ProofOf<Level> proof_of(const Range& range, const std::function<std::span<const Instance>()>& instances,
                          std::chrono::steady_clock::time_point start) const {
    ProofOf<Level> proof{.verifier = &verifier_,
                         .drafter = &drafter_,
                         .instances = range.instances,
                         .complete = range.complete,
                         .leaves = range.leaves};
    const std::vector<const Property*> properties = properties_asked();
    for (std::size_t i = 0; i < properties.size(); ++i) {
      const Count& count = range.properties[i];
      const Status status = count.undecided > 0 ? Status::undecided
                            : count.passed > 0  ? Status::passed
                                                : Status::skipped;
      Finding finding = count.failed
                            ? violation_of(*properties[i], instances()[*count.failed], count.evidence)
                            : finding_of(properties[i]->name, properties[i]->tier, {status, count.evidence}, 0);
      finding.work = range.leaves;
      finding.passed = count.passed;
      finding.undecided = count.undecided;
      proof.findings.push_back(std::move(finding));
    }
    if (const auto& distance = range.distance) {
      proof.distance.emplace();
      proof.distance->off = distance->off;
      proof.distance->largest = distance->largest;
      if (distance->largest > 0) proof.distance->instance = instances()[distance->instance];
    }
    for (const Finding& finding : proof.findings) note_shown(finding, proof.distance);
    proof.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return proof;
  }

  /// Updates the largest distance with the distance on the shrunk counterexample, which may be larger.
  void note_shown(const Finding& finding, std::optional<DistanceOf<Instance>>& distance) const {
    if (!distance || finding.status != Status::failed) return;
    const Instance shown = Instance::parse(finding.instance);
    InstanceAnalysis at(verifier_, drafter_, shown, options_.limits);
    const auto here = distance_at(at);
    if (!here || *here <= distance->largest) return;
    distance->largest = *here;
    distance->instance = shown;
  }

  /// Shrinks to a smaller instance that still fails the property, and then to the smallest weights of its shape.
  Instance shrunk(const Property& property, const Instance& instance, std::string& evidence) const {
    const ShrinkOptions search{.small_weights = true, .stopped = [this] { return options_.stopped(); }};
    Shrunk<Instance> found = shrink(instance, search, [&](const Instance& candidate) {
      if (!InstanceAnalysis::possible(verifier_, drafter_, candidate)) return false;
      InstanceAnalysis at(verifier_, drafter_, candidate, options_.limits);
      Answer answer = ask(property, at);
      if (answer.status != Status::failed) return false;
      evidence = std::move(answer.evidence);
      return true;
    });
    evidence += found.note();
    return std::move(found.smallest);
  }

  const Verifier& verifier_;
  const Drafter& drafter_;
  const ProofOptions& options_;
};

}  // namespace draftproof
