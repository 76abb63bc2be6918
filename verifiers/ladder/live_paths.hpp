// Computes the distribution of the number of active paths: how many of K i.i.d. paths share a node of the chosen
// path, given that the choice reached this node. It follows from the distribution at the parent node.
//
//   mu_m     distribution[m - 1]   probability of m paths at the node, m = 1 .. K
//   c        proposal              q of the chosen token
//   x        W - c                 q-mass of the other tokens in its group
//   beta     -                     q-mass of the groups below
//   H(j, r)  h[j - 1]              mean of j / (j + n), n being the number of paths in the token's group among r
//                                  paths that take neither the token nor a group above
//
//   mu'_j  proportional to  c^j sum over m of mu_m C(m, j) H(j, m - j)
//
// Here j paths take the token, n other paths take its group, and one of the j + n is chosen. H is averaged over the
// intervals of u; the sum over j is then the distribution of the chosen token.
// Cost: O(K^2) per group, by one thread, with lists of O(K^2) in a workspace (cooperative_memory.hpp).
// Correctness: H(j, r) is the integral of j t^(j-1) (beta + x t)^r over t in [0, 1]; splitting off one factor gives
//     H(j, r) = beta H(j, r - 1) + x j / (j + 1) H(j + 1, r - 1),        H(j, 0) = 1:
// sums of positive terms only (docs/ladder.md).
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// The distribution at the start: all K paths are active.
template <class Scalar>
std::vector<Scalar> all_active(int paths) {
  std::vector<Scalar> distribution(static_cast<std::size_t>(paths), Scalar{0});
  distribution.back() = Scalar{1};
  return distribution;
}

template <class Scalar, class Workspace = HostWorkspace>
class ActivePaths {
 public:
  using Distribution = ListIn<Workspace, Scalar>;

  /// `distribution` must outlive this. All threads of the workspace construct it; one thread makes the other calls.
  DRAFTPROOF_DEVICE ActivePaths(const Workspace& workspace, const Distribution& distribution)
      : distribution_{distribution},
        mean_(workspace.template scratch<Scalar>(static_cast<int>(distribution.size() * distribution.size()))),
        h_(workspace.template scratch<Scalar>(static_cast<int>(distribution.size()))) {}

  /// Removes all groups.
  DRAFTPROOF_DEVICE void begin() {
    for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i] = Scalar{0};
  }
  /// Adds the group of the token for this share of u: x is the q-mass of the group's other tokens, `beta` the q-mass
  /// below the group.
  DRAFTPROOF_DEVICE void add_group(const Scalar& x, const Scalar& beta, const Scalar& share) {
    const std::size_t paths = distribution_.size();
    auto& h = h_;  // H(j, r) at j - 1
    for (std::size_t j = 0; j < paths; ++j) h[j] = Scalar{1};
    for (std::size_t r = 0;; ++r) {
      for (std::size_t j = 1; j + r <= paths; ++j) mean(j, r) += share * h[j - 1];
      if (r + 1 == paths) return;
      for (std::size_t j = 1; j + r < paths; ++j) h[j - 1] = beta * h[j - 1] + x * number(j) / number(j + 1) * h[j];
    }
  }

  /// Writes the distribution after a token of this q-mass to `next`. In double its entries are multiples of 2^-53, so
  /// they add to 1 in any order: f (coverage.hpp) then ends at exactly 1, and equal rows are recognised as equal.
  /// Throws: std::logic_error on the host if no path can have taken the token.
  DRAFTPROOF_DEVICE void after(const Scalar& proposal, Distribution& next) {
    const std::size_t paths = distribution_.size();
    Scalar power{1}, total{0};
    for (std::size_t j = 1; j <= paths; ++j) {
      power *= proposal;
      Scalar choices{1}, weight{0};  // C(m, j)
      for (std::size_t m = j; m <= paths; ++m) {
        if (m > j) choices = choices * number(m) / number(m - j);
        weight += distribution_[m - 1] * choices * mean(j, m - j);
      }
      weight *= power;
      total += weight;
      next[j - 1] = weight;
    }
    if (!(total > Scalar{0})) return none_taken(next);
    for (std::size_t j = 0; j < paths; ++j) next[j] /= total;
    if constexpr (std::is_floating_point_v<Scalar>) {
      Scalar left{1};
      std::size_t most = 0;
      for (std::size_t j = 0; j < paths; ++j) {
        left -= next[j] = std::floor(next[j] * Scalar(0x1p53)) * Scalar(0x1p-53);
        if (next[most] < next[j]) most = j;
      }
      next[most] += left;
    }
  }

 private:
  DRAFTPROOF_DEVICE static Scalar number(std::size_t n) { return Scalar(static_cast<int>(n)); }
  DRAFTPROOF_DEVICE Scalar& mean(std::size_t j, std::size_t r) { return mean_[(j - 1) * distribution_.size() + r]; }
  /// Called if no path can have taken the token, so that the tree cannot have been drawn from its rows. Throws on the
  /// host; a kernel, which cannot throw, sets the number of paths to 1.
  DRAFTPROOF_DEVICE static void none_taken([[maybe_unused]] Distribution& next) {
#if defined(__CUDA_ARCH__)
    for (std::size_t j = 0; j < next.size(); ++j) next[j] = Scalar(j == 0 ? 1 : 0);
#else
    throw std::logic_error("active paths: a token that no path can have taken");
#endif
  }

  const Distribution& distribution_;
  Distribution mean_, h_;
};

}  // namespace draftproof
