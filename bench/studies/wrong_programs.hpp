// Wrong verifiers for measuring the power of the statistical gate; they are not registered. They support simulation on
// prepared tables only: no exploration, no scripted runs, no fresh rows. Their power is measured by trials.
//
// There are two kinds. Programs imitate a correct scheme, and the gate compares their joint distribution of (accepted
// draft, token) with the distribution of that scheme. Deviations draw tokens, independently of the drafts, from a
// distribution at a given total variation from p, in six shapes; the gate compares only their tokens with p.
//
//   p, q       target and proposal of the pair on which the programs run
//   reference  log2 of the exposure (planned trials) at which another implementation of the gate's five e-values raised
//              its alarm in every one of several runs, on counts that numpy drew from distributions in closed form, for
//              a similar pair
//   TV         total variation of the output from p in that implementation
//   shape      two sets of tokens; a mass of d, at most the mass of the second set, moves from the second to the
//              first, within each set in proportion to p
//
// Two wrong programs are not included. `<=` in place of `<` is detected by edge checks, but by no sample of affordable
// size. A program for two drafts without replacement that tests the second draft against q, with the entry of the first
// draft set to 0 and without renormalisation, decides exactly like a program that tests against the whole q, because a
// rejected token has no residual.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <draftproof/captures/row.hpp>
#include <draftproof/captures/stored_format.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/verifiers/lossy/lenience.hpp>
#include <draftproof/verifiers/lossy/typical_acceptance.hpp>
#include <draftproof/verifiers/mutants/draft_distribution.hpp>
#include <draftproof/verifiers/mutants/residual.hpp>

namespace draftproof {

/// A row of a power table: a verifier under the gate, and the exposures at which the gate detected it.
struct PowerRow {
  std::string about;
  std::shared_ptr<const AnyVerifier> verifier;
  std::string_view imitates, drafter;
  int drafts;
  double reference;        ///< log2 of the reference exposure; NaN if there is no reference
  std::string distance;    ///< total variation, as printed with the reference
  double log2_budget = 0;  ///< log2 of the budget of each run
  int runs = 1;
  std::vector<double> log2_exposures{};  ///< ascending; infinity: no alarm

  double median() const { return log2_exposures[(log2_exposures.size() - 1) / 2]; }
  double largest() const { return log2_exposures.back(); }
};

/// A verifier that can only be simulated: `make(distributions, drafts)` returns its decider, which verifies the drafts.
class ContrivedVerifier final : public AnyVerifier {
 public:
  using Make = std::function<DeciderPtr<RatioTable, Philox>(const RatioTable& distributions, int drafts)>;
  explicit ContrivedVerifier(Make make) : AnyVerifier(contrived, Kind::mutant), make_{std::move(make)} {}

  DeciderPtr<RatioTable, Philox> simulate_on(const RatioTable& distributions, int drafts) const override {
    return make_(distributions, drafts);
  }
  using AnyVerifier::simulate_on;

 private:
  static constexpr Info contrived{.name = "contrived", .summary = "made for a study", .source = "derived here"};
  Make make_;
};

/// A function of (distributions, drafts, random) that returns the verdict.
using Rule = std::function<Verdict(const RatioTable&, std::span<const Token> drafts, Philox& random)>;

/// Returns a verifier that decides by a rule.
inline std::shared_ptr<const AnyVerifier> ruled(Rule rule) {
  class Ruled final : public Decider<RatioTable, Philox> {
   public:
    Ruled(Rule rule, const RatioTable& distributions) : rule_{std::move(rule)}, distributions_{distributions} {}
    void decide(const TrialBatch& batch, Verdict* verdicts) const override {
      for (int t = 0; t < batch.count; ++t) {
        Philox random(batch.seed, batch.first + static_cast<std::uint64_t>(t), Philox::Role::verify);
        const std::span drafts(batch.drafts + t * batch.stride, static_cast<std::size_t>(batch.lengths[t]));
        verdicts[t] = rule_(distributions_, drafts, random);
      }
    }

   private:
    Rule rule_;
    const RatioTable& distributions_;
  };
  return std::make_shared<ContrivedVerifier>([rule = std::move(rule)](const RatioTable& distributions, int) {
    return DeciderPtr<RatioTable, Philox>(std::make_unique<Ruled>(rule, distributions));
  });
}

/// Returns a correct single-draft verifier that decides by the given distributions in place of the pair on which it is
/// run.
inline std::shared_ptr<const AnyVerifier> misled(const std::vector<double>& target,
                                                 const std::vector<double>& proposal) {
  const auto changed_table = std::make_shared<RatioTable>(target, proposal);
  return std::make_shared<ContrivedVerifier>([changed_table](const RatioTable&, int drafts) {
    return registry().verifier("single_draft")->simulate_on(*changed_table, drafts);
  });
}

/// Tests with one uniform for all drafts, or a new uniform for each; then draws from the residual (p - b q)+ that is
/// left after the rejections, or wrongly from p.
inline Verdict recursive_rejection_with(const RatioTable& distributions, std::span<const Token> drafts,
                                        Philox& random, bool one_word, bool rest_from_target) {
  double b = 0, mass = 1;
  double u = unit_interval(random.next(Purpose::flip));
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    const Token x = drafts[k];
    if (k > 0 && !one_word) u = unit_interval(random.next(Purpose::flip));
    if (u * (mass * distributions.proposal(x)) < distributions.target(x) - b * distributions.proposal(x))
      return accepted(x, static_cast<int>(k));
    b += mass;
    mass = distributions.residual_mass(b);
  }
  return random.emit(distributions.residual(rest_from_target ? 0 : b));
}

