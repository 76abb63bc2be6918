// Measures plans for K i.i.d. drafts on few tokens at one position: acceptance and output law by exploration in
// double, and the time to make a plan.
//
//   n          trade_sizes     likeliest tokens kept, of target and of proposal each
//   distance   total variation of the output law from the target
//
// Cost: one exploration of all tuples per scheme, n and K: V^K branches and their continuations.
#pragma once

#include <cmath>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/row.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/verifiers/global_resolution.hpp>

namespace draftproof {

/// A verifier in the comparison, with its promise.
struct TradedScheme {
  std::string name;
  std::shared_ptr<const AnyVerifier> verifier;
  double tolerance = 0;  ///< largest promised TV, beyond rounding
  bool optimal = true;   ///< reaches the optimum up to twice that
};

inline std::vector<TradedScheme> traded_schemes() {
  std::vector<TradedScheme> all;
  for (const double tau : {1e-2, 1e-3, 1e-4})
    all.push_back(
        {fmt::format("global_resolution {:.0e}", tau),
         std::make_shared<VerifierOf<verifiers::GlobalResolution>>(Kind::verifier, verifiers::GlobalResolution{tau}),
         tau / 2, true});
  for (const char* scheme : {"optimal_transport", "canonical_two_step", "ladder", "recursive_rejection"})
    all.push_back({scheme,
                   {std::shared_ptr<void>(), registry().verifier(scheme)},
                   0,
                   std::string_view(scheme) != "recursive_rejection"});
  return all;
}

inline constexpr std::size_t trade_sizes[] = {6, 8, 10, 12};
inline constexpr int trade_drafts[] = {2, 3};

struct TradeOutcome {
  double acceptance, distance, seconds;
};
/// One n and K at one position.
struct TradePoint {
  std::size_t tokens;
  int drafts;
  int vocabulary;  ///< tokens that target or proposal keeps
  double optimum;
  std::vector<TradeOutcome> outcomes;  ///< by scheme
};

/// Both laws cut to their n likeliest tokens, without the tokens that both drop.
inline Rows<double> cut_rows(const RowPair& pair, std::size_t tokens) {
  const auto p = filtered_law(pair.target, {.top_k = tokens});
  const auto q = filtered_law(pair.proposals.front(), {.top_k = tokens});
  std::vector<double> target, proposal;
  for (std::size_t x = 0; x < p.size(); ++x) {
    if (p[x] == 0 && q[x] == 0) continue;
    target.push_back(p[x]);
    proposal.push_back(q[x]);
  }
  return {std::move(target), std::move(proposal)};
}

/// Processor time of making a plan, the median of five.
inline double seconds_to_prepare(const TradedScheme& scheme, const Rows<double>& rows, int drafts) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  std::vector<double> seconds;
  for (int run = 0; run < 5; ++run) {
    const double start = now();
    const auto decider = scheme.verifier->explore_on(rows, drafts);
    seconds.push_back(now() - start);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
  return seconds[2];
}

inline TradeOutcome trade_outcome(const TradedScheme& scheme, const Rows<double>& rows, int drafts, bool timings) {
  const auto decider = scheme.verifier->explore_on(rows, drafts);
  const auto law = explore_law(*registry().drafter("iid"), *decider, rows, drafts);
  if (!law.complete) throw EnumerationCut("too many branches to enumerate");
  double distance = 0;
  for (Token x = 0; x < rows.vocabulary(); ++x)
    distance += std::abs(law.output[static_cast<std::size_t>(x)] - rows.target(x)) / 2;
  return {law.membership, distance, timings ? seconds_to_prepare(scheme, rows, drafts) : 0};
}

inline std::vector<TradePoint> trade_points(const RowPair& pair, const std::vector<TradedScheme>& schemes,
                                            bool timings) {
  std::vector<TradePoint> all;
  for (const std::size_t tokens : trade_sizes) {
    const Rows<double> rows = cut_rows(pair, tokens);
    std::vector<double> target, proposal;
    for (Token x = 0; x < rows.vocabulary(); ++x) {
      target.push_back(rows.target(x));
      proposal.push_back(rows.proposal(x));
    }
    const RatioTable table(target, proposal);
    for (const int drafts : trade_drafts) {
      TradePoint point{tokens, drafts, rows.vocabulary(), iid_optimum(table, drafts).acceptance, {}};
      for (const TradedScheme& scheme : schemes)
        point.outcomes.push_back(trade_outcome(scheme, rows, drafts, timings));
      all.push_back(std::move(point));
    }
  }
  return all;
}

}  // namespace draftproof
