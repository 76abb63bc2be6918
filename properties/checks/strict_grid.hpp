// Strict against non-strict comparison of uniforms. If all thresholds are multiples of 2^-b, running a decision on
// every combination of b-bit uniforms gives exactly its distribution; a `<=` in place of `<` is off by one grid cell.
//
//   b        4 bits                u = j / 16: 16 values for each draw of a decision
//   q        powers of two / 16    (8 8), (8 4 4) or (4 4 4 4) on the first tokens
//   p        q with F units of 1/16 moved from the least likely tokens of the instance's target to the likeliest;
//            F a power of two: ratios p / q and the running sums of the residual (p - q)+ / F are multiples of 1/16
//
// Cost: at K = 1 two draws, 256 runs per draft. The expected distribution is enumerated from the scheme itself
// in fractions, so lossy schemes are covered too. Schemes with branches off the grid or more than most_runs
// combinations are skipped.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>

namespace draftproof::checks {

struct StrictGrid {
  static constexpr std::string_view name = "strict_grid";
  static constexpr std::string_view about =
      "if all thresholds are multiples of 1/16, the 16 uniforms of 4 bits give exactly the distribution";
  static constexpr int every = 8;
  static constexpr Tier tier = Tier::edge;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter& drafter) {
    return verifier.takes(1) && drafter.defined(2, 1, 1);
  }

  static Answer check(InstanceAnalysis& at) {
    const Instance instance = with_dyadic_distributions(at.instance());
    if (!InstanceAnalysis::possible(at.verifier(), at.drafter(), instance)) return Answer::not_applicable();
    const auto fractions = instance.rows();
    const auto proving = at.verifier().prove_on(fractions, 1);
    const Rows<double> rows = double_distributions(instance);
    const auto playing = at.verifier().scripted_on(rows, 1);
    bool asked = false;
    for (const Tuple& tuple : possible_tuples(at.drafter(), rows, 1, 4)) {
      const auto distribution = distribution_on_grid(*proving, tuple, instance.vocabulary(), at.limits());
      if (!distribution) continue;
      const auto counted = count_on_grid(*playing, tuple, instance.vocabulary());
      if (!counted) continue;
      asked = true;
      if (*counted != *distribution)
        return Answer::failed("on " + instance.text() + ", draft " + tuple_text(tuple) + ": 4-bit uniforms give " +
                              brief(*counted) + ", the distribution is " + brief(*distribution));
    }
    return asked ? Answer::passed() : Answer::not_applicable();
  }

 private:
  static constexpr int bits = 4, cells = 1 << bits;
  static constexpr std::size_t most_runs = 1 << 13;

  static Instance with_dyadic_distributions(const Instance& instance) {
    const auto& wanted = instance.target;
    const int size = instance.vocabulary();
    Instance dyadic{.target = std::vector<int>(wanted.size(), 0), .proposals = {}, .drafts = 1};
    const std::vector<int> shape = size == 1   ? std::vector{16}
                                   : size == 2 ? std::vector{8, 8}
                                   : size == 3 ? std::vector{8, 4, 4}
                                               : std::vector{4, 4, 4, 4};
    std::vector<int> q(wanted.size(), 0);
    std::copy(shape.begin(), shape.end(), q.begin());
    // Moves mass from the half of the tokens that is less probable under the target to the other half.
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
    std::vector<int> p = q;
    const std::size_t middle = order.size() / 2;
    int to_move = std::accumulate(wanted.begin(), wanted.end(), 0) % 4;  // F = 2^0 .. 2^3
    to_move = 1 << to_move;
    int held = 0;
    for (std::size_t i = 0; i < middle; ++i) held += q[order[i]];
    while (to_move > held) to_move /= 2;
    for (int moved = 0; moved < to_move; ++moved) {
      for (std::size_t i = 0; i < middle; ++i)
        if (auto& giver = p[order[(i + static_cast<std::size_t>(moved)) % middle]]; giver > 0) {
          --giver;
          break;
        }
      // Moves the mass to two tokens in turn, because every uniform draws the same token from a residual on one token.
      const std::size_t takers = std::min<std::size_t>(2, order.size() - middle);
      ++p[order[order.size() - 1 - static_cast<std::size_t>(moved) % takers]];
    }
    dyadic.target = std::move(p);
    dyadic.proposals.assign(instance.proposals.size(), q);
    return dyadic;
  }

