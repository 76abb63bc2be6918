#include <draftproof/properties/statistics/log_mean_exp.hpp>
#include <draftproof/properties/statistics/moved_mass_bets.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include <draftproof/properties/statistics/audit_banks.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>

namespace draftproof {

namespace {

/// Adjacent shares differ by at most a factor of 2: for a true share in between, the bet on the better of the two grows
/// by 8/9 of the relative entropy or more.
constexpr std::array<double, 16> all_shares{0.001,  0.002,  0.004,  0.007,  0.01,  0.015,  0.025,  0.05,
                                            -0.001, -0.002, -0.004, -0.007, -0.01, -0.015, -0.025, -0.05};
constexpr double least_factor = 1.0 / 16, most_factor = 256;

}  // namespace

MovedMassBets::MovedMassBets(std::string name, std::vector<std::string> cells)
    : name_{std::move(name)}, log_e_(all_shares.size()), growth_(all_shares.size()), variance_(all_shares.size()) {
  for (std::string& where : cells) cells_.push_back({.where = std::move(where)});
}

std::span<const double> MovedMassBets::shares() { return all_shares; }

void MovedMassBets::add(std::span<const double> mass, std::span<const double> slack, std::span<const double> moved,
                        int cell, std::uint64_t record) {
  const auto drawn = static_cast<std::size_t>(cell);
  const double total = std::accumulate(mass.begin(), mass.end(), 0.0);
  const double scale = 1 / (1 - std::accumulate(slack.begin(), slack.end(), 0.0));
  for (std::size_t i = 0; i < all_shares.size(); ++i) {
    const std::span<const double> after = moved.subspan(i * mass.size(), mass.size());
    const auto factor = [&](std::size_t g) {
      const double room = mass[g] + slack[g];
      return room > 0 ? std::clamp((after[g] + slack[g]) / room, least_factor, most_factor) : 1.0;
    };
    double mean = 0, bound = 0, gain = 0, square = 0, all_after = 0;
    for (std::size_t g = 0; g < mass.size(); ++g) mean += mass[g] * factor(g) / total;
    for (std::size_t g = 0; g < mass.size(); ++g) {
      if (mass[g] + slack[g] == 0) continue;
      const double f = factor(g), log_f = std::log(f);
      bound += slack[g] * std::abs(f - mean);
      gain += after[g] * log_f;
      square += after[g] * log_f * log_f;
      all_after += after[g];
    }
    gain /= all_after;
    const double log_bound = std::log(mean + scale * bound);
    log_e_[i] += std::log(factor(drawn)) - log_bound;
    growth_[i] += gain - log_bound;
    variance_[i] += square / all_after - gain * gain;
  }
  for (std::size_t g = 0; g < mass.size(); ++g) cells_[g].add(mass[g] / total, g == drawn, record);
  ++draws_;
}

double MovedMassBets::log_e() const { return log_mean_exp(log_e_); }

GroupExcess MovedMassBets::worst() const {
  GroupExcess worst;
  for (const CellCount& cell : cells_) worst.raise(cell);
  return worst;
}

std::vector<SmallestFound> MovedMassBets::smallest(double log_threshold, double weight) const {
  constexpr double z = 2.3263478740408408;  // 0.99 quantile of the standard normal distribution
  const double needed = log_threshold - std::log(weight / static_cast<double>(all_shares.size()));
  std::vector<SmallestFound> result;
  for (const bool towards : {true, false}) {
    double best = 1;
    for (std::size_t i = 0; i < all_shares.size(); ++i)
      if ((all_shares[i] > 0) == towards && growth_[i] - z * std::sqrt(variance_[i]) >= needed)
        best = std::min(best, std::abs(all_shares[i]));
    if (best < 1) result.push_back({towards ? "to the most likely token" : "from the most likely token", best, 0});
  }
  return result;
}

// The cells of bets on moved mass, and their distributions, which audit_banks.hpp declares.

namespace {

constexpr std::size_t verdict_cells = 7;
using VerdictDistribution = std::array<double, verdict_cells>;

constexpr std::size_t cell_of(MovedVerdict verdict) { return static_cast<std::size_t>(verdict); }

double summed(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Returns the share limited so that at most half of the mass that could move moves.
double clamped_share(double share, double top) { return std::clamp(share, -top / 2, (1 - top) / 2); }

/// Sums over a pair of rows that determine the distribution of its verdicts.
struct VerdictSums {
  double top = 0, top_q = 0, both = 0;  ///< sums of p, of q and of min(p, q) over the most likely tokens
  double accepted = 0;                  ///< sum of min(p, q) over the other tokens
  double low = 0;                       ///< sum of p over the other tokens with p < q
};

VerdictSums verdict_sums(const RowGroups& rows) {
  VerdictSums pair{.top = rows.top.mass[0], .top_q = rows.top_q, .both = rows.top_overlap};
  pair.accepted = std::max(rows.overlap - pair.both, 0.0);
  for (std::size_t g = 0; g < ratio_groups / 2; ++g) pair.low += rows.ratio_p.mass[g];
  if (pair.top < pair.top_q) pair.low = std::max(pair.low - pair.top, 0.0);
  return pair;
}

/// Returns the distribution after a share has moved; share 0 gives the distribution of the rows.
VerdictDistribution verdict_distribution(const VerdictSums& pair, double share, bool drafts_have_distribution) {
  const double after = pair.top + share, low = pair.low * share / (1 - pair.top);
  const double both = pair.both + std::min(after, pair.top_q) - std::min(pair.top, pair.top_q);
  VerdictDistribution distribution{};
  distribution[cell_of(MovedVerdict::rejected_for_top)] = std::max(after - both, 0.0);
  distribution[cell_of(MovedVerdict::rejected_top)] = drafts_have_distribution ? std::max(pair.top_q - both, 0.0) : 0;
  distribution[cell_of(MovedVerdict::accepted_top)] = std::max(both, 0.0);
  distribution[cell_of(MovedVerdict::accepted)] = std::max(pair.accepted - low, 0.0);
  distribution[cell_of(MovedVerdict::rejected)] = std::max(1 - summed(distribution), 0.0);
  return distribution;
}

}  // namespace

MovedMassBets moved_tokens(std::string name) { return {std::move(name), {"most likely token", "other tokens"}}; }

void add_moved_token(MovedMassBets& bets, const RowGroups& rows, bool top, std::uint64_t record) {
  const double mass = rows.top.mass[0];
  if (!(mass < 1)) return;  // no mass can move
  std::vector<double> moved;
  for (const double share : MovedMassBets::shares()) {
    const double after = mass + clamped_share(share, mass);
    moved.insert(moved.end(), {after, 1 - after});
  }
  bets.add(rows.top.mass, rows.top.slack, moved, top ? 0 : 1, record);
}

MovedMassBets moved_verdicts(std::string name) {
  return {std::move(name),
          {"rejected, then the most likely token", "rejected: the most likely token", "rejected, other tokens",
           "accepted: the most likely token", "accepted, other tokens", "most likely token, no draft",
           "other tokens, no draft"}};
}

void add_moved_verdict(MovedMassBets& bets, const RowGroups& rows, MovedVerdict verdict,
                       bool drafts_have_distribution, std::uint64_t record) {
  const double top = rows.top.mass[0];
  if (!(top < 1)) return;
  VerdictDistribution mass{}, slack{};
  std::vector<double> moved;
  if (verdict == MovedVerdict::alone_top || verdict == MovedVerdict::alone) {
    for (std::size_t i = 0; i < 2; ++i) {
      mass[cell_of(MovedVerdict::alone_top) + i] = rows.top.mass[i];
      slack[cell_of(MovedVerdict::alone_top) + i] = rows.top.slack[i];
    }
    for (const double share : MovedMassBets::shares()) {
      VerdictDistribution distribution{};
      distribution[cell_of(MovedVerdict::alone_top)] = top + clamped_share(share, top);
      distribution[cell_of(MovedVerdict::alone)] = 1 - distribution[cell_of(MovedVerdict::alone_top)];
      moved.insert(moved.end(), distribution.begin(), distribution.end());
    }
  } else {
    const VerdictSums pair = verdict_sums(rows);
    // If several tokens are most likely, one of them may be rejected and another emitted, which belongs to two cells.
    // The cell then does not depend on the rejected draft.
    const bool drafts = drafts_have_distribution && !(pair.top > pair.both && pair.top_q > pair.both);
    mass = verdict_distribution(pair, 0, drafts);
    for (const double share : MovedMassBets::shares()) {
      const VerdictDistribution distribution = verdict_distribution(pair, clamped_share(share, top), drafts);
      moved.insert(moved.end(), distribution.begin(), distribution.end());
    }
    // As in top_verdict_masses(), each of the three cells of the most likely tokens is off by at most the rounding
    // errors of p and q on these tokens.
    const double all_p = summed(rows.ratio_p.slack), all_q = summed(rows.ratio_q.slack);
    const double of_top =
        std::min(rows.top.slack[0] + all_p * top + rows.top_slack_q + all_q * pair.top_q, 2 * (all_p + all_q));
    slack[cell_of(MovedVerdict::rejected_for_top)] = slack[cell_of(MovedVerdict::accepted_top)] = of_top;
    slack[cell_of(MovedVerdict::rejected_top)] = drafts ? of_top : 0;
    slack[cell_of(MovedVerdict::accepted)] = slack[cell_of(MovedVerdict::rejected)] = 2 * (all_p + all_q) - of_top;
    if (verdict == MovedVerdict::rejected_top && !drafts) verdict = MovedVerdict::rejected;
  }
  bets.add(mass, slack, moved, static_cast<int>(verdict), record);
}

}  // namespace draftproof
