#include <draftproof/properties/statistics/group_bets.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include <draftproof/properties/statistics/error_budget.hpp>

namespace draftproof {
namespace {

constexpr std::array<double, 17> all_odds{1.0 / 16, 1.0 / 4,  1.0 / 2, 1 / 1.5, 1 / 1.2, 1 / 1.1,
                                          1 / 1.05, 1 / 1.02, 1.02,    1.05,    1.1,     1.2,
                                          1.5,      2,        4,       16,      256};
constexpr std::array<double, 4> strengths{30, 300, 3000, 30000};
constexpr double share_of_steps = 0.5, share_of_tilts = 0.3, share_of_learned = 0.2;
constexpr std::size_t most_functions = 32;
/// The logarithm of a product of bounds U is taken after this many records. Each U is in e^-6 .. e^10, so the product
/// does not overflow before.
constexpr int longest_product = 32;

}  // namespace

std::span<const double> GroupBets::odds() { return all_odds; }

GroupBets::GroupBets(GroupDesign design, int parts) : design_{std::move(design)} {
  const auto groups = static_cast<std::size_t>(design_.groups);
  for (const GroupScore& score : design_.scores) tilts_ += score.tilts.size();
  const std::size_t learned = design_.learned ? strengths.size() : 0;
  functions_ = tilts_ + learned;
  for (std::size_t g = 0; g < groups; ++g) {
    for (const GroupScore& score : design_.scores)
      for (const double theta : score.tilts) {
        log_tilt_.push_back(theta * score.score[g]);
        bets_.push_back(std::exp(log_tilt_.back()));
      }
    bets_.insert(bets_.end(), learned, 1);
  }
  const double total = share_of_steps + (tilts_ > 0 ? share_of_tilts : 0) + (learned > 0 ? share_of_learned : 0);
  weights_.assign(steps(), share_of_steps / total / static_cast<double>(steps()));
  weights_.insert(weights_.end(), tilts_,
                  share_of_tilts / total / static_cast<double>(std::max<std::size_t>(tilts_, 1)));
  weights_.insert(weights_.end(), learned, share_of_learned / total / static_cast<double>(strengths.size()));
  assert(functions_ <= most_functions);
  counts_.assign(groups, 0);
  means_.assign(groups, 0);
  first_.resize(design_.cuts.size());
  moments_.resize(design_.scores.size());
  Part empty;
  empty.log_bound.assign(weights_.size(), 0);
  empty.bound.assign(weights_.size(), 1);
  empty.before.assign(design_.cuts.size(), 0);
  empty.gained.assign(tilts_ + learned, 0);
  empty.expected.assign(design_.cuts.size(), 0);
  empty.variance.assign(design_.cuts.size(), 0);
  parts_.assign(static_cast<std::size_t>(parts), empty);
}

void GroupBets::add(std::span<const double> mass, std::span<const double> slack, int group, std::uint64_t record,
                    int part_number) {
  Part& part = parts_[static_cast<std::size_t>(part_number)];
  const auto drawn = static_cast<std::size_t>(group);
  const double all_slack = std::accumulate(slack.begin(), slack.end(), 0.0), scale = 1 / (1 - all_slack);

  // The bound of a step depends on the row only through the probability before the cut.
  double before = 0, slack_before = 0;
  std::size_t at = 0, bet = 0;
  for (std::size_t k = 0; k < design_.cuts.size(); ++k) {
    const auto end = static_cast<std::size_t>(design_.cuts[k].first);
    for (; at < end; ++at) {
      before += mass[at];
      slack_before += slack[at];
    }
    const double m = std::min(before, 1.0);
    const double moved = scale * ((1 - m) * slack_before + m * (all_slack - slack_before));
    for (const double c : all_odds) part.bound[bet++] *= 1 + (c - 1) * m + std::abs(c - 1) * moved;
    const bool inside = drawn < end;
    part.before[k] += inside;
    part.expected[k] += m;
    part.variance[k] += m * (1 - m);
    if (auto& named = first_[k][inside ? 0 : 1]; named.size() < CellCount::most_first) named.push_back(record);
  }

  // The bound of a tilt or of learned odds needs the mean of its function f over the groups. The inner loop is over the
  // functions, because bets_ stores the values of all functions on one group next to each other.
  const auto groups = static_cast<std::size_t>(design_.groups);
  std::array<double, most_functions> mean{}, moved{};
  for (std::size_t g = 0; g < groups; ++g) {
    if (mass[g] == 0) continue;
    const double* const f = bets_.data() + g * functions_;
    for (std::size_t t = 0; t < functions_; ++t) mean[t] += mass[g] * f[t];
  }
  for (std::size_t g = 0; g < groups; ++g) {
    if (slack[g] == 0) continue;
    const double* const f = bets_.data() + g * functions_;
    for (std::size_t t = 0; t < functions_; ++t) moved[t] += slack[g] * std::abs(f[t] - mean[t]);
  }
  for (std::size_t t = 0; t < functions_; ++t) part.bound[bet + t] *= mean[t] + scale * moved[t];
  for (std::size_t t = 0; t < tilts_; ++t) part.gained[t] += log_tilt_[drawn * tilts_ + t];
  for (std::size_t t = tilts_; t < functions_; ++t) part.gained[t] += std::log(bets_[drawn * functions_ + t]);
  learn(mass, drawn);
  for (std::size_t s = 0; s < design_.scores.size(); ++s) {
    const std::vector<double>& score = design_.scores[s].score;
    double center = 0, square = 0, spread = 0;
    for (std::size_t g = 0; g < groups; ++g) center += mass[g] * score[g];
    for (std::size_t g = 0; g < groups; ++g) {
      const double from_center = score[g] - center;
      square += mass[g] * from_center * from_center;
      spread += mass[g] * std::abs(from_center);
    }
    moments_[s].mean += center;
    moments_[s].variance += square;
    moments_[s].spread += spread;
  }
  ++part.draws;
  ++draws_;
  if (++part.pending == longest_product) flush(part);
}

void GroupBets::learn(std::span<const double> mass, std::size_t drawn) {
  if (functions_ == tilts_) return;
  counts_[drawn] += 1;
  for (std::size_t g = 0; g < mass.size(); ++g) {
    if (mass[g] == 0 && g != drawn) continue;
    means_[g] += mass[g];
    double* const f = bets_.data() + g * functions_ + tilts_;
    for (std::size_t i = 0; i < strengths.size(); ++i)
      f[i] = (strengths[i] + counts_[g]) / (strengths[i] + means_[g]);
  }
}

void GroupBets::flush(Part& part) const {
  for (std::size_t bet = 0; bet < weights_.size(); ++bet) {
    part.log_bound[bet] += std::log(part.bound[bet]);
    part.bound[bet] = 1;
  }
  part.pending = 0;
}

std::vector<double> GroupBets::logs(const Part& part) const {
  std::vector<double> result(weights_.size());
  std::size_t bet = 0;
  for (std::size_t k = 0; k < design_.cuts.size(); ++k)
    for (const double c : all_odds) result[bet++] = static_cast<double>(part.before[k]) * std::log(c);
  for (const double gain : part.gained) result[bet++] = gain;
  for (bet = 0; bet < result.size(); ++bet) result[bet] -= part.log_bound[bet] + std::log(part.bound[bet]);
  return result;
}

double GroupBets::log_e() const {
  std::vector<double> sum(weights_.size());
  for (const Part& part : parts_) {
    if (part.draws == 0) continue;
    const std::vector<double> of_part = logs(part);
    for (std::size_t bet = 0; bet < sum.size(); ++bet) sum[bet] += of_part[bet];
  }
  return log_weighted_mean_exp(sum, weights_);
}

double GroupBets::log_e_of_parts() const {
  std::vector<double> of_parts;
  for (const Part& part : parts_) of_parts.push_back(log_weighted_mean_exp(logs(part), weights_));
  return log_mean_exp(of_parts);
}

GroupExcess GroupBets::worst(int chosen) const {
  GroupExcess worst;
  for (std::size_t k = 0; k < design_.cuts.size(); ++k) {
    double seen = 0, expected = 0, variance = 0, draws = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (chosen >= 0 && static_cast<std::size_t>(chosen) != i) continue;
      seen += static_cast<double>(parts_[i].before[k]);
      expected += parts_[i].expected[k];
      variance += parts_[i].variance[k];
      draws += static_cast<double>(parts_[i].draws);
    }
    const bool more = seen > expected;
    const double deviations = std::abs(seen - expected) / std::sqrt(variance);
    if (!(variance > 0) || !(deviations > worst.deviations)) continue;
    worst = {.where = more ? design_.cuts[k].before : design_.cuts[k].behind,
             .observed = more ? seen : draws - seen,
             .expected = more ? expected : draws - expected,
             .deviations = deviations,
             .first = first_[k][more ? 0 : 1]};
  }
  return worst;
}

