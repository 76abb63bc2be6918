// Wrong verifiers with known detection exposures, for the power of the statistical gate. Each imitates a correct
// scheme, and the gate tests it against that scheme's path law.
//
//   p, q       target and proposal of the pair they run on
//   reference  log2 of the exposure at which another implementation of the same five e-values raised its alarm on
//              every one of several runs; numpy counts drawn from closed laws, p and q of the same kind
//   TV         distance of the output from p there
//
// Not included: `<=` for `<` (no affordable sample detects it; edge checks do), and two drafts without replacement
// whose second is tested against q with the first set to 0 and no renormalisation. A refused token has no residual,
// so that program decides as the one that tests against the whole q.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include <draftproof/captures/row.hpp>
#include <draftproof/mutants/draft_distribution.hpp>
#include <draftproof/mutants/residual.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/studies/contrived_verifier.hpp>
#include <draftproof/verifiers/lossy/lenience.hpp>
#include <draftproof/verifiers/lossy/typical_acceptance.hpp>

namespace draftproof {

struct WrongProgram {
  std::string_view about;
  std::shared_ptr<const AnyVerifier> verifier;
  std::string_view imitates, drafter;
  int drafts;
  double reference;           ///< log2
  std::string_view distance;  ///< as printed with the reference
};

/// Tests with one word for all drafts, or a fresh one each; after the last refusal a draw from (p - b q)+, or from p.
inline Verdict recursive_rejection_with(const RatioTable& laws, std::span<const Token> drafts, Philox& random,
                                        bool one_word, bool rest_from_target) {
  double b = 0, mass = 1;
  double u = unit_interval(random.next(Purpose::flip));
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    const Token x = drafts[k];
    if (k > 0 && !one_word) u = unit_interval(random.next(Purpose::flip));
    if (u * (mass * laws.proposal(x)) < laws.target(x) - b * laws.proposal(x))
      return accepted(x, static_cast<int>(k));
    b += mass;
    mass = laws.residual_mass(b);
  }
  return random.emit(laws.residual(rest_from_target ? 0 : b));
}

/// The mass that neither the draft nor the unnormalised residual emits goes to the last token.
inline Verdict residual_not_normalised(const RatioTable& laws, std::span<const Token> drafts, Philox& random) {
  const Token x = drafts[0];
  if (random.flip(laws.target(x), laws.proposal(x))) return accepted(x, 0);
  if (random.flip(laws.residual_mass(1), 1.0)) return random.emit(laws.residual(1));
  return {laws.vocabulary() - 1, none_accepted};
}

/// The word that refused the draft also draws from the residual, by inversion in the order of ids.
inline RuledVerifier::Rule word_reused_for_residual(const RatioTable& pair) {
  std::vector<double> reached;
  for (Token x = 0; x < pair.vocabulary(); ++x)
    reached.push_back((reached.empty() ? 0 : reached.back()) + std::max(pair.target(x) - pair.proposal(x), 0.0));
  return [reached](const RatioTable& laws, std::span<const Token> drafts, Philox& random) -> Verdict {
    const Token x = drafts[0];
    const double u = unit_interval(random.next(Purpose::flip));
    if (u * laws.proposal(x) < laws.target(x)) return accepted(x, 0);
    const auto place = std::upper_bound(reached.begin(), reached.end() - 1, u * reached.back());
    return {static_cast<Token>(place - reached.begin()), none_accepted};
  };
}

/// Fixed drafts tested in turn; after the last refusal a draw from all of p, the drafts included.
inline Verdict siblings_kept(const RatioTable& laws, std::span<const Token> drafts, Philox& random) {
  double left = 1;
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    const double p = laws.target(drafts[k]);
    if (random.flip(p, left)) return accepted(drafts[k], static_cast<int>(k));
    left -= p;
  }
  return random.emit(laws.residual(0));
}

/// The residual with 1e-7 added to every token, so that its sum is never 0.
inline Verdict residual_floored(const RatioTable& laws, std::span<const Token> drafts, Philox& random) {
  const Token x = drafts[0];
  if (random.flip(laws.target(x), laws.proposal(x))) return accepted(x, 0);
  const double mass = laws.residual_mass(1), floor = 1e-7 * laws.vocabulary();
  if (random.flip(mass, mass + floor)) return random.emit(laws.residual(1));
  const std::uint64_t any = scale(random.next(Purpose::pick), static_cast<std::uint64_t>(laws.vocabulary()));
  return {static_cast<Token>(any), none_accepted};
}

inline std::vector<double> to_sum_one(std::vector<double> row) {
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& p : row) p /= sum;
  return row;
}

/// q^(1/T), normalised.
inline std::vector<double> at_temperature(std::vector<double> row, double temperature) {
  for (double& q : row) q = std::pow(q, 1 / temperature);
  return to_sum_one(std::move(row));
}

/// The row without the least likely tokens beyond a mass of `kept`, normalised.
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

/// Rounded to the nearest number of eight significant bits, ties to even.
inline double rounded_to_bf16(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000);
}

inline std::vector<double> in_bf16(std::vector<double> row) {
  for (double& p : row) p = rounded_to_bf16(p);
  return to_sum_one(std::move(row));
}

/// All wrong programs, for one pair.
inline std::vector<WrongProgram> wrong_programs(const RowPair& pair, const RatioTable& table) {
  const std::vector<double>&p = pair.target, &q = pair.proposals.front();
  const auto ruled = [](RuledVerifier::Rule rule) { return std::make_shared<RuledVerifier>(std::move(rule)); };
  const auto recursive = [&](bool one_word, bool rest_from_target) {
    return ruled([=](const RatioTable& laws, std::span<const Token> drafts, Philox& random) {
      return recursive_rejection_with(laws, drafts, random, one_word, rest_from_target);
    });
  };
  const auto misled = [](const std::vector<double>& target, const std::vector<double>& proposal) {
    return std::make_shared<MisledVerifier>(*registry().verifier("single_draft"), RatioTable(target, proposal));
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
      {"p rounded to bf16 in the verifier", misled(in_bf16(p), q), one, iid, 1, 22, "7.4e-4"},
  };
}

}  // namespace draftproof
