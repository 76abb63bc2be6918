// Draft tuples as functions of points in a cube, with one coordinate per draft, where the draft sampling allows
// it; otherwise plain trials of the drafter. This file also defines the quantile functions of the draft samplings, and
// controls with known means.
//
//   independent draws          draft k is the quantile of its proposal at coordinate k
//   without replacement        the quantile of the mass that the earlier drafts leave
//   any other sampling         trial n of the drafter; tuples of one seed are independent
//
// Drafts that a drafter makes from shared noise are drawn here from their marginal distribution, without the noise.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <draftproof/properties/statistics/control_variates.hpp>
#include <draftproof/properties/statistics/row_groups.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/numeric/sums.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>

namespace draftproof {

// Draws drafts by the inverse distribution function over tokens in the order of p / q. Close points give drafts that
// acceptance rules treat similarly, so evenly spread points give evenly spread acceptance.
//
//   x_j      order_[j]     tokens with q > 0, p / q descending, equal ratios by id
//   S_j      below_[j]     q-mass of the first j of them in units of 2^-62
//   draw                   x_j with S_j <= bits S / 2^64 < S_(j + 1), for 64 random bits and the total S
//   without                the same after removing the intervals of the tokens drawn before
//
// Cost: one sort and a guide table; O(1) expected per draw, O(n log n) with n tokens drawn before.
//
// Error: masses are rounded from doubles. The sampled distribution is within 2^-53 of the table's in total
// variation.

class RatioQuantile {
 public:
  RatioQuantile(const RatioTable& table, int proposal) {
    std::vector<KeyedToken> keyed;
    for (Token x = 0; x < table.vocabulary(); ++x)
      if (const double q = table.proposal(x, proposal); q > 0) keyed.push_back({table.target(x) / q, x});
    sort_by_key(keyed);
    place_.resize(static_cast<std::size_t>(table.vocabulary()));
    below_.push_back(0);
    for (const auto& [ratio, x] : keyed) {
      place_[static_cast<std::size_t>(x)] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(x);
      below_.push_back(below_.back() + static_cast<std::uint64_t>(table.proposal(x, proposal) * 0x1p62));
    }
    const auto cells = std::bit_ceil(std::max<std::size_t>(2, order_.size()));
    for (std::uint64_t cell = 0, j = 0; cell <= cells; ++cell) {
      const std::uint64_t start = cell == cells ? below_.back() - 1 : scale(cell << shift(cells), below_.back());
      while (below_[j + 1] <= start) ++j;
      guide_.push_back(static_cast<std::uint32_t>(j));
    }
  }

  /// Returns the token at word / 2^64.
  Token draw(std::uint64_t word) const {
    const std::uint64_t cell = word >> shift(guide_.size() - 1);
    return find(scale(word, below_.back()), guide_[cell], guide_[cell + 1]);
  }

  /// Returns a draw from q without the n distinct tokens `seen`, each with q > 0; no_token if no mass is left.
  Token draw_without(const Token* seen, int n, std::uint64_t word) const {
    std::array<std::uint32_t, max_drafts> cut;
    std::uint64_t left = below_.back();
    for (int i = 0; i < n; ++i) {
      const std::uint32_t j = place_[static_cast<std::size_t>(seen[i])];
      left -= below_[j + 1] - below_[j];
      cut[static_cast<std::size_t>(i)] = j;
    }
    if (n == static_cast<int>(order_.size()) || left == 0) return no_token;
    std::sort(cut.begin(), cut.begin() + n);
    std::uint64_t at = scale(word, left);
    for (int i = 0; i < n && below_[cut[static_cast<std::size_t>(i)]] <= at; ++i) {
      const std::uint32_t j = cut[static_cast<std::size_t>(i)];
      at += below_[j + 1] - below_[j];
    }
    return find(at, 0, static_cast<std::uint32_t>(order_.size() - 1));
  }

 private:
  /// Returns the number of low bits of a 64-bit value after the bits that select its guide cell.
  static int shift(std::size_t cells) { return 64 - (static_cast<int>(std::bit_width(cells)) - 1); }