/// Emits the last token with the mass that neither the draft nor the unnormalised residual emits.
inline Verdict residual_not_normalised(const RatioTable& distributions, std::span<const Token> drafts,
                                       Philox& random) {
  const Token x = drafts[0];
  if (random.flip(distributions.target(x), distributions.proposal(x))) return accepted(x, 0);
  if (random.flip(distributions.residual_mass(1), 1.0)) return random.emit(distributions.residual(1));
  return {distributions.vocabulary() - 1, none_accepted};
}

/// Draws from the residual, by inversion in the order of ids, with the same uniform that rejected the draft.
inline Rule word_reused_for_residual(const RatioTable& pair) {
  std::vector<double> reached;
  for (Token x = 0; x < pair.vocabulary(); ++x)
    reached.push_back((reached.empty() ? 0 : reached.back()) + std::max(pair.target(x) - pair.proposal(x), 0.0));
  return [reached](const RatioTable& distributions, std::span<const Token> drafts, Philox& random) -> Verdict {
    const Token x = drafts[0];
    const double u = unit_interval(random.next(Purpose::flip));
    if (u * distributions.proposal(x) < distributions.target(x)) return accepted(x, 0);
    const auto place = std::upper_bound(reached.begin(), reached.end() - 1, u * reached.back());
    return {static_cast<Token>(place - reached.begin()), none_accepted};
  };
}

/// Tests fixed drafts in turn; after the last rejection draws from all of p, including the rejected drafts.
inline Verdict siblings_kept(const RatioTable& distributions, std::span<const Token> drafts, Philox& random) {
  double left = 1;
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    const double p = distributions.target(drafts[k]);
    if (random.flip(p, left)) return accepted(drafts[k], static_cast<int>(k));
    left -= p;
  }
  return random.emit(distributions.residual(0));
}

/// Adds 1e-7 to every token of the residual, so that its sum is never 0.
inline Verdict residual_floored(const RatioTable& distributions, std::span<const Token> drafts, Philox& random) {
  const Token x = drafts[0];
  if (random.flip(distributions.target(x), distributions.proposal(x))) return accepted(x, 0);
  const double mass = distributions.residual_mass(1), lower_bound = 1e-7 * distributions.vocabulary();
  if (random.flip(mass, mass + lower_bound)) return random.emit(distributions.residual(1));
  const std::uint64_t any = scale(random.next(Purpose::pick), static_cast<std::uint64_t>(distributions.vocabulary()));
  return {static_cast<Token>(any), none_accepted};
}

inline std::vector<double> to_sum_one(std::vector<double> row) {
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& p : row) p /= sum;
  return row;
}

/// Returns q^(1/T), normalised.
inline std::vector<double> at_temperature(std::vector<double> row, double temperature) {
  for (double& q : row) q = std::pow(q, 1 / temperature);
  return to_sum_one(std::move(row));
}

/// Returns the likeliest tokens of the row with total mass `kept`, normalised.
inline std::vector<double> without_tail(const std::vector<double>& row, double kept) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&row](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  std::vector<double> cut(row.size());
  double reached = 0;
  for (const std::size_t x : order) {
    cut[x] = row[x];
    if ((reached += row[x]) >= kept) break;
  }
  return to_sum_one(std::move(cut));
}

