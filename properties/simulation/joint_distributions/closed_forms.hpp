// Joint distributions of verdict and token in closed form, for the statistical gate.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <draftproof/properties/simulation/joint_distribution.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/naive_tree.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace draftproof::joint_distributions {

// K-SEQ with factor rho: draft k is reached with probability (1 - beta)^(k - 1) and, if reached, accepted as x with
// probability min(q, p / rho); beta is the sum of min(q, p / rho). The last row is p - c min(q, p / rho), where c is
// the sum of the probabilities to reach drafts 1 .. K.
struct KSeq {
  using Verifier = verifiers::KSeq;
  static constexpr DraftSamplings drafts{"iid"};

  static JointRows rows(const RatioTable& table, int count) {
    const auto plan = verifiers::KSeq{}.prepare(table, count);
    const double beta = (1 - table.residual_mass(plan.factor)) / plan.factor;
    JointRows rows(static_cast<std::size_t>(count) + 1);
    for (Token x = 0; x < table.vocabulary(); ++x) {
      const double p = table.target(x), share = std::min(table.proposal(x), p / plan.factor);
      double reached = 1;
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
        rows[k].push_back(reached * share);
        reached *= 1 - beta;
      }
      rows.back().push_back(std::max(p - plan.served * share, 0.0));
    }
    return rows;
  }
};

// Naive tree: the first draft is accepted as x with probability min(p, q). After its rejection, draft k > 1 is the
// first to equal the residual draw x with probability (1 - q)^(k - 2) q, whichever token was rejected.
struct NaiveTree {
  using Verifier = verifiers::NaiveTree;
  static constexpr DraftSamplings drafts{"iid"};

  /// Rows k >= 1 do not depend on the rejected token: it has p < q, so its residual is 0, and the residual draw gives
  /// another token.
  static JointRows rows(const RatioTable& table, int count) {
    JointRows rows(static_cast<std::size_t>(count) + 1);
    for (Token x = 0; x < table.vocabulary(); ++x) {
      const double p = table.target(x), q = table.proposal(x);
      rows[0].push_back(std::min(p, q));
      double left = std::max(p - q, 0.0);
      for (std::size_t k = 1; k < static_cast<std::size_t>(count); ++k) {
        rows[k].push_back(left * q);
        left *= 1 - q;
      }
      rows.back().push_back(left);
    }
    return rows;
  }
};

// Recursive rejection: draft k is reached with the residual (p - b q)+ of mass F(b) and emits x with probability
// min((p - b q)+, F(b) q); then b grows by F(b).
struct RecursiveRejection {
  using Verifier = verifiers::RecursiveRejection;
  static constexpr DraftSamplings drafts{"iid"};

  /// Uses the minimum and not the equal difference of two residuals, which would lose digits by cancellation. So a cell
  /// is 0 only if its exact value is 0.
  static JointRows rows(const RatioTable& table, int count) {
    JointRows rows(static_cast<std::size_t>(count) + 1);
    double b = 0;
    for (int k = 0; k <= count; ++k) {
      const double mass = k == 0 ? 1 : table.residual_mass(b);
      auto& row = rows[static_cast<std::size_t>(k)];
      for (Token x = 0; x < table.vocabulary(); ++x) {
        const double left = std::max(table.target(x) - b * table.proposal(x), 0.0);
        row.push_back(k < count ? std::min(left, mass * table.proposal(x)) : left);
      }
      b += mass;
    }
    return rows;
  }
};

// Single draft: the draft is accepted as x with probability min(p, q), or rejected and x is drawn with (p - q)+.
struct SingleDraft {
  using Verifier = verifiers::SingleDraft;
  static constexpr DraftSamplings drafts{"iid"};

  static JointRows rows(const RatioTable& table, int) {
    JointRows rows(2);
    for (Token x = 0; x < table.vocabulary(); ++x) {
      const double p = table.target(x), q = table.proposal(x);
      rows[0].push_back(std::min(p, q));
      rows[1].push_back(std::max(p - q, 0.0));
    }
    return rows;
  }
};

