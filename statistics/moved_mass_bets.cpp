#include <draftproof/statistics/moved_mass_bets.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include <draftproof/statistics/log_mean_exp.hpp>

namespace draftproof {
namespace {

/// Neighbours are at most a factor of 2 apart: between them the better one grows with 8/9 of the entropy or more.
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
  for (std::size_t g = 0; g < mass.size(); ++g) {
    const double m = mass[g] / total;
    cells_[g].expected += m;
    cells_[g].variance += m * (1 - m);
  }
  ++cells_[drawn].seen;
  constexpr std::size_t named = 5;
  if (cells_[drawn].first.size() < named) cells_[drawn].first.push_back(record);
  ++draws_;
}

double MovedMassBets::log_e() const { return log_mean_exp(log_e_); }

GroupExcess MovedMassBets::worst() const {
  GroupExcess worst;
  for (const Cell& cell : cells_) {
    const auto seen = static_cast<double>(cell.seen);
    const double deviations = (seen - cell.expected) / std::sqrt(cell.variance);
    if (cell.variance > 0 && deviations > worst.deviations)
      worst = {cell.where, seen, cell.expected, deviations, cell.first};
  }
  return worst;
}

std::vector<SmallestFound> MovedMassBets::smallest(double log_threshold, double weight) const {
  constexpr double z = 2.3263478740408408;  // 0.99 of a standard normal variable
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

}  // namespace draftproof