  static bool on_grid(const Rational& value) { return (value * cells).is_integer(); }

  /// Returns the distribution of the token given the draft; nullopt unless every branch probability is on the grid.
  /// Thresholds are then on the grid too, because at most one draw precedes the last. Throws: EnumerationCut at the
  /// limits.
  static std::optional<std::vector<Rational>> distribution_on_grid(
      const Decider<Rows<Rational>, Explorer<Rational>>& decider, const Tuple& tuple, int vocabulary,
      ExplorerLimits limits) {
    std::vector<Rational> distribution(static_cast<std::size_t>(vocabulary), Rational(0));
    limits.vocabulary = vocabulary;
    Explorer<Rational> explorer(limits);
    bool dyadic = true;
    const bool whole = explorer.explore([&](Explorer<Rational>& random) { return decider.decide(tuple, random); },
                                        [&](const Leaf<Rational>& leaf) {
                                          dyadic = dyadic && on_grid(leaf.probability);
                                          if (leaf.verdict.token >= 0)
                                            distribution[static_cast<std::size_t>(leaf.verdict.token)] +=
                                                leaf.probability;
                                          for (const auto& [token, weight] : leaf.spread) {
                                            const Rational share = weight / leaf.spread_total;
                                            dyadic = dyadic && on_grid(share);
                                            distribution[static_cast<std::size_t>(token)] += leaf.probability * share;
                                          }
                                        });
    if (!whole) throw EnumerationCut("the enumeration reached its limit");
    if (!dyadic) return std::nullopt;
    return distribution;
  }

  /// Random bits from a list of 4-bit digits, one digit per draw; a draw beyond the last digit appends a digit 0.
  class Grid final : public AddressedWords {
   public:
    explicit Grid(std::vector<int>& digits) : digits_{digits} {}

   protected:
    std::uint64_t word_of(Purpose, std::uint32_t) override {
      const std::size_t n = addressed().size();
      if (n == digits_.size()) digits_.push_back(0);
      return static_cast<std::uint64_t>(digits_[n]) << (64 - bits);
    }

   private:
    std::vector<int>& digits_;
  };

  /// Returns the distribution of the token over all combinations of grid values; nullopt if there are too many
  /// combinations or two draws come before the last.
  static std::optional<std::vector<Rational>> count_on_grid(const Decider<Rows<double>, Scripted>& decider,
                                                            const Tuple& tuple, int vocabulary) {
    std::map<std::pair<Token, std::size_t>, int> runs;  // by token and number of draws
    std::vector<int> digits;
    for (std::size_t count = 0;; ++count) {
      if (count == most_runs) return std::nullopt;
      Grid words(digits);
      const ScriptedDecision played = run_scripted(decider, tuple, words);
      const Verdict verdict = played.verdict;
      // Skips schemes that draw a token with several random numbers, as in a race, instead of by running sums.
      const auto emits = [](const Draw& draw) { return draw.purpose == Purpose::emit; };
      const auto last = std::count_if(played.draws.begin(), played.draws.end(), emits);
      if (words.addressed().size() > 2 || last > 1) return std::nullopt;
      digits.resize(words.addressed().size());
      ++runs[{verdict.token, digits.size()}];
      while (!digits.empty() && digits.back() == cells - 1) digits.pop_back();
      if (digits.empty()) break;
      ++digits.back();
    }
    std::vector<Rational> distribution(static_cast<std::size_t>(vocabulary) + 1,
                                       Rational(0));  // the last entry: no token
    for (const auto& [way, count] : runs) {
      const bool token = way.first >= 0 && way.first < vocabulary;
      distribution[static_cast<std::size_t>(token ? way.first : vocabulary)] +=
          Rational(count, 1 << (bits * static_cast<int>(way.second)));
    }
    if (distribution.back() == 0) distribution.pop_back();
    return distribution;
  }
};

}  // namespace draftproof::checks
