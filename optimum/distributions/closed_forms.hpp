// The optimum of each draft sampling other than i.i.d. drafts.
#pragma once

#include <algorithm>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/independent_bounds.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/optimum/sampling_optimum.hpp>
#include <draftproof/sim/drafters/fixed.hpp>
#include <draftproof/sim/drafters/sampled.hpp>

namespace draftproof::optima {

// The optimum for greedy drafts: the K - 1 most probable tokens are fixed, the last draft is free.
struct Greedy {
  using Drafter = drafters::Greedy;

  static std::optional<OptimumBounds> find(const RatioTable& table, int drafts) {
    std::vector<Token> fixed;
    for (int rank = 0; rank < drafts - 1; ++rank) fixed.push_back(table.kth_most_probable(rank));
    const auto free = proposal_outside(table, fixed.data(), drafts - 1);
    const double value = one_free_draft_optimum(table, fixed, free);
    return OptimumBounds{value, value};
  }
};

// The optimum for SpecHub's drafts: the hub is fixed. The other draft has the distribution q outside the hub, because
// it is drawn first or second: q(x) + q(hub) q(x) / (1 - q(hub)) = q(x) / (1 - q(hub)).
struct Hub {
  using Drafter = drafters::Hub;

  static std::optional<OptimumBounds> find(const RatioTable& table, int) {
    const Token hub = table.kth_most_probable(0);
    const double value = one_free_draft_optimum(table, {&hub, 1}, proposal_outside(table, &hub, 1));
    return OptimumBounds{value, value};
  }
};

// The optimum for one draft of each of K proposals: a lower and an upper bound, which are equal in most cases.
struct Independent {
  using Drafter = drafters::Independent;

  static std::optional<OptimumBounds> find(const RatioTable& table, int drafts) {
    return independent_bounds(table, drafts);
  }
};

// The optimum for the tail draw: the most probable token, one draw y from the rest of q, and a fill of the most
// probable other tokens. As a set, the K - 1 most probable tokens are always drafted, and the free token is y, or the
// K-th most probable token if y is one of the K - 1 fixed tokens.
struct TailDraw {
  using Drafter = drafters::TailDraw;

  static std::optional<OptimumBounds> find(const RatioTable& table, int drafts) {
    std::vector<Token> fixed;
    for (int rank = 0; rank < drafts - 1; ++rank) fixed.push_back(table.kth_most_probable(rank));
    auto free = proposal_outside(table, fixed.data(), 1);
    for (std::size_t rank = 1; rank < fixed.size(); ++rank)
      free[static_cast<std::size_t>(table.kth_most_probable(drafts - 1))] +=
          free[static_cast<std::size_t>(fixed[rank])];
    const double value = one_free_draft_optimum(table, fixed, free);
    return OptimumBounds{value, value};
  }
};

// The optimum for drafts without replacement that end early if q runs out, by a race of exponential clocks.
struct WithoutReplacement {
  using Drafter = drafters::WithoutReplacement;

  static std::optional<OptimumBounds> find(const RatioTable& table, int drafts) {
    const double value = without_replacement_optimum(table, drafts).acceptance;
    return OptimumBounds{value, value};
  }
  static std::optional<bool> certain(const RatioTable& table, int drafts) {
    return always_accepts_without_replacement(table, drafts);
  }
};

// The optimum for drafts without replacement that continue uniformly if q runs out. Let n be the size of the support of
// q. If K <= n, the drafts have the same distribution as drafts that end early. If K > n, the drafted set is the
// support and K - n of the Z tokens outside the support, with all choices equally likely. Only sets S that contain the
// support can contain all drafts. Among the sets S that have s tokens outside the support, p(S) + 1 - Pr(all drafts in
// S) is least if these are the s tokens of least p, so
//
//   alpha* = min over s of p(support) + (the s smallest p outside) + 1 - C(s, K - n) / C(Z, K - n)
struct WithoutReplacementUniform {
  using Drafter = drafters::WithoutReplacementUniform;

  static std::optional<OptimumBounds> find(const RatioTable& table, int drafts) {
    double inside = 0;
    int support = 0;
    std::vector<double> outside;
    for (Token x = 0; x < table.vocabulary(); ++x) {
      if (table.proposal(x) > 0) {
        inside += table.target(x);
        ++support;
      } else {
        outside.push_back(table.target(x));
      }
    }
    double value = 1;
    if (drafts <= support) {
      value = without_replacement_optimum(table, drafts).acceptance;
    } else {
      std::sort(outside.begin(), outside.end());
      for (std::size_t s = 0; s <= outside.size(); ++s) {
        value = std::min(value, inside + (1 - all_within(s, outside.size(), drafts - support)));
        if (s < outside.size()) inside += outside[s];
      }
    }
    return OptimumBounds{value, value};
  }

 private:
  /// Returns C(s, draws) / C(total, draws).
  static double all_within(std::size_t s, std::size_t total, int draws) {
    double probability = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(draws); ++i) {
      if (s <= i) return 0;
      probability *= static_cast<double>(s - i) / static_cast<double>(total - i);
    }
    return probability;
  }
};

}  // namespace draftproof::optima
