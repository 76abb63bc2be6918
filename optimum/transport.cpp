#include <draftproof/optimum/transport.hpp>

#include <ClpSimplex.hpp>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <stdexcept>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>

namespace draftproof {

double linear_program_optimum(std::span<const double> target, const std::map<TokenSet, double>& drafts) {
  // The rows of the program are the tokens x, then the sets A of drafted tokens. A column is a pair (A, x) with x in A;
  // it has an entry in the row of x and in the row of A.
  const int tokens = static_cast<int>(target.size());
  std::vector<CoinBigIndex> starts{0};
  std::vector<int> rows;
  std::vector<double> limits(target.begin(), target.end());
  for (const auto& [set, probability] : drafts) {
    const int row = static_cast<int>(limits.size());
    limits.push_back(probability);
    for (int x = 0; x < tokens; ++x) {
      if (!(set >> x & 1)) continue;
      rows.push_back(x);
      rows.push_back(row);
      starts.push_back(static_cast<CoinBigIndex>(rows.size()));
    }
  }
  const std::vector<double> ones(rows.size(), 1.0), objective(starts.size() - 1, 1.0);
  ClpSimplex simplex;
  simplex.setLogLevel(0);
  simplex.setOptimizationDirection(-1);  // maximise
  simplex.setPrimalTolerance(1e-11);
  simplex.setDualTolerance(1e-11);
  // The null arguments are bounds: the variables then range from 0 to infinity, and rows have no lower bounds.
  simplex.loadProblem(static_cast<int>(objective.size()), static_cast<int>(limits.size()), starts.data(), rows.data(),
                      ones.data(), nullptr, nullptr, objective.data(), nullptr, limits.data());
  simplex.primal();
  if (!simplex.isProvenOptimal()) throw std::runtime_error("linear program: Clp found no optimum");
  return simplex.objectiveValue();
}

namespace {

namespace mp = boost::multiprecision;
/// Integers of bounded width, because push-relabel needs std::numeric_limits<>::max; overflow throws.
using Bounded = mp::number<mp::cpp_int_backend<1024, 1024, mp::signed_magnitude, mp::checked>, mp::et_off>;

template <class Integer>
class Network {
 public:
  /// Token x is node x; the sets follow in the order of `drafts`, then the source and the sink.
  Network(const std::vector<Integer>& target, const std::vector<std::pair<TokenSet, Integer>>& drafts)
      : graph_(target.size() + drafts.size() + 2), tokens_{target.size()}, source_{tokens_ + drafts.size()} {
    for (std::size_t x = 0; x < target.size(); ++x) connect(x, sink(), target[x]);
    for (std::size_t a = 0; a < drafts.size(); ++a) {
      const auto& [set, probability] = drafts[a];
      connect(source_, target.size() + a, probability);
      for (std::size_t x = 0; x < target.size(); ++x)
        if (set >> x & 1) plan_.push_back({set, static_cast<Token>(x), connect(target.size() + a, x, probability)});
    }
  }

  Certificate<Integer> solve() {
    Certificate<Integer> result;
    result.acceptance = boost::push_relabel_max_flow(
        graph_, source_, sink(), boost::get(&Arc::capacity, graph_), boost::get(&Arc::residual, graph_),
        boost::get(&Arc::reverse, graph_), boost::get(boost::vertex_index, graph_));
    for (const auto& [set, token, arc] : plan_)
      if (const Integer mass = graph_[arc].capacity - graph_[arc].residual; mass > 0)
        result.plan.push_back({set, token, mass});
    result.cut = reachable_tokens();
    return result;
  }

 private:
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  struct Arc {
    Integer capacity{0}, residual{0};
    typename Traits::edge_descriptor reverse;
  };
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Arc>;
  using Edge = typename Traits::edge_descriptor;
  struct Planned {
    TokenSet set;
    Token token;
    Edge arc;
  };

  std::size_t sink() const { return source_ + 1; }

  Edge connect(std::size_t from, std::size_t to, const Integer& capacity) {
    const Edge there = boost::add_edge(from, to, graph_).first, back = boost::add_edge(to, from, graph_).first;
    graph_[there].capacity = capacity;
    graph_[there].reverse = back;
    graph_[back].reverse = there;
    return there;
  }

  /// Returns the tokens that are reachable from the source in the residual graph: the source's side of a least cut.
  TokenSet reachable_tokens() const {
    std::vector<char> seen(boost::num_vertices(graph_), 0);
    std::vector<std::size_t> stack{source_};
    seen[source_] = 1;
    TokenSet tokens = 0;
    while (!stack.empty()) {
      const std::size_t from = stack.back();
      stack.pop_back();
      const auto [first, last] = boost::out_edges(from, graph_);
      for (auto arc = first; arc != last; ++arc) {
        const std::size_t to = boost::target(*arc, graph_);
        if (seen[to] || !(graph_[*arc].residual > 0)) continue;
        seen[to] = 1;
        stack.push_back(to);
      }
    }
    for (std::size_t x = 0; x < tokens_; ++x)
      if (seen[x]) tokens |= TokenSet{1} << x;
    return tokens;
  }

  Graph graph_;
  std::size_t tokens_, source_;
  std::vector<Planned> plan_;
};

/// Solves the flow in integers. `to_integer` scales a weight to an integer, `to_weight` scales an integer back.
template <class Integer, class Weight, class ToInteger, class ToWeight>
Certificate<Weight> solve(std::span<const Weight> target, const std::map<TokenSet, Weight>& drafts,
                          ToInteger to_integer, ToWeight to_weight) {
  std::vector<Integer> p;
  for (const Weight& weight : target) p.push_back(to_integer(weight));
  std::vector<std::pair<TokenSet, Integer>> sets;
  for (const auto& [set, weight] : drafts) sets.emplace_back(set, to_integer(weight));
  const auto found = Network<Integer>(p, sets).solve();
  Certificate<Weight> result{to_weight(found.acceptance), found.cut, {}};
  for (const auto& [set, token, mass] : found.plan) result.plan.push_back({set, token, to_weight(mass)});
  return result;
}

}  // namespace

Certificate<Rational> optimal_transport(std::span<const Rational> target,
                                        const std::map<TokenSet, Rational>& drafts) {
  BigInteger common = 1;
  const auto include = [&](const Rational& weight) { common = mp::lcm(common, weight.big().denominator); };
  for (const Rational& weight : target) include(weight);
  for (const auto& [set, weight] : drafts) include(weight);
  // Bounded has 1024 bits, which leaves spare bits for sums, because every flow is at most the common denominator.
  if (mp::msb(common) > 1020) throw std::range_error("optimal transport: the common denominator is too long");
  const auto to_integer = [&](const Rational& weight) {
    const BigRational big = weight.big();
    return Bounded(big.numerator * (common / big.denominator));
  };
  const auto to_weight = [&](const Bounded& value) { return quotient(BigInteger(value), common); };
  return solve<Bounded>(target, drafts, to_integer, to_weight);
}

Certificate<double> optimal_transport(std::span<const double> target, const std::map<TokenSet, double>& drafts) {
  const auto to_integer = [](double weight) { return static_cast<std::int64_t>(weight * 0x1p52); };
  const auto to_weight = [](std::int64_t value) { return static_cast<double>(value) * 0x1p-52; };
  return solve<std::int64_t>(target, drafts, to_integer, to_weight);
}

}  // namespace draftproof
