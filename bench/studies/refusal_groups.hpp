// The distribution that recursive rejection of i.i.d. drafts emits given a draft tuple, summed over groups of tokens.
// It has a closed form, so an average over tuples need not enumerate the branches of each tuple.
//
//   b_k, F_k    residual k is (p - b_k q)+ with mass F_k; b_(k + 1) = b_k + F_k (verifiers/recursive_rejection.hpp)
//   a_k(x)      min(1, (p - b_k q)+ / (F_k q))
//   c_k         (1 - a_0) .. (1 - a_(k-1)) a_k at the tuple's drafts: probability that draft k is emitted
//   rest        1 - sum c_k
//   R(x)        (p - b_K q)+ / F_K
//
//   C(x)        sum of c_k over drafts equal to x, + rest R(x)
//
// Cost: O(K) per tuple and one number per group.
// Correctness: tests/studies compares it with an enumeration.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/properties/statistics/row_groups.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

class RefusalGroups {
 public:
  RefusalGroups(const RatioTable& table, int drafts) : table_{table} {
    for (Token x = 0; x < table.vocabulary(); ++x) {
      target_.push_back(table.target(x));
      proposal_.push_back(table.proposal(x));
    }
    group_ = mass_groups(ratio_key(target_, proposal_), target_);
    double b = 0, mass = 1;
    for (int k = 0; k < drafts; ++k) {
      stages_.push_back({b, mass});
      b += mass;
      mass = table.residual_mass(b);
    }
    acceptance_ = 1 - mass;
    for (std::size_t x = 0; x < target_.size(); ++x) {
      const double left = std::max(target_[x] - b * proposal_[x], 0.0);
      residual_.push_back(mass > 0 ? left / mass : 0);
      if (left > 0) residual_square_ += residual_[x] * residual_[x] / target_[x];
    }
    residual_groups_ = folded(group_, residual_);
  }

  const std::vector<double>& target() const { return target_; }
  const std::vector<std::uint32_t>& group() const { return group_; }
  double acceptance() const { return acceptance_; }

  /// Writes the mass of C in each group to `out`; returns the acceptance of the tuple.
  double groups(std::span<const Token> tuple, std::span<double> out) const {
    double rest = 1;
    std::fill_n(out.begin(), default_groups, 0.0);
    for (std::size_t k = 0; k < tuple.size(); ++k) {
      const double chance = accepted(k, tuple[k]);
      out[group_[static_cast<std::size_t>(tuple[k])]] += rest * chance;
      rest *= 1 - chance;
    }
    for (std::size_t g = 0; g < residual_groups_.size(); ++g) out[g] += rest * residual_groups_[g];
    return 1 - rest;
  }

  /// Returns the sum of C(x)^2 / p(x) over all tokens; the chi-square distance of C from p is this sum minus 1.
  double square(std::span<const Token> tuple) const {
    double rest = 1, share[max_drafts];
    for (std::size_t k = 0; k < tuple.size(); ++k) {
      const double chance = accepted(k, tuple[k]);
      share[k] = rest * chance;
      rest *= 1 - chance;
    }
    double sum = rest * rest * residual_square_;
    for (std::size_t k = 0; k < tuple.size(); ++k) {
      const auto first = std::find(tuple.begin(), tuple.end(), tuple[k]);
      if (first != tuple.begin() + static_cast<std::ptrdiff_t>(k)) continue;
      double drafted = 0;
      for (std::size_t j = k; j < tuple.size(); ++j)
        if (tuple[j] == tuple[k]) drafted += share[j];
      if (drafted == 0) continue;  // C(x) is 0 then, and p may be 0
      const auto x = static_cast<std::size_t>(tuple[k]);
      sum += drafted * (drafted + 2 * rest * residual_[x]) / target_[x];
    }
    return sum;
  }

 private:
  struct Stage {
    double b, mass;
  };
  double accepted(std::size_t k, Token x) const {
    const double left = table_.target(x) - stages_[k].b * table_.proposal(x);
    const double served = stages_[k].mass * table_.proposal(x);
    return left > 0 ? std::min(1.0, left / served) : 0;
  }

  const RatioTable& table_;
  std::vector<double> target_, proposal_, residual_, residual_groups_;
  std::vector<std::uint32_t> group_;
  std::vector<Stage> stages_;
  double acceptance_ = 0, residual_square_ = 0;
};

}  // namespace draftproof