  /// Returns the token whose interval of the running sums contains `at`. Requires its index to be in [low, high].
  Token find(std::uint64_t at, std::uint32_t low, std::uint32_t high) const {
    const auto first = below_.begin() + low + 1, last = below_.begin() + high + 1;
    return order_[static_cast<std::size_t>(std::upper_bound(first, last, at) - below_.begin() - 1)];
  }

  std::vector<Token> order_;
  std::vector<std::uint32_t> place_, guide_;
  std::vector<std::uint64_t> below_;
};

class DraftPoints {
 public:
  enum class Form { independent, without_replacement, trials };

  /// Requires that the draft sampling is defined for these arguments. Refers to `drafter` and `table`.
  DraftPoints(const AnyDrafter& drafter, const RatioTable& table, int drafts)
      : drafter_{drafter}, table_{table}, drafts_{drafts}, form_{form_of(drafter.info())} {
    if (form_ == Form::trials) return;
    const int rows = drafter.info().several_proposals ? std::min(drafts, table.proposals()) : 1;
    for (int k = 0; k < rows; ++k) quantiles_.emplace_back(table, k);
  }

  Form form() const { return form_; }
  int drafts() const { return drafts_; }
  const RatioTable& table() const { return table_; }
  /// Returns the number of leading drafts whose marginal distribution is a proposal: q, or the k-th of several.
  int plain_drafts() const {
    return form_ == Form::independent ? drafts_ : form_ == Form::without_replacement ? 1 : 0;
  }

  /// Returns the index of the proposal of draft k.
  int row(int k) const { return drafter_.info().several_proposals ? k : 0; }

  /// Writes the tuple at the point `words` / 2^64, or trial `index` of `seed`. Returns its length.
  int draw(const std::uint64_t* words, std::uint64_t seed, std::uint64_t index, Token* out) const {
    if (form_ == Form::trials) {
      int length = 0;
      drafter_.draw(table_, drafts_, {seed, index, 1, drafts_, out, &length});
      return length;
    }
    for (int k = 0; k < drafts_; ++k) {
      if (form_ == Form::independent) {
        out[k] = quantiles_[quantiles_.size() == 1 ? 0 : static_cast<std::size_t>(k)].draw(words[k]);
        continue;
      }
      out[k] = quantiles_.front().draw_without(out, seen(out, k), words[k]);
      if (out[k] != no_token) continue;
      if (!drafter_.info().needs_k_tokens) return k;
      out[k] = UniformOnComplement(table_.vocabulary(), out, k).draw(words[k]);
    }
    return drafts_;
  }

 private:
  static Form form_of(const DrafterInfo& info) {
    const std::string_view distribution = info.shared_noise() ? info.marginal_sampling_of : info.name;
    if (distribution == "iid" || distribution == "independent") return Form::independent;
    if (distribution == "without_replacement" || distribution == "without_replacement_uniform")
      return Form::without_replacement;
    return Form::trials;
  }
  /// Returns the number of leading drafts up to the last one with q > 0; later drafts were drawn after the mass of q
  /// ran out.
  int seen(const Token* out, int k) const {
    while (k > 0 && !(table_.proposal(out[k - 1]) > 0)) --k;
    return k;
  }

  const AnyDrafter& drafter_;
  const RatioTable& table_;
  int drafts_;
  Form form_;
  std::vector<RatioQuantile> quantiles_;
};

// Functions of a draft tuple with known means, used as controls for averages over tuples.
//
//   [x_k in G_g]   32 per slot   indicator of the group along p / q_k of the k-th draft; mean q_k(G_g)
//   h_k(x_k)       1 per slot    min(1, (p - b q) / (F(b) q)), the probability that recursive rejection accepts x_k as
//                                k-th draft of one proposal; min(1, p / q_k) for different proposals; mean sum q_k h_k
//
// Correctness: any function of x_k with its exact mean keeps averages unbiased. h_k also helps schemes other
// than recursive rejection, but less. Slots whose marginal distribution is not a proposal have no controls; nor
// have slots after the eighth, which are seldom reached and would make the sums of squares large.

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

  /// Returns the known means of the controls.
  const std::vector<double>& means() const { return means_; }

  /// Writes the non-zero controls of a tuple, not centred. Requires a draft in every slot that has controls.
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