// Recursive rejection without replacement. The first draft is tested as in single-draft sampling. The second is
// drawn from q without the first and tested against the residual of p and q, whichever token was rejected.
//
//   w(x)     q - p, if positive           x was drafted first and rejected
//   p'(y)    (p - q)+ / sum of w          target after the rejection; 0 at every x that can have been rejected
//   row 1    min(p, q)
//   row 2    sum over x of w(x) min(q(y) / (1 - q(x)), p'(y))
//   row 3    sum over x of w(x) (p'(y) - q(y) / (1 - q(x)))+      a later draft, or none
//
// If q has one token, there is no second draft, and rows 2 and 3 are merged.
//
// Cost: one sort by q and prefix sums, O(V log V), because each term of the sums in rows 2 and 3 is linear in p'(y) and
// q(y) on each side of q(x) = 1 - q(y) / p'(y).
//
// Error: the difference in row 3 is off by about 1e-16 p'(y) at most. If a cell is 0 here but not in exact arithmetic,
// a trial falls into it less than once in 10^15 trials.

struct RecursiveRejectionWor {
  using Verifier = verifiers::RecursiveRejectionWor;
  static constexpr DraftSamplings drafts{"without_replacement", "without_replacement_uniform"};

  static JointRows rows(const RatioTable& table, int count) {
    JointRows rows = SingleDraft::rows(table, 1);
    if (count > 1 && table.proposal(table.kth_most_probable(0)) < 1) split(table, rows);
    return rows;
  }

 private:
  /// Sums of w(x) and of w(x) / (1 - q(x)) over the rejected tokens x with the smallest q.
  struct Refused {
    double most, weight, widened;  ///< `most`: q of the last token in the sum
  };

  static std::vector<Refused> refused_first(const RatioTable& table) {
    std::vector<Token> order(static_cast<std::size_t>(table.vocabulary()));
    std::iota(order.begin(), order.end(), Token{0});
    std::sort(order.begin(), order.end(), [&](Token a, Token b) { return table.proposal(a) < table.proposal(b); });
    std::vector<Refused> sums{{-std::numeric_limits<double>::infinity(), 0, 0}};
    for (const Token x : order)
      if (const double q = table.proposal(x), weight = q - table.target(x); weight > 0)
        sums.push_back({q, sums.back().weight + weight, sums.back().widened + weight / (1 - q)});
    return sums;
  }

  static void split(const RatioTable& table, JointRows& rows) {
    const std::vector<Refused> sums = refused_first(table);
    const Refused& all = sums.back();
    std::vector<double> second(rows[0].size()), later(rows[0].size());
    for (std::size_t y = 0; y < second.size(); ++y) {
      if (rows[1][y] == 0) continue;
      const double q = table.proposal(static_cast<Token>(y)), wanted = rows[1][y] / all.weight;
      // For rejected tokens with q(x) < bound, the residual exceeds the mass that the second draft can emit.
      const double bound = 1 - q / wanted;
      const Refused& scarce =
          *(std::partition_point(sums.begin(), sums.end(), [bound](const Refused& sum) { return sum.most < bound; }) -
            1);
      second[y] = q * scarce.widened + wanted * (all.weight - scarce.weight);
      // Every term of the exact sum is positive, so a sum with terms must not be rounded to 0.
      const double whole = wanted * scarce.weight;
      later[y] = whole > 0 ? std::max(whole - q * scarce.widened, 0x1p-52 * whole) : 0;
    }
    rows[1] = std::move(second);
    rows.push_back(std::move(later));
  }
};

// Sample and match: draft k is the first to equal the token drawn from p with probability (1 - q)^(k - 1) q.
struct SampleAndMatch {
  using Verifier = verifiers::SampleAndMatch;
  static constexpr DraftSamplings drafts{"iid"};

  static JointRows rows(const RatioTable& table, int count) {
    JointRows rows(static_cast<std::size_t>(count) + 1);
    for (Token x = 0; x < table.vocabulary(); ++x) {
      double left = table.target(x);
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
        rows[k].push_back(left * table.proposal(x));
        left *= 1 - table.proposal(x);
      }
      rows.back().push_back(left);
    }
    return rows;
  }
};

// Sample and match on the K most probable tokens of q: draft k is accepted if it is the token drawn from p.
struct SampleAndMatchTopK {
  using Verifier = verifiers::SampleAndMatch;
  static constexpr DraftSamplings drafts{"fixed_top_k"};

  static JointRows rows(const RatioTable& table, int count) {
    const auto size = static_cast<std::size_t>(table.vocabulary());
    JointRows rows(static_cast<std::size_t>(count) + 1, std::vector<double>(size));
    for (Token x = 0; x < table.vocabulary(); ++x) rows.back()[static_cast<std::size_t>(x)] = table.target(x);
    for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
      const auto x = static_cast<std::size_t>(table.kth_most_probable(static_cast<int>(k)));
      std::swap(rows[k][x], rows.back()[x]);
    }
    return rows;
  }
};

}  // namespace draftproof::joint_distributions
