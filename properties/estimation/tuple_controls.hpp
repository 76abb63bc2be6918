// Functions of a draft tuple with known means: controls for averages over tuples.
//
//   [x_k in G_g]   32 a slot    which group along p / q_k the k-th draft is in; mean q_k(G_g)
//   h_k(x_k)       1 a slot     min(1, (p - b q) / (F(b) q)), the probability that recursive rejection accepts it as
//                               k-th draft of one proposal; min(1, p / q_k) for different ones; mean sum q_k h_k
//
// Correctness: any function of x_k with its exact mean keeps averages unbiased. h_k also helps schemes other than
// recursive rejection, but less. Slots whose marginal law is not a proposal have no controls. Slots after the eighth
// have none either: they are seldom reached and would make the sums of squares large.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <draftproof/properties/estimation/quasi_random_drafts.hpp>
#include <draftproof/sim/numeric/sums.hpp>
#include <draftproof/statistics/control_variates.hpp>
#include <draftproof/statistics/row_groups.hpp>

namespace draftproof {

class TupleControls {
 public:
  static constexpr int most_slots = 8;
  static constexpr std::size_t per_slot = default_groups + 1;

  explicit TupleControls(const DraftPoints& points) {
    const RatioTable& table = points.table();
    std::vector<double> target;
    for (Token x = 0; x < table.vocabulary(); ++x) target.push_back(table.target(x));
    double b = 0, mass = 1;
    for (int k = 0; k < std::min(points.plain_drafts(), most_slots); ++k) {
      std::vector<double> proposal;
      for (Token x = 0; x < table.vocabulary(); ++x) proposal.push_back(table.proposal(x, points.row(k)));
      Slot slot{.group = mass_groups(ratio_key(target, proposal), target), .chance = {}};
      NeumaierSum accepted;
      for (std::size_t x = 0; x < target.size(); ++x) {
        const double left = target[x] - b * proposal[x], served = mass * proposal[x];
        slot.chance.push_back(left > 0 && served > 0 ? std::min(1.0, left / served) : 0.0);
        accepted.add(proposal[x] * slot.chance.back());
      }
      const std::vector<double> groups = folded(slot.group, proposal);
      means_.insert(means_.end(), groups.begin(), groups.end());
      means_.push_back(accepted.value());
      slots_.push_back(std::move(slot));
      if (points.row(1) != points.row(0)) continue;
      b += mass;
      mass = table.residual_mass(b);
    }
  }

  /// The known means of the controls.
  const std::vector<double>& means() const { return means_; }

  /// Writes the non-zero controls of a tuple, not centred. A law with controls for a slot always has a draft there.
  void list(const Token* tuple, std::vector<Control>& out) const {
    out.clear();
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      const auto x = static_cast<std::size_t>(tuple[k]);
      out.push_back({k * per_slot + slots_[k].group[x], 1});
      if (const double chance = slots_[k].chance[x]; chance > 0)
        out.push_back({k * per_slot + default_groups, chance});
    }
  }

 private:
  struct Slot {
    std::vector<std::uint32_t> group;
    std::vector<double> chance;
  };
  std::vector<Slot> slots_;
  std::vector<double> means_;
};

}  // namespace draftproof