std::vector<SmallestFound> GroupBets::smallest(double log_threshold, double weight) const {
  constexpr double z = 2.3263478740408408;  // 0.99 quantile of the standard normal distribution
  const auto n = static_cast<double>(draws_);
  std::vector<double> bounds(weights_.size());
  for (const Part& part : parts_)
    for (std::size_t bet = 0; bet < bounds.size(); ++bet)
      bounds[bet] += part.log_bound[bet] + std::log(part.bound[bet]);
  const auto needed = [&](std::size_t bet) { return log_threshold - std::log(weight * weights_[bet]) + bounds[bet]; };

  std::vector<SmallestFound> result;
  for (std::size_t k = 0; k < design_.cuts.size(); ++k) {
    double expected = 0, variance = 0;
    for (const Part& part : parts_) {
      expected += part.expected[k];
      variance += part.variance[k];
    }
    if (variance == 0) continue;  // no row has mass on both sides: deviations across the cut are impossible
    for (const bool more : {true, false}) {
      double best = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < all_odds.size(); ++i) {
        const double gain = std::log(all_odds[i]);
        if ((gain > 0) != more) continue;
        // |gain| (n d - z sqrt(V + n d)) >= a: a quadratic in y = sqrt(V + n d), y^2 - z y - V - a / |gain| = 0.
        const double a = needed(k * all_odds.size() + i) - expected * gain;
        const double inner = z * z / 4 + variance + a / std::abs(gain);
        const double y = z / 2 + std::sqrt(std::max(inner, 0.0));
        best = std::min(best, (y * y - variance) / n);
      }
      const double room = (more ? n - expected : expected) / n;  // the largest share that can move to this side
      if (best > 0 && best < room)
        result.push_back({more ? design_.cuts[k].before : design_.cuts[k].behind, best, 0});
    }
  }
  std::size_t bet = steps();
  for (std::size_t s = 0; s < design_.scores.size(); ++s) {
    SmallestFound best{design_.scores[s].name, std::numeric_limits<double>::infinity(), 0};
    for (const double theta : design_.scores[s].tilts) {
      const Moments& of = moments_[s];
      const double tilt = (needed(bet++) - theta * of.mean + z * std::abs(theta) * std::sqrt(of.variance)) /
                          (std::abs(theta) * of.variance);
      const double distance = tilt * of.spread / (2 * n);
      if (tilt > 0 && distance < best.total_variation) best = {best.direction, distance, std::copysign(tilt, theta)};
    }
    if (best.total_variation < 0.5) result.push_back(best);
  }
  return result;
}

}  // namespace draftproof
