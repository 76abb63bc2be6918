#include <draftproof/bench/studies/order_search.hpp>

#include <algorithm>
#include <stdexcept>

#include <draftproof/bench/studies/positions.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/properties/blocks/run_blocks.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/proof/shrink.hpp>

namespace draftproof {

namespace {

struct SchemeInfo {
  std::string_view name;
  Rational (*closed)(const std::vector<Rational>& p, const std::vector<Rational>& q, int drafts) = nullptr;
  std::string_view distribution{};  ///< draft sampling that is enumerated, if there is no closed form
  bool enumerated = false;          ///< whether a value needs an enumeration, whose branches grow in number like V^K
};
constexpr std::array<SchemeInfo, scheme_count> infos{
    {{"sample_and_match", &acceptance::sample_and_match<Rational>},
     {"naive_tree", &acceptance::naive_tree<Rational>},
     {"recursive_rejection", &acceptance::recursive_rejection<Rational>},
     {"recursive_rejection_distinct", nullptr, "iid", true},
     {"k_seq"},
     {"optimum_iid", &acceptance::optimum<Rational>},
     {"sample_and_match_wor", nullptr, {}, true},
     {"recursive_rejection_wor", nullptr, "without_replacement", true},
     {"optimum_wor", nullptr, {}, true},
     {"greedy_drafts", nullptr, "greedy", true}}};
const SchemeInfo& info_of(Scheme scheme) { return infos[static_cast<std::size_t>(scheme)]; }

}  // namespace

std::string_view to_text(Scheme scheme) { return info_of(scheme).name; }

Acceptances::Acceptances(const Instance& instance)
    : rows_{instance.rows()},
      p_{normalised(instance.target)},
      q_{normalised(instance.proposals.front())},
      drafts_{instance.drafts} {}

bool Acceptances::defined(Scheme scheme) const {
  return scheme != Scheme::greedy_drafts || drafts_ <= static_cast<int>(p_.size());
}

const Rational& Acceptances::of(Scheme scheme) {
  auto& known = known_[static_cast<std::size_t>(scheme)];
  if (!known) known = computed(scheme);
  return *known;
}

int Acceptances::compare(Scheme a, Scheme b) {
  if (a == b) return 0;
  if (b == Scheme::k_seq) return acceptance::compare_with_k_seq(of(a), p_, q_, drafts_);
  if (a == Scheme::k_seq) return -acceptance::compare_with_k_seq(of(b), p_, q_, drafts_);
  return of(a).compare(of(b));
}

double Acceptances::approximately(Scheme scheme) {
  if (scheme != Scheme::k_seq) return static_cast<double>(of(scheme));
  std::vector<double> p, q;
  for (const Rational& value : p_) p.push_back(static_cast<double>(value));
  for (const Rational& value : q_) q.push_back(static_cast<double>(value));
  return acceptance::k_seq(p, q, drafts_);
}

Rational Acceptances::computed(Scheme scheme) {
  const SchemeInfo& info = info_of(scheme);
  if (info.closed) return info.closed(p_, q_, drafts_);
  if (!info.distribution.empty()) {
    const auto decider = registry().verifier(info.name)->prove_on(rows_, drafts_);
    const auto found = explore_distribution(*registry().drafter(info.distribution), *decider, rows_, drafts_);
    if (!found.complete || found.output != p_) throw std::logic_error("a proof of a scheme of ours failed");
    return found.draft_emitted;
  }
  if (scheme == Scheme::k_seq) throw std::logic_error("the acceptance of K-SEQ at its root is no fraction");
  if (scheme == Scheme::optimum_wor) return cut_optimum<Rational>(p_, sets_without_replacement());
  Rational matched = 0;
  for (const auto& [set, probability] : sets_without_replacement())
    for (std::size_t x = 0; x < p_.size(); ++x)
      if (set >> x & 1) matched += probability * p_[x];
  return matched;
}

const std::map<TokenSet, Rational>& Acceptances::sets_without_replacement() {
  if (sets_.empty())
    sets_ = set_distribution<Rational>([this](Explorer<Rational>& random, Token* out) {
      return registry().drafter("without_replacement")->draw(rows_, drafts_, random, out);
    });
  return sets_;
}

namespace {

std::vector<int> weights(InstanceRng& dice, int vocabulary, int most) {
  std::vector<int> row(static_cast<std::size_t>(vocabulary));
  for (int& weight : row) weight = dice.between(1, most);
  return row;
}

constexpr std::size_t families = 7;

WeightPair family_pair(std::size_t family, InstanceRng& dice, int vocabulary, int drafts) {
  const auto any = [&] { return static_cast<std::size_t>(dice.between(0, vocabulary - 1)); };
  if (family < 2) {
    WeightPair pair = tight_pair(dice, vocabulary, drafts);
    if (family == 1)  // nearly
      for (int& weight : pair.target) weight = std::max(0, weight + dice.between(-1, 1));
    return pair;
  }
  if (family == 2) {  // one hot
    WeightPair pair{weights(dice, vocabulary, 20), weights(dice, vocabulary, 3)};
    pair.proposal[any()] = 200;
    return pair;
  }
  if (family == 3) {  // spiked
    WeightPair pair{weights(dice, vocabulary, 3), weights(dice, vocabulary, 10)};
    auto& q = pair.proposal;
    for (int& weight : q) weight += 10;
    pair.target[static_cast<std::size_t>(std::max_element(q.begin(), q.end()) - q.begin())] = 100;
    return pair;
  }
  const std::vector<int> q = weights(dice, vocabulary, family == 4 ? 40 : family == 5 ? 20 : 9);
  WeightPair pair{q, q};
  if (family == 4) {  // reversed
    std::reverse(pair.target.begin(), pair.target.end());
  } else if (family == 5) {  // sharpened
    for (int& weight : pair.target) weight *= weight;
  } else {  // nudged
    ++pair.target[any()];
    --pair.target[any()];
  }
  return pair;
}

}  // namespace

WeightPair tight_pair(InstanceRng& dice, int vocabulary, int drafts) {
  const std::vector<int> q = weights(dice, vocabulary, 5);  // exact: 40^4 fits an int
  std::vector<int> p;
  int sum = 0, before = 0;
  for (const int weight : q) {
    sum += weight;
    int power = 1;
    for (int k = 0; k < drafts; ++k) power *= sum;
    p.push_back(power - before);
    before = power;
  }
  return {p, q};
}

Instance order_instance(std::uint64_t seed, std::uint64_t n) {
  const auto& generators = registry().generators();
  const std::size_t family = n % (generators.size() + families);
  InstanceRng dice(seed, n);
  Instance instance;
  instance.drafts = dice.between(1, 4);
  const int vocabulary = dice.between(2, 8);
  WeightPair pair = family < generators.size()
                        ? generators[family].weights(dice, vocabulary)
                        : family_pair(family - generators.size(), dice, vocabulary, instance.drafts);
  // A row must not be all zeros, since it is normalised.
  for (auto* row : {&pair.target, &pair.proposal})
    if (std::all_of(row->begin(), row->end(), [](int weight) { return weight == 0; }))
      (*row)[static_cast<std::size_t>(dice.between(0, vocabulary - 1))] = 1;
  instance.target = std::move(pair.target);
  instance.proposals.push_back(std::move(pair.proposal));
  return instance;
}

OrderTally& OrderTally::operator+=(const OrderTally& later) {
  if (greater == 0) greater_at = later.greater_at;
  if (later.ratio < ratio) {
    ratio = later.ratio;
    least_at = later.least_at;
  }
  less += later.less;
  equal += later.equal;
  greater += later.greater;
  return *this;
}

namespace {

constexpr std::uint64_t enumerated_every = 20, most_tuples = 256, wave = 512;

bool small(const Instance& instance) {
  std::uint64_t tuples = 1;
  for (int k = 0; k < instance.drafts; ++k) tuples *= static_cast<std::uint64_t>(instance.vocabulary());
  return tuples <= most_tuples;
}

/// The tallies of a range of instances; the tallies of orders come before the tallies of crossings.
struct Seen {
  std::uint64_t first = 0, instances = 0;
  std::vector<OrderTally> tallies{};

