#include <draftproof/studies/order_search.hpp>

#include <algorithm>
#include <bit>
#include <exception>

#include <nlohmann/json.hpp>

#include <draftproof/captures/json_input.hpp>
#include <draftproof/properties/blocks/ledger.hpp>
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
  std::vector<Tallied> orders;
  std::vector<CrossingTally> crossings;

  Seen(std::size_t of_orders, std::size_t of_crossings) : orders(of_orders), crossings(of_crossings) {}

  void add(const Outcome& outcome, std::uint64_t n) {
    for (std::size_t c = 0; c < orders.size(); ++c) orders[c].add(outcome.orders[c], outcome.ratios[c], n);
    for (std::size_t c = 0; c < crossings.size(); ++c) {
      crossings[c].first_more += outcome.crossings[c] == 1;
      crossings[c].equal += outcome.crossings[c] == 0;
      crossings[c].second_more += outcome.crossings[c] == -1;
    }
  }

  std::string record() const {
    nlohmann::json all = nlohmann::json::array();
    for (const Tallied& t : orders)
      all.push_back({t.tally.less, t.tally.equal, t.tally.greater, std::bit_cast<std::uint64_t>(t.tally.ratio), t.least,
                     t.refutation});
    for (const CrossingTally& t : crossings) all.push_back({t.first_more, t.equal, t.second_more});
    return all.dump();
  }

  /// Adds what record() wrote of later instances.
  void add(const std::string& record) {
    const nlohmann::json all = parse_own_json(record);
    std::size_t i = 0;
    for (Tallied& to : orders) {
      const nlohmann::json& t = all.at(i++);
      to.add({.tally = {.less = t.at(0),
                        .equal = t.at(1),
                        .greater = t.at(2),
                        .ratio = std::bit_cast<double>(t.at(3).get<std::uint64_t>())},
              .least = t.at(4),
              .refutation = t.at(5)});
    }
    for (CrossingTally& to : crossings) {
      const nlohmann::json& t = all.at(i++);
      to.first_more += t.at(0).get<std::uint64_t>();
      to.equal += t.at(1).get<std::uint64_t>();
      to.second_more += t.at(2).get<std::uint64_t>();
    }
  }
};

}  // namespace

OrderSearch search_orders(const std::vector<OrderClaim>& orders, const std::vector<CrossingClaim>& crossings,
                          std::uint64_t instances, const StudyOptions& options) {
  BlockLedger own(nullptr);
  BlockLedger& ledger = options.ledger ? *options.ledger : own;
  const std::string group = "order_of_schemes";
  std::uint64_t told = 0;
  ledger.run(group, (instances + wave - 1) / wave, 0, 1,
             [&](std::uint64_t block, std::uint64_t) -> std::optional<BlockResult> {
               const std::uint64_t first = block * wave, count = std::min(wave, instances - first);
               const auto outcomes = examine_wave(first, count, orders, crossings, options);
               if (outcomes.empty()) return std::nullopt;
               Seen seen(orders.size(), crossings.size());
               for (std::size_t i = 0; i < outcomes.size(); ++i) seen.add(outcomes[i], first + i);
               options.tell(told += count, instances);
               return BlockResult{.record = seen.record()};
             });
  OrderSearch search;
  Seen seen(orders.size(), crossings.size());
  if (ledger.partial()) return search;
  std::uint64_t next = 0;
  for (const auto& [block, record] : ledger.group(group).records) {
    if (block != next++) break;  // after a stop: the instances before it
    seen.add(record);
    search.instances = std::min(instances, next * wave);
  }
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
