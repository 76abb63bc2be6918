#include <draftproof/studies/order_search.hpp>

#include <algorithm>
#include <exception>

#include <draftproof/sim/trials/run_trials.hpp>
#include <draftproof/studies/order_instances.hpp>

namespace draftproof {

namespace {

constexpr int not_asked = 2;
constexpr std::uint64_t walked_every = 20, most_tuples = 256, wave = 2048;

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

}  // namespace

OrderSearch search_orders(const std::vector<OrderClaim>& orders, const std::vector<CrossingClaim>& crossings,
                          std::uint64_t instances, const StudyOptions& options) {
  OrderSearch search;
  search.crossings.resize(crossings.size());
  std::vector<Tallied> tallied(orders.size());
  while (search.instances < instances) {
    const std::uint64_t first = search.instances, count = std::min(wave, instances - first);
    const auto outcomes = examine_wave(first, count, orders, crossings, options);
    if (outcomes.empty()) {
      search.complete = false;
      break;
    }
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      for (std::size_t c = 0; c < orders.size(); ++c)
        tallied[c].add(outcomes[i].orders[c], outcomes[i].ratios[c], first + i);
      for (std::size_t c = 0; c < crossings.size(); ++c) {
        search.crossings[c].first_more += outcomes[i].crossings[c] == 1;
        search.crossings[c].equal += outcomes[i].crossings[c] == 0;
        search.crossings[c].second_more += outcomes[i].crossings[c] == -1;
      }
    }
    search.instances += count;
    options.tell(search.instances, instances);
  }
  for (std::size_t c = 0; c < orders.size(); ++c) {
    tallied[c].simplify(orders[c], options);
    search.orders.push_back(std::move(tallied[c].tally));
  }
  if (options.stopped()) search.complete = false;  // possibly while instances were being shrunk
  return search;
}

}  // namespace draftproof
