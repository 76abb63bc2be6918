#include <draftproof/properties/simulation/device_parity.hpp>

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include <draftproof/properties/simulation/sampled_trials.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

namespace {

/// Compares counters by name, up to the first that differs.
class Comparison {
 public:
  void one(const char* name, std::uint64_t device, std::uint64_t host) {
    if (found_.empty() && device != host)
      found_ = fmt::format("{}: {} on the device, {} on the CPU", name, device, host);
  }
  /// `place` returns the name of the counter with this index.
  template <class Place>
  void each(std::span<const std::uint64_t> device, std::span<const std::uint64_t> host, const Place& place) {
    if (!found_.empty()) return;
    if (device.size() != host.size()) return one("number of counters", device.size(), host.size());
    const auto [at, wanted] = std::mismatch(device.begin(), device.end(), host.begin());
    if (at == device.end()) return;
    one(place(static_cast<std::size_t>(at - device.begin())).c_str(), *at, *wanted);
  }
  std::string result() && { return std::move(found_); }

 private:
  std::string found_{};
};

/// Returns the verdict of one trial, from its tally.
std::string verdict_text(const Tally& tally) {
  if (tally.impossible > 0) return "a branch of probability zero";
  const auto counted = [](const auto& counts) { return std::find(counts.begin(), counts.end(), 1u); };
  const auto token = counted(tally.histogram);
  const auto draft = counted(tally.by_draft);
  return fmt::format(
      "{}, {}",
      token == tally.histogram.end() ? "no token" : fmt::format("token {}", token - tally.histogram.begin()),
      draft == tally.by_draft.end() ? "no draft accepted"
                                    : fmt::format("draft {} accepted", draft - tally.by_draft.begin() + 1));
}

/// Returns the difference in one trial: between the verdicts, or between the counters if the verdicts agree.
std::string difference_of_one(const Tally& device, const Tally& host) {
  const std::string there = verdict_text(device), here = verdict_text(host);
  return there == here ? first_difference(device, host) : fmt::format("{} on the device, {} on the CPU", there, here);
}

/// Runs the same trials on the device and on the CPU.
class BothSides {
 public:
  BothSides(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& table, const TrialTable& on,
            int drafts, const ParityOptions& options)
      : verifier_{verifier}, drafter_{drafter}, table_{table}, on_{on}, drafts_{drafts}, options_{options} {}

  DeviceTrials trials(std::uint64_t first, std::uint64_t count) const {
    return {verifier_, drafter_, drafts_, options_.seed, options_.first + first, count};
  }
  TrialBudget budget(std::uint64_t count) const {
    return {.trials = count, .threads = options_.threads, .stop = options_.stop};
  }
  Tally there(std::uint64_t first, std::uint64_t count) const { return on_.tally(trials(first, count), true); }
  Tally here(std::uint64_t first, std::uint64_t count) const {
    return simulate(Simulation{verifier_, drafter_, drafts_, options_.seed, options_.first + first, true}, table_,
                    budget(count));
  }
  SampledCounts counted_there(const SampledNull& null, std::uint64_t count) const {
    SampledCounts counts = null.nothing();
    on_.count(trials(0, count), null, count / 2, counts);
    return counts;
  }
  SampledCounts counted_here(const SampledNull& null, std::uint64_t count) const {
    const SampledTrials<RatioTable> run(verifier_, drafter_, table_, drafts_, options_.seed, options_.first);
    return run_trials(budget(count), null.nothing(),
                      [&](std::uint64_t first, std::uint64_t some, SampledCounts& into) {
                        run.count(null, 0, count / 2, first, some, into);
                      });
  }
  bool differ(std::uint64_t first, std::uint64_t count) const {
    return !first_difference(there(first, count), here(first, count)).empty();
  }
  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

 private:
  const AnyVerifier& verifier_;
  const AnyDrafter& drafter_;
  const RatioTable& table_;
  const TrialTable& on_;
  int drafts_;
  const ParityOptions& options_;
};

/// Returns the first trial with different results, found by bisection of a range with different counters. Returns
/// nullopt if that trial alone has equal results: the device then counts wrongly, or its results vary between runs.
std::optional<std::uint64_t> first_that_differs(const BothSides& sides, std::uint64_t count) {
  std::uint64_t first = 0;
  while (count > 1 && !sides.stopped()) {
    const std::uint64_t half = count / 2;
    const bool early = sides.differ(first, half);
    first += early ? 0 : half;
    count = early ? half : count - half;
  }
  if (count > 1 || !sides.differ(first, 1)) return std::nullopt;
  return first;
}

}  // namespace

std::string first_difference(const Tally& device, const Tally& host) {
  Comparison comparison;
  comparison.one("trials", device.trials, host.trials);
  comparison.one("trials that reached a branch of probability zero", device.impossible, host.impossible);
  comparison.one("drafts accepted", device.draft_accepted, host.draft_accepted);
  comparison.one("tokens among the drafts", device.draft_emitted, host.draft_emitted);
  comparison.each(device.by_draft, host.by_draft,
                  [](std::size_t k) { return fmt::format("draft {} accepted", k + 1); });
  comparison.each(device.histogram, host.histogram, [](std::size_t x) { return fmt::format("token {}", x); });
  return std::move(comparison).result();
}

std::string first_difference(const SampledCounts& device, const SampledCounts& host) {
  const std::size_t vocabulary = host.cells.vocabulary();
  Comparison comparison;
  comparison.one("trials", device.trials, host.trials);
  comparison.one("trials that reached a branch of probability zero", device.impossible, host.impossible);
  comparison.one("tokens among the drafts", device.draft_emitted, host.draft_emitted);
  comparison.each(device.cells.cells(), host.cells.cells(), [vocabulary](std::size_t i) {
    return fmt::format("path {}, token {}", i / vocabulary + 1, i % vocabulary);
  });
  comparison.each(device.drafts, host.drafts, [vocabulary](std::size_t i) {
    return fmt::format("draft {}, token {} drawn", i / vocabulary + 1, i % vocabulary);
  });
  comparison.each(device.serial_dependence, host.serial_dependence,
                  [](std::size_t i) { return fmt::format("groups {} of successive tokens", i); });
  return std::move(comparison).result();
}

DeviceParity device_parity(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& table,
                           const TrialTable& on, const SampledNull& null, int drafts, const ParityOptions& options) {
  const BothSides sides(verifier, drafter, table, on, drafts, options);
  const std::uint64_t count = options.trials;
  DeviceParity parity{.trials = count};
  parity.difference = first_difference(sides.there(0, count), sides.here(0, count));
  if (!parity.equal() && !sides.stopped()) {
    parity.trial = first_that_differs(sides, count);
    if (parity.trial) parity.alone = difference_of_one(sides.there(*parity.trial, 1), sides.here(*parity.trial, 1));
  }
  if (parity.equal())
    parity.difference = first_difference(sides.counted_there(null, count), sides.counted_here(null, count));
  if (sides.stopped()) return {};  // after an interrupt the CPU may have run fewer trials
  return parity;
}

}  // namespace draftproof
