#include <draftproof/studies/order_search.hpp>

#include <algorithm>
#include <exception>

#include <draftproof/properties/blocks/run_blocks.hpp>
#include <draftproof/sim/trials/run_trials.hpp>
#include <draftproof/studies/order_instances.hpp>

namespace draftproof {

namespace {

constexpr int not_asked = 2;
constexpr std::uint64_t walked_every = 20, most_tuples = 256, wave = 512;

struct Outcome {
  std::vector<int> orders, crossings;  ///< -1, 0, 1 or not_asked
  std::vector<double> ratios;
};

double ratio_of(Acceptances& at, const OrderClaim& claim) {
  return at.approximately(claim.lower) / at.approximately(claim.upper);
}

bool small(const Instance& instance) {
  std::uint64_t tuples = 1;
  for (int k = 0; k < instance.drafts; ++k) tuples *= static_cast<std::uint64_t>(instance.vocabulary());
  return tuples <= most_tuples;
}

Outcome examine(const Instance& instance, bool walk, const std::vector<OrderClaim>& orders,
                const std::vector<CrossingClaim>& crossings) {
  Acceptances at(instance);
  const auto compare = [&](Scheme a, Scheme b) {
    const bool asked = (walk || !(is_lifted(a) || is_lifted(b))) && at.defined(a) && at.defined(b);
    return asked ? at.compare(a, b) : not_asked;
  };
  Outcome outcome;
  for (const OrderClaim& claim : orders) {
    outcome.orders.push_back(compare(claim.lower, claim.upper));
    outcome.ratios.push_back(outcome.orders.back() == -1 ? ratio_of(at, claim) : 1);
  }
  for (const CrossingClaim& claim : crossings) outcome.crossings.push_back(compare(claim.first, claim.second));
  return outcome;
}

/// The simplest instance with the property `keeps`, found from `instance` by successive shrinks.
template <class Keeps>
std::string shrunk(Instance instance, Keeps keeps, const StudyOptions& options) {
  for (bool moved = true; moved && !options.stopped();) {
    moved = false;
    for (Instance& candidate : shrinks(instance)) {
      if (!keeps(candidate)) continue;
      instance = std::move(candidate);
      moved = true;
      break;
    }
  }
  return instance.text();
}

/// Examines instances first .. first + count - 1. Returns nothing if the search was stopped meanwhile, because the
/// set of finished instances then depends on the threads.
std::vector<Outcome> examine_wave(std::uint64_t first, std::size_t count, const std::vector<OrderClaim>& orders,
                                  const std::vector<CrossingClaim>& crossings, const StudyOptions& options) {
  std::vector<Outcome> outcomes(count);
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic, 16) num_threads(options.threads > 0 ? options.threads : default_threads())
  for (std::size_t i = 0; i < count; ++i) {
    if (options.stopped()) continue;
    try {
      const std::uint64_t n = first + i;
      const Instance instance = order_instance(options.seed, n);
      // n / walked_every shifts the selection, so that every family is enumerated at times.
      const bool walk = (n + n / walked_every) % walked_every == 0 && small(instance);
      outcomes[i] = examine(instance, walk, orders, crossings);
    } catch (...) {
#pragma omp critical(order_search_failure)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  if (options.stopped()) outcomes.clear();
  return outcomes;
}

/// The tally of one order, with the numbers of the instances that attain it.
struct Tallied {
  OrderTally tally{};
  std::uint64_t least = 0, refutation = 0;

  static auto fields(auto& t) {
    return std::tie(t.tally.less, t.tally.equal, t.tally.greater, t.tally.ratio, t.least, t.refutation);
  }

  void add(int sign, double ratio, std::uint64_t n) {
    tally.less += sign == -1;
    tally.equal += sign == 0;
    if (sign == 1 && tally.greater++ == 0) refutation = n;
    if (ratio < tally.ratio) {
      tally.ratio = ratio;
      least = n;
    }
  }

  /// Adds what was seen of later instances.
  void add(const Tallied& later) {
    tally.less += later.tally.less;
    tally.equal += later.tally.equal;
    if (later.tally.greater > 0 && tally.greater == 0) refutation = later.refutation;
    tally.greater += later.tally.greater;
    if (later.tally.ratio < tally.ratio) {
      tally.ratio = later.tally.ratio;
      least = later.least;
    }
  }

  void simplify(const OrderClaim& claim, const StudyOptions& options) {
    const auto still_greater = [&](const Instance& instance) {
      Acceptances at(instance);
      return at.defined(claim.lower) && at.defined(claim.upper) && at.compare(claim.lower, claim.upper) > 0;
    };
    const auto no_closer = [&](const Instance& instance) {
      Acceptances at(instance);
      if (!at.defined(claim.lower) || !at.defined(claim.upper) || at.compare(claim.lower, claim.upper) >= 0)
        return false;
      const double ratio = ratio_of(at, claim);
      if (ratio > tally.ratio) return false;
      tally.ratio = ratio;
      return true;
    };
    if (tally.greater > 0)
      tally.refutation = shrunk(order_instance(options.seed, refutation), still_greater, options);
    if (tally.ratio < 1) tally.least = shrunk(order_instance(options.seed, least), no_closer, options);
  }
};

/// What was seen on a range of instances: the record of a block.
struct Seen {
  std::uint64_t first = 0, instances = 0;
  std::vector<Tallied> orders{};
  std::vector<CrossingTally> crossings{};

  static auto fields(auto& s) { return std::tie(s.first, s.instances, s.orders, s.crossings); }

  void add(const Outcome& outcome, std::uint64_t n) {
    for (std::size_t c = 0; c < orders.size(); ++c) orders[c].add(outcome.orders[c], outcome.ratios[c], n);
    for (std::size_t c = 0; c < crossings.size(); ++c) {
      crossings[c].first_more += outcome.crossings[c] == 1;
      crossings[c].equal += outcome.crossings[c] == 0;
      crossings[c].second_more += outcome.crossings[c] == -1;
    }
  }

  /// Adds what was seen of later instances.
  void add(const Seen& later) {
    instances += later.instances;
    for (std::size_t c = 0; c < orders.size(); ++c) orders[c].add(later.orders[c]);
    for (std::size_t c = 0; c < crossings.size(); ++c) {
      crossings[c].first_more += later.crossings[c].first_more;
      crossings[c].equal += later.crossings[c].equal;
      crossings[c].second_more += later.crossings[c].second_more;
    }
  }
};

}  // namespace

OrderSearch search_orders(const std::vector<OrderClaim>& orders, const std::vector<CrossingClaim>& crossings,
                          std::uint64_t instances, const StudyOptions& options) {
  std::uint64_t told = 0;
  const auto examine_block = [&](const BlockTask& task) {
    const std::uint64_t first = task.block * wave, count = std::min(wave, instances - first);
    Seen seen{first, 0, std::vector<Tallied>(orders.size()), std::vector<CrossingTally>(crossings.size())};
    for (const Outcome& outcome : examine_wave(first, count, orders, crossings, options))
      seen.add(outcome, first + seen.instances++);
    options.tell(told += seen.instances, instances);
    return seen;
  };
  const BlockPlan plan{"order_of_schemes", (instances + wave - 1) / wave};
  Seen seen{0, 0, std::vector<Tallied>(orders.size()), std::vector<CrossingTally>(crossings.size())};
  for (const Seen& block : map_blocks(options.checkpoint, plan, options.stop, examine_block)) {
    if (block.first != seen.instances) break;  // after a stop: the instances before it
    seen.add(block);
  }
  OrderSearch search;
  search.instances = seen.instances;
  if (computes_part(options.checkpoint)) return search;
  search.complete = search.instances == instances;
  search.crossings = seen.crossings;
  for (std::size_t c = 0; c < orders.size(); ++c) {
    seen.orders[c].simplify(orders[c], options);
    search.orders.push_back(std::move(seen.orders[c].tally));
  }
  if (options.stopped()) search.complete = false;  // possibly while instances were being shrunk
  return search;
}

}  // namespace draftproof
