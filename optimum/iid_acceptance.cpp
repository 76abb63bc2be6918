#include <draftproof/optimum/iid_acceptance.hpp>

#include <algorithm>
#include <numeric>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/optimum/race_acceptance.hpp>

namespace draftproof {

namespace {

/// Whether p 2^(62 (K - 1)) >= q^K, for masses in units of 2^-62.
bool covers(std::uint64_t p, std::uint64_t q, int drafts) {
  if (p >= q) return true;  // q^K <= q
  const double left = probability(p), right = acceptance::power(probability(q), drafts);
  // The power has a relative error of K - 1 roundings. If the power underflows, p is 0 or far above the power.
  const double margin = right * (2 * drafts + 4) * 0x1p-53;
  if (left > right + margin) return true;
  if (left < right - margin) return false;
  return BigInteger(p) << (62 * (drafts - 1)) >= acceptance::power(BigInteger(q), drafts);
}

}  // namespace

bool always_accepts(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts) {
  return cut_optimum<Rational>(target, drafts) == 1;
}

bool always_accepts_iid(std::span<const Rational> target, std::span<const Rational> proposal, int drafts) {
  std::vector<std::size_t> rising(target.size());
  std::iota(rising.begin(), rising.end(), std::size_t{0});
  std::erase_if(rising, [&](std::size_t x) { return proposal[x] == 0; });
  std::sort(rising.begin(), rising.end(),
            [&](std::size_t a, std::size_t b) { return target[a] * proposal[b] < target[b] * proposal[a]; });
  Rational p = 0, q = 0;
  return std::all_of(rising.begin(), rising.end(), [&](std::size_t x) {
    p += target[x];
    q += proposal[x];
    return p >= acceptance::power(q, drafts);
  });
}

bool always_accepts_iid(const RatioTable& table, int drafts) {
  const auto outside = table.exact_prefix();
  return std::all_of(outside.begin(), outside.end(), [&](const auto& mass) {
    return covers(row_total - mass.target, row_total - mass.proposal, drafts);
  });
}

std::optional<bool> always_accepts_without_replacement(const RatioTable& table, int drafts) {
  const auto outside = table.exact_prefix();
  const auto draftable =
      std::find_if(outside.begin(), outside.end(), [](const auto& mass) { return mass.proposal > 0; });
  const auto support = outside.end() - draftable;
  // All drafts are in the support of q, so an optimum of 1 requires that p has no mass outside the support. If the
  // support has at most K tokens, all of them are drafted and the optimum is 1.
  if (draftable[-1].target > 0) return false;
  if (support <= drafts) return true;
  if (always_accepts_iid(table, drafts)) return true;
  // The error of without_replacement_optimum is below 1e-13 + V 2^-53.
  const double margin = 1e-13 + static_cast<double>(outside.size()) * 0x1p-53;
  if (without_replacement_optimum(table, drafts).acceptance < 1 - margin) return false;
  return std::nullopt;
}

}  // namespace draftproof
