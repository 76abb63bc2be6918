// Rows of p and q for tests of tables that a device builds. Each shape is a case in which the order, the alias cells or
// the guide of a device's table could differ from the host's table. A row depends on shape and trial only, so a
// mismatch can be reproduced alone.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <draftproof/gpu/batch.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof::parity {

enum class DistributionShape {
  random,
  zeros,
  ties,
  peaked,
  equal_rows,
  one_hot,
  denormal,
  geometric,
  steps,
  plateau
};
inline constexpr int distribution_shapes = 10;

/// Rows of one position, target first, as floats that sum to 1 within their rounding.
class DistributionRows {
 public:
  DistributionRows(int vocabulary, int proposals, DistributionShape shape, std::uint64_t trial) {
    for (int k = 0; k <= proposals; ++k) {
      rows_.push_back(row(vocabulary, shape, trial, k));
      if (shape == DistributionShape::equal_rows) rows_.back() = rows_.front();
    }
  }

  int vocabulary() const { return static_cast<int>(rows_[0].size()); }
  int proposals() const { return static_cast<int>(rows_.size()) - 1; }
  std::vector<float>& operator[](int k) { return rows_[static_cast<std::size_t>(k)]; }
  const std::vector<float>& operator[](int k) const { return rows_[static_cast<std::size_t>(k)]; }

  RatioTable table() const {
    std::vector<std::vector<double>> doubles;
    for (const auto& row : rows_) doubles.emplace_back(row.begin(), row.end());
    return {doubles.front(), std::span(doubles).subspan(1)};
  }

 private:
  static double weight(DistributionShape shape, int x, int vocabulary, std::uint64_t trial, int k) {
    const PhiloxPair words = philox_pair(trial, static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(x), 3);
    const double u = unit_interval(words.first), v = unit_interval(words.second);
    const int hot = static_cast<int>(
        scale(philox_pair(trial, static_cast<std::uint64_t>(k), 0, 4).first, static_cast<std::uint64_t>(vocabulary)));
    switch (shape) {
      case DistributionShape::zeros:  // some tokens have p = 0, q = 0 or both
        return u < 0.4 || x % 7 == 3 ? 0 : v;
      case DistributionShape::ties:
        return std::floor(3 * u) * std::exp2(x % 3);
      case DistributionShape::peaked:
        return std::pow(u, 40);
      case DistributionShape::one_hot:
        return x == hot ? 1 : 0;
      case DistributionShape::denormal:  // includes denormal floats, which round to 0 units of 2^-62
        return x == hot ? 1 : (u < 0.5 ? std::ldexp(v, -130) : std::ldexp(v, -40 - x % 40));
      case DistributionShape::geometric:
        return std::exp2(-(x % 50) - (k > 0 ? x % 3 : 0));
      case DistributionShape::steps:  // equal entries, whose alias cells are exactly full
        return k == 0 || x % 2 == 0 ? 1 : 0;
      case DistributionShape::plateau:  // for one draft, all prefixes but the first and last give equal cuts
        return k > 0 ? 1 : (x == 0 ? 2 : (x == vocabulary - 1 ? 0 : 1));
      default:
        return v + 0x1p-20;
    }
  }
  static std::vector<float> row(int vocabulary, DistributionShape shape, std::uint64_t trial, int k) {
    std::vector<double> weights;
    double total = 0;
    for (int x = 0; x < vocabulary; ++x) total += weights.emplace_back(weight(shape, x, vocabulary, trial, k));
    if (!(total > 0)) total = weights.back() = 1;
    std::vector<float> floats;
    for (const double w : weights) floats.push_back(static_cast<float>(w / total));
    for (float& entry : floats)
      if (!(entry > 0)) entry = trial % 2 == 0 ? 0.0f : -0.0f;
    return floats;
  }

  std::vector<std::vector<float>> rows_;
};

/// The rows of several positions of one vocabulary in one allocation, as a batch; entries between rows are NaN.
template <class Entry>
class DistributionBatch {
 public:
  explicit DistributionBatch(const std::vector<DistributionRows>& distributions)
      : vocabulary_{distributions[0].vocabulary()},
        proposals_{distributions[0].proposals()},
        positions_{static_cast<int>(distributions.size())} {
    for (const DistributionRows& rows : distributions)
      for (int k = 0; k <= proposals_; ++k) {
        for (const float entry : rows[k]) entries_.push_back(static_cast<Entry>(entry));
        entries_.resize(entries_.size() + padding, static_cast<Entry>(std::numeric_limits<float>::quiet_NaN()));
      }
  }

  std::vector<Entry>& entries() { return entries_; }
  Entry* row(int position, int k) { return entries_.data() + (position * (1 + proposals_) + k) * apart(); }
  gpu::Batch<Entry> batch() const {
    gpu::Batch<Entry> view;
    view.positions = positions_;
    view.vocabulary = vocabulary_;
    view.proposals = proposals_;
    view.target = entries_.data();
    view.proposal = entries_.data() + apart();
    view.target_stride = view.proposal_stride = apart() * (1 + proposals_);
    view.proposal_row_stride = apart();
    return view;
  }

 private:
  static constexpr int padding = 3;
  std::int64_t apart() const { return vocabulary_ + padding; }

  int vocabulary_, proposals_, positions_;
  std::vector<Entry> entries_;
};

}  // namespace draftproof::parity