  static auto fields(auto& s) { return std::tie(s.first, s.instances, s.tallies); }

  /// Adds the tallies of later instances.
  Seen& operator+=(const Seen& later) {
    instances += later.instances;
    for (std::size_t c = 0; c < tallies.size(); ++c) tallies[c] += later.tallies[c];
    return *this;
  }
};

/// Returns the pairs of schemes of all claims.
std::vector<std::pair<Scheme, Scheme>> pairs_of(const std::vector<OrderClaim>& orders,
                                                const std::vector<CrossingClaim>& crossings) {
  std::vector<std::pair<Scheme, Scheme>> pairs;
  for (const OrderClaim& claim : orders) pairs.emplace_back(claim.lower, claim.upper);
  for (const CrossingClaim& claim : crossings) pairs.emplace_back(claim.first, claim.second);
  return pairs;
}

Seen examine(std::uint64_t n, const std::vector<std::pair<Scheme, Scheme>>& pairs, std::size_t orders,
             std::uint64_t seed) {
  const Instance instance = order_instance(seed, n);
  // Enumerates one instance in `enumerated_every`. Adding n / enumerated_every shifts the choice, so that instances of
  // every family are enumerated.
  const bool all = (n + n / enumerated_every) % enumerated_every == 0 && small(instance);
  Acceptances at(instance);
  Seen seen{n, 1, std::vector<OrderTally>(pairs.size())};
  for (std::size_t c = 0; c < pairs.size(); ++c) {
    const auto [a, b] = pairs[c];
    if (!(all || !(info_of(a).enumerated || info_of(b).enumerated)) || !at.defined(a) || !at.defined(b)) continue;
    const int sign = at.compare(a, b);
    OrderTally& tally = seen.tallies[c];
    tally = {.less = sign<0, .equal = sign == 0, .greater = sign> 0, .least_at = n, .greater_at = n};
    if (sign < 0 && c < orders) tally.ratio = at.approximately(a) / at.approximately(b);
  }
  return seen;
}

/// Returns the simplest instance with the property `keeps`, found from `instance` by successive shrinks.
template <class Keeps>
std::string shrunk(Instance instance, Keeps keeps, const StudyOptions& options) {
  return shrink(std::move(instance), {.stopped = [&] { return options.stopped(); }}, keeps).smallest.text();
}

/// Shrinks the instances of a tally.
void simplify(OrderTally& tally, const OrderClaim& claim, const StudyOptions& options) {
  const auto compared = [&](Acceptances& at) {
    return at.defined(claim.lower) && at.defined(claim.upper) ? at.compare(claim.lower, claim.upper) : 0;
  };
  const auto still_greater = [&](const Instance& instance) {
    Acceptances at(instance);
    return compared(at) > 0;
  };
  const auto no_closer = [&](const Instance& instance) {
    Acceptances at(instance);
    if (compared(at) >= 0) return false;
    const double ratio = at.approximately(claim.lower) / at.approximately(claim.upper);
    if (ratio > tally.ratio) return false;
    tally.ratio = ratio;
    return true;
  };
  if (tally.greater > 0)
    tally.refutation = shrunk(order_instance(options.seed, tally.greater_at), still_greater, options);
  if (tally.ratio < 1) tally.least = shrunk(order_instance(options.seed, tally.least_at), no_closer, options);
}

}  // namespace

OrderSearch search_orders(const std::vector<OrderClaim>& orders, const std::vector<CrossingClaim>& crossings,
                          std::uint64_t instances, const StudyOptions& options) {
  const auto pairs = pairs_of(orders, crossings);
  std::uint64_t searched = 0;
  const auto examine_block = [&](const BlockTask& task) {
    const std::uint64_t first = task.block * wave, count = std::min(wave, instances - first);
    std::vector<Seen> at(count);
    for_each_position(options, count,
                      [&](std::size_t i) { at[i] = examine(first + i, pairs, orders.size(), options.seed); });
    Seen seen{first, 0, std::vector<OrderTally>(pairs.size())};
    if (options.stopped()) return seen;  // drops the whole block: which instances are finished depends on the threads
    for (const Seen& one : at) seen += one;
    options.tell(searched += count, instances);
    return seen;
  };
  const BlockPlan plan{"order_of_schemes", (instances + wave - 1) / wave};
  Seen seen{0, 0, std::vector<OrderTally>(pairs.size())};
  for (const Seen& block : map_blocks(options.checkpoint, plan, options.stop, examine_block)) {
    // After a stop only the instances before the first unfinished block are used.
    if (block.first != seen.instances) break;
    seen += block;
  }
  OrderSearch search;
  search.instances = seen.instances;
  if (computes_part(options.checkpoint)) return search;
  search.complete = search.instances == instances;
  for (std::size_t c = 0; c < orders.size(); ++c) simplify(seen.tallies[c], orders[c], options);
  const auto middle = seen.tallies.begin() + static_cast<std::ptrdiff_t>(orders.size());
  search.orders.assign(seen.tallies.begin(), middle);
  search.crossings.assign(middle, seen.tallies.end());
  if (options.stopped()) search.complete = false;  // the stop may have ended the shrinking of instances early
  return search;
}

}  // namespace draftproof
