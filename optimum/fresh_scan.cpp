#include <draftproof/optimum/fresh_scan.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace draftproof {
namespace {

using ExactMass = RatioTable::ExactMass;

constexpr int fine_bits = 6, octaves = 8;
constexpr int buckets = 2 * octaves << fine_bits;
constexpr int lowest_step = (127 - octaves) << fine_bits;

/// Masses are below 2^63. The cast to signed integers makes the conversion to double one instruction.
double ratio_of(std::uint64_t p, std::uint64_t q) {
  return static_cast<double>(static_cast<std::int64_t>(p)) / static_cast<double>(static_cast<std::int64_t>(q));
}
std::size_t bucket_of(double ratio) {
  const int step = static_cast<int>(std::bit_cast<std::uint32_t>(static_cast<float>(ratio)) >> (23 - fine_bits));
  return static_cast<std::size_t>(std::clamp(step - lowest_step, 0, buckets - 1));
}
/// Returns a lower bound of the ratios in the bucket. Rounding to float may have moved a ratio up into the bucket, by
/// less than 2^-23 of the ratio.
double lower_bound_of(std::size_t bucket) {
  if (bucket == 0) return 0;
  const auto bits = (static_cast<std::uint32_t>(bucket) + lowest_step) << (23 - fine_bits);
  return static_cast<double>(std::bit_cast<float>(bits)) * (1 - 0x1p-23);
}

struct Bucket {
  ExactMass mass{0, 0};
  std::uint32_t tokens = 0;
};

class FreshScan {
 public:
  FreshScan(std::span<const double> target, std::span<const double> proposal, int drafts)
      : p_{quantise(target)}, q_{quantise(proposal)}, bucket_(p_.size()), drafts_{drafts} {
    for (std::size_t x = 0; x < p_.size(); ++x) {
      if ((p_[x] | q_[x]) == 0) continue;
      const auto bucket = bucket_of(ratio_of(p_[x], q_[x]));
      bucket_[x] = static_cast<std::uint16_t>(bucket);
      auto& [mass, tokens] = all_[bucket];
      mass.target += p_[x];
      mass.proposal += q_[x];
      ++tokens;
    }
  }

  Optimum run() {
    // The optimum is the least value of a cut of the tokens by ratio, so any cut's value is an upper bound. `bar`
    // starts as the least value of the cuts at the ends of buckets.
    double bar = 1;
    each_bucket([&](std::size_t, ExactMass, ExactMass to, std::size_t) { bar = std::min(bar, value(to)); });
    // `bar` is raised by the error of rounding: the value of a cut has (K + 2) roundings, and the linear bound of
    // fresh_scan.hpp a few more.
    bar += (2 * drafts_ + 16) * 0x1p-53;
    std::array<bool, buckets> open{};
    each_bucket([&](std::size_t bucket, ExactMass from, ExactMass to, std::size_t) {
      const double rise = lower_bound_of(bucket) * probability(to.proposal - from.proposal);
      const double at_start = cut_value(probability(to.target) - rise, probability(from.proposal), drafts_);
      open[bucket] = std::min(value(to), at_start) <= bar;
    });
    const auto keyed = tokens_in(open);

    std::size_t tokens = 0;
    for (const Bucket& bucket : all_) tokens += bucket.tokens;
    Optimum best{1, tokens};
    const auto consider = [&](ExactMass outside, std::size_t cut) {
      if (const double found = value(outside); found < best.acceptance) best = {found, cut};
    };
    consider({0, 0}, 0);
    auto next = keyed.begin();
    each_bucket([&](std::size_t bucket, ExactMass from, ExactMass to, std::size_t cut) {
      if (!open[bucket]) return consider(to, cut + all_[bucket].tokens);
      for (std::uint32_t i = 0; i < all_[bucket].tokens; ++i, ++next) {
        from.target += p_[static_cast<std::size_t>(next->token)];
        from.proposal += q_[static_cast<std::size_t>(next->token)];
        consider(from, ++cut);
      }
    });
    return best;
  }

 private:
  double value(ExactMass outside) const {
    return cut_value(probability(outside.target), probability(outside.proposal), drafts_);
  }

  /// Visits the non-empty buckets by falling ratio, each with the masses of all tokens before the bucket and before the
  /// next bucket, and with the number of tokens before the bucket.
  template <class Visit>
  void each_bucket(Visit visit) const {
    ExactMass from{0, 0};
    std::size_t cut = 0;
    for (std::size_t bucket = buckets; bucket-- > 0;) {
      const auto& [mass, tokens] = all_[bucket];
      if (tokens == 0) continue;
      const ExactMass to{from.target + mass.target, from.proposal + mass.proposal};
      visit(bucket, from, to, cut);
      from = to;
      cut += tokens;
    }
  }

  /// Returns the tokens of the open buckets in the order of a ratio table.
  std::vector<KeyedToken> tokens_in(const std::array<bool, buckets>& open) const {
    std::vector<KeyedToken> keyed;
    for (std::size_t x = 0; x < p_.size(); ++x)
      if (open[bucket_[x]] && (p_[x] | q_[x]) != 0) keyed.push_back({ratio_of(p_[x], q_[x]), static_cast<Token>(x)});
    sort_by_key(keyed);
    return keyed;
  }

  std::vector<std::uint64_t> p_, q_;
  std::vector<std::uint16_t> bucket_;
  std::array<Bucket, buckets> all_{};
  int drafts_;
};

/// Up to this vocabulary size, sorting all tokens costs less than clearing the buckets.
constexpr std::size_t few_tokens = 128;

/// Returns the optimum from the values of all cuts between tokens, in the order of a ratio table.
Optimum scan_few(std::span<const double> target, std::span<const double> proposal, int drafts) {
  const auto p = quantise(target), q = quantise(proposal);
  std::array<KeyedToken, few_tokens> keyed;
  std::size_t tokens = 0;
  for (std::size_t x = 0; x < p.size(); ++x)
    if ((p[x] | q[x]) != 0) keyed[tokens++] = {ratio_of(p[x], q[x]), static_cast<Token>(x)};
  std::sort(keyed.begin(), keyed.begin() + tokens, [](const KeyedToken& a, const KeyedToken& b) {
    return a.key > b.key || (a.key == b.key && a.token < b.token);
  });
  ExactMass outside{0, 0};
  Optimum best{1, tokens};
  for (std::size_t cut = 0;; ++cut) {
    const double found = cut_value(probability(outside.target), probability(outside.proposal), drafts);
    if (found < best.acceptance) best = {found, cut};
    if (cut == tokens) return best;
    const auto x = static_cast<std::size_t>(keyed[cut].token);
    outside.target += p[x];
    outside.proposal += q[x];
  }
}

}  // namespace

Optimum fresh_iid_optimum(std::span<const double> target, std::span<const double> proposal, int drafts) {
  return target.size() <= few_tokens ? scan_few(target, proposal, drafts) : FreshScan(target, proposal, drafts).run();
}

}  // namespace draftproof