/// Returns all wrong programs, for one pair.
inline std::vector<PowerRow> wrong_programs(const RowPair& pair, const RatioTable& table) {
  const std::vector<double>&p = pair.target, &q = pair.proposals.front();
  const auto recursive = [&](bool one_word, bool rest_from_target) {
    return ruled([=](const RatioTable& distributions, std::span<const Token> drafts, Philox& random) {
      return recursive_rejection_with(distributions, drafts, random, one_word, rest_from_target);
    });
  };
  const auto mutant = []<class M>(M made) { return std::make_shared<VerifierOf<M>>(Kind::mutant, std::move(made)); };
  constexpr std::string_view one = "single_draft", several = "recursive_rejection", iid = "iid";
  return {
      {"residual not normalised, rest to the last token", ruled(residual_not_normalised), one, iid, 1, 5, "2.1e-1"},
      {"residual = p", mutant(mutants::ResampleFromTarget{}), one, iid, 1, 4, "1.4e-1"},
      {"uniform reused for the residual", ruled(word_reused_for_residual(table)), one, iid, 1, 12, "1.0e-1"},
      {"one uniform for all slots", recursive(true, false), several, iid, 4, 14, "1.3e-2"},
      {"q at 5 % other temperature", misled(p, at_temperature(q, 1.05)), one, iid, 1, 13, "4.3e-2"},
      {"without replacement verified as with", mutant(mutants::WorVerifiedAsIid{}), "recursive_rejection_wor",
       "without_replacement", 2, 23, "7.0e-4"},
      {"top-K drafts, siblings kept in the residual", ruled(siblings_kept), "sample_and_match", "fixed_top_k", 4, 5,
       "7.9e-2"},
      {"typical acceptance", mutant(verifiers::lossy::TypicalAcceptance{0.3, 0.09}), one, iid, 1, 5, "3.0e-1"},
      {"residual = p", recursive(false, true), several, iid, 4, 5, "1.0e-1"},
      {"lenience 0.99: accept p / (0.99 q)", mutant(verifiers::lossy::Lenience{0.99}), one, iid, 1, 21, "3.6e-3"},
      {"last 0.1 % of the target dropped", misled(without_tail(p, 0.999), q), one, iid, 1, 21, "1.0e-3"},
      {"residual floored by 1e-7", ruled(residual_floored), one, iid, 1, 12, "2.5e-3"},
      {"p rounded to bf16 in the verifier", misled(to_sum_one(bfloat16.round(p)), q), one, iid, 1, 22, "7.4e-4"},
  };
}

enum class Shape { along_ratio, random_signs, head_against_tail, top_to_second, one_rank, rare_signs };

struct ShapeReference {
  Shape shape;
  std::string_view about;
  double reference;  ///< log2 of the reference exposure
};

inline constexpr std::array<ShapeReference, 6> deviation_shapes{{
    {Shape::along_ratio, "along p/q, half up, half down", 25},
    {Shape::random_signs, "random signs, proportional to p", 27},
    {Shape::head_against_tail, "head against tail", 26},
    {Shape::top_to_second, "top token to second token", 22},
    {Shape::one_rank, "one mid-rank token", 15},
    {Shape::rare_signs, "random signs on the rare half", 25},
}};

/// Returns for each token +1 if it gains mass, -1 if it loses mass, and 0 otherwise.
inline std::vector<int> signs_of(Shape shape, const RatioTable& table, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(table.vocabulary());
  std::vector<Token> by_target(size);
  std::iota(by_target.begin(), by_target.end(), Token{0});
  std::stable_sort(by_target.begin(), by_target.end(),
                   [&](Token a, Token b) { return table.target(a) > table.target(b); });
  std::vector<int> signs(size, 0);
  const auto sign = [&signs](Token x) -> int& { return signs[static_cast<std::size_t>(x)]; };
  // Tokens gain mass from the beginning of the order until they have half of the mass of p; the other tokens lose mass.
  const auto halves = [&](std::span<const Token> order) {
    double reached = 0;
    for (const Token x : order) {
      sign(x) = reached < 0.5 ? 1 : -1;
      reached += table.target(x);
    }
  };
  const auto random = [&](std::span<const Token> tokens) {
    for (const Token x : tokens)
      sign(x) = philox_pair(seed, static_cast<std::uint64_t>(x), 0, 0x53484150).first >> 63 ? 1 : -1;
  };
  switch (shape) {
    case Shape::along_ratio:
      halves(table.order());
      break;
    case Shape::random_signs:
      random(by_target);
      break;
    case Shape::head_against_tail:
      halves(by_target);
      break;
    case Shape::top_to_second:
      sign(by_target[0]) = -1;
      sign(by_target[1]) = 1;
      break;
    case Shape::one_rank:
      signs.assign(size, -1);
      sign(by_target[size / 2]) = 1;
      break;
    case Shape::rare_signs:
      random(std::span<const Token>(by_target).subspan(size / 2));
      break;
  }
  return signs;
}

inline std::vector<double> deviating_distribution(Shape shape, const RatioTable& table, double distance,
                                                  std::uint64_t seed) {
  const std::vector<int> signs = signs_of(shape, table, seed);
  double up = 0, down = 0;
  for (std::size_t x = 0; x < signs.size(); ++x)
    if (signs[x] != 0) (signs[x] > 0 ? up : down) += table.target(static_cast<Token>(x));
  std::vector<double> distribution;
  for (std::size_t x = 0; x < signs.size(); ++x) {
    const double p = table.target(static_cast<Token>(x));
    distribution.push_back(signs[x] == 0 ? p : signs[x] > 0 ? p * (1 + distance / up) : p * (1 - distance / down));
  }
  return distribution;
}

/// Returns a verifier that draws from `distribution` and ignores the drafts.
inline std::shared_ptr<const AnyVerifier> emitter_of(const std::vector<double>& distribution) {
  return ruled(
      [alias = AliasTable(quantise(distribution))](const RatioTable&, std::span<const Token>, Philox& random) {
        return Verdict{alias.draw(random.next(Purpose::emit)), none_accepted};
      });
}

}  // namespace draftproof
