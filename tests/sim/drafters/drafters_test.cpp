// Every drafter draws from the law that it declares: its explored tuples against a second implementation of the
// definition, and its sets against the closed forms.
#include <bit>
#include <functional>
#include <map>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/optimum/set_law.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/statistics/interval.hpp>

namespace draftproof {
namespace {

using Tuple = std::vector<Token>;
using TupleLaw = std::map<Tuple, Rational>;
using Row = std::vector<Rational>;

TupleLaw explored(std::string_view name, const Instance& instance) {
  const auto rows = instance.rows();
  TupleLaw law;
  Tuple tuple;
  Explorer<Rational> explorer;
  EXPECT_TRUE(explorer.explore(
      [&](Explorer<Rational>& random) {
        Token out[max_drafts];
        const int count = registry().drafter(name)->draw(rows, instance.drafts, random, out);
        tuple.assign(out, out + count);
        return Verdict{0, none_accepted};
      },
      [&](const Leaf<Rational>& leaf) { law[tuple] += leaf.probability; }));
  return law;
}

/// The law of the next draft after `tuple`; empty if there is none.
using Next = std::function<Row(const std::vector<Row>& q, const Tuple& tuple)>;

void extend(const Next& next, const std::vector<Row>& q, int drafts, const Tuple& tuple, const Rational& reached,
            TupleLaw& law) {
  const Row row = static_cast<int>(tuple.size()) < drafts ? next(q, tuple) : Row{};
  if (row.empty()) {
    law[tuple] += reached;
    return;
  }
  for (std::size_t x = 0; x < row.size(); ++x)
    if (row[x] > 0) {
      Tuple longer = tuple;
      longer.push_back(static_cast<Token>(x));
      extend(next, q, drafts, longer, reached * row[x], law);
    }
}

Row without(Row row, const Tuple& tuple) {
  for (const Token x : tuple) row[static_cast<std::size_t>(x)] = 0;
  return row;
}
Row scaled_to_one(Row row) {
  const Rational total = std::accumulate(row.begin(), row.end(), Rational(0));
  if (total == 0) return {};
  for (Rational& weight : row) weight /= total;
  return row;
}
Row uniform_without(std::size_t size, const Tuple& tuple) {
  return scaled_to_one(without(Row(size, Rational(1)), tuple));
}
/// The most probable token outside `tuple`, the lowest of equals.
Row best_without(const Row& q, const Tuple& tuple) {
  Row row(q.size(), Rational(0));
  std::size_t best = q.size();
  for (std::size_t x = 0; x < q.size(); ++x)
    if (std::find(tuple.begin(), tuple.end(), static_cast<Token>(x)) == tuple.end() &&
        (best == q.size() || q[x] > q[best]))
      best = x;
  row[best] = 1;
  return row;
}

/// The declared laws of the specification. `drafts` is K.
Next declared(std::string_view name, int drafts) {
  if (name == "iid") return [](const auto& q, const Tuple&) { return q[0]; };
  if (name == "independent") return [](const auto& q, const Tuple& tuple) { return q[tuple.size()]; };
  if (name == "without_replacement")
    return [](const auto& q, const Tuple& tuple) { return scaled_to_one(without(q[0], tuple)); };
  if (name == "without_replacement_uniform")
    return [](const auto& q, const Tuple& tuple) {
      const Row row = scaled_to_one(without(q[0], tuple));
      return row.empty() ? uniform_without(q[0].size(), tuple) : row;
    };
  if (name == "fixed_top_k") return [](const auto& q, const Tuple& tuple) { return best_without(q[0], tuple); };
  if (name == "greedy")
    return [drafts](const auto& q, const Tuple& tuple) {
      if (static_cast<int>(tuple.size()) < drafts - 1) return best_without(q[0], tuple);
      const Row row = scaled_to_one(without(q[0], tuple));
      return row.empty() ? uniform_without(q[0].size(), tuple) : row;
    };
  return {};
}

const std::vector<std::string_view> laws{
    "iid", "independent", "without_replacement", "without_replacement_uniform", "fixed_top_k", "greedy"};

Instance with_proposals(Instance instance) {
  // A different row for every draft: the given one, rotated.
  while (std::ssize(instance.proposals) < instance.drafts) {
    auto row = instance.proposals.back();
    std::rotate(row.begin(), row.begin() + 1, row.end());
    instance.proposals.push_back(std::move(row));
  }
  return instance;
}

void expect_declared_law(std::string_view name, const Instance& given) {
  const bool several = registry().drafter(name)->info().several_proposals;
  const Instance instance = several ? with_proposals(given) : given;
  if (!registry().drafter(name)->defined(instance.vocabulary(), instance.drafts,
                                         static_cast<int>(instance.proposals.size())))
    return;
  std::vector<Row> q;
  for (const auto& row : instance.proposals) q.push_back(normalised(row));
  TupleLaw expected;
  extend(declared(name, instance.drafts), q, instance.drafts, {}, Rational(1), expected);
  ASSERT_TRUE(explored(name, instance) == expected) << name << " on " << instance.text();
}

RC_GTEST_PROP(Drafters, DrawTheLawTheyDeclare, (const Instance& instance)) {
  for (const auto name : laws) expect_declared_law(name, instance);
}

TEST(Drafters, DrawTheirLawOnTiesAndExhaustedSupports) {
  for (const char* text : {"p=(1 1 1) q=(1 1 1) K=2", "p=(1 1 1) q=(0 1 1) K=3", "p=(1 1 1 1) q=(0 0 1 0) K=3",
                           "p=(1 1) q=(0 1) K=2", "p=(1 1 1 1) q=(2 0 2 1) K=4", "p=(1 0) q=(1 0) K=1"})
    for (const auto name : laws) expect_declared_law(name, Instance::parse(text));
}

/// Pr(all drafts in S), over all S, from the explored law.
std::vector<Rational> all_inside(std::string_view name, const Instance& instance) {
  std::vector<Rational> inside(std::size_t{1} << instance.target.size(), Rational(0));
  for (const auto& [tuple, probability] : explored(name, instance)) {
    const TokenSet drafted = set_of(tuple);
    for (std::size_t set = 0; set < inside.size(); ++set)
      if ((drafted & ~set) == 0) inside[set] += probability;
  }
  return inside;
}

Rational mass(const Row& q, std::size_t set) {
  Rational sum = 0;
  for (std::size_t x = 0; x < q.size(); ++x)
    if (set >> x & 1) sum += q[x];
  return sum;
}
Rational power(Rational base, int exponent) {
  Rational product = 1;
  while (exponent-- > 0) product *= base;
  return product;
}

RC_GTEST_PROP(Drafters, SetsHaveTheirClosedForms, (Instance instance)) {
  const int drafts = instance.drafts;
  const Row q = normalised(instance.proposals.front());
  const auto iid = all_inside("iid", instance);
  for (std::size_t set = 0; set < iid.size(); ++set) RC_ASSERT(iid[set] == power(mass(q, set), drafts));
  // Pr(x drafted) is 1 - Pr(all drafts outside x).
  for (std::size_t x = 0; x < q.size(); ++x)
    RC_ASSERT(1 - iid[(iid.size() - 1) ^ (std::size_t{1} << x)] == 1 - power(1 - q[x], drafts));

  const Instance several = with_proposals(instance);
  const auto independent = all_inside("independent", several);
  for (std::size_t set = 0; set < independent.size(); ++set) {
    Rational product = 1;
    for (int k = 0; k < drafts; ++k) product *= mass(normalised(several.proposals[static_cast<std::size_t>(k)]), set);
    RC_ASSERT(independent[set] == product);
  }

  // Without replacement, K = 2: sum over S of q_i (q(S) - q_i) / (1 - q_i).
  instance.drafts = 2;
  const auto pair = all_inside("without_replacement", instance);
  for (std::size_t set = 0; set < pair.size(); ++set) {
    Rational sum = 0;
    for (std::size_t x = 0; x < q.size(); ++x)
      if (set >> x & 1) sum += q[x] == 1 ? Rational(1) : q[x] * (mass(q, set) - q[x]) / (1 - q[x]);
    RC_ASSERT(pair[set] == sum);
  }
}

// Drafters that read shared noise cannot be explored: 100,000 tuples of each are compared with the law that they
// declare. Fewer than 300 intervals of confidence 1 - 1e-12: a false alarm has probability below 1e-9 over the choice
// of the seed.
TEST(Drafters, DrawTheirLawThroughSharedNoise) {
  constexpr int trials = 100'000;
  int found = 0, intervals = 0;
  for (const auto& drafter : registry().drafters()) {
    if (!drafter->info().shared_noise()) continue;
    ++found;
    for (const char* text : {"p=(1 1 1 1) q=(1 2 3 4) K=2", "p=(1 1 1) q=(5 0 1) K=3", "p=(1 1 1) q=(1 1 1) K=2"}) {
      const Instance instance = Instance::parse(text);
      std::vector<double> q;
      for (const Rational& entry : normalised(instance.proposals.front())) q.push_back(static_cast<double>(entry));
      std::vector<Token> tokens(static_cast<std::size_t>(trials * instance.drafts));
      std::vector<int> lengths(trials);
      drafter->draw(Rows<double>(q, q), instance.drafts,
                    {13, 0, trials, instance.drafts, tokens.data(), lengths.data()});
      std::map<Tuple, std::uint64_t> counts;
      for (int t = 0; t < trials; ++t) {
        const auto start = tokens.begin() + t * instance.drafts;
        ++counts[Tuple(start, start + lengths[static_cast<std::size_t>(t)])];
      }
      const TupleLaw law = explored(drafter->info().marginal_law_of, instance);
      for (const auto& [tuple, count] : counts)
        ASSERT_TRUE(law.contains(tuple)) << drafter->info().name << " draws what its law does not, on " << text;
      for (const auto& [tuple, probability] : law) {
        const auto [low, high] = clopper_pearson(counts[tuple], trials, 1e-12);
        ASSERT_TRUE(low <= static_cast<double>(probability) && static_cast<double>(probability) <= high)
            << drafter->info().name << " on " << text << ": " << counts[tuple];
        ++intervals;
      }
    }
  }
  EXPECT_GE(found, 3);
  EXPECT_LT(intervals, 300);
}

TEST(Drafters, AreWalkedByTheLawTheyDeclare) {
  for (const auto& drafter : registry().drafters()) {
    if (!drafter->info().shared_noise()) continue;
    ASSERT_TRUE(registry().drafter(drafter->info().marginal_law_of)) << drafter->info().name;
    const Instance instance = Instance::parse("p=(1 1 1) q=(5 0 1) K=3");
    EXPECT_TRUE(explored(drafter->info().name, instance) == explored(drafter->info().marginal_law_of, instance));
  }
}

}  // namespace
}  // namespace draftproof
