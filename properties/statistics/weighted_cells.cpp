#include <draftproof/properties/statistics/weighted_cells.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {
namespace {

constexpr std::size_t chebyshev_points = 9;
/// Cells with larger counts are kept as they are, because few of them have equal counts.
constexpr std::size_t shared_counts = 512;
/// r of weighted_cells.hpp: half the width of a run divided by its middle.
constexpr double half_width = 1.0 / 33;

using ChebyshevValues = std::array<double, chebyshev_points>;

/// Returns T_0 .. T_8 at t.
ChebyshevValues chebyshev(double t) {
  ChebyshevValues value{1, t};
  for (std::size_t k = 2; k < chebyshev_points; ++k) value[k] = 2 * t * value[k - 1] - value[k - 2];
  return value;
}

double root(std::size_t j) {
  return std::cos(std::numbers::pi * (2 * static_cast<double>(j) + 1) / (2 * static_cast<double>(chebyshev_points)));
}

const std::array<ChebyshevValues, chebyshev_points>& values_at_roots() {
  static const std::array<ChebyshevValues, chebyshev_points> values = [] {
    std::array<ChebyshevValues, chebyshev_points> at{};
    for (std::size_t j = 0; j < chebyshev_points; ++j) at[j] = chebyshev(root(j));
    return at;
  }();
  return values;
}

using Moments = std::array<NeumaierSum, chebyshev_points>;

void append(WeightedCells& out, double probability, std::uint64_t count, double weight) {
  out.probability.push_back(probability);
  out.count.push_back(static_cast<double>(count));
  out.weight.push_back(weight);
}

void append_nodes(WeightedCells& out, double middle, std::uint64_t count, const Moments& moments) {
  for (std::size_t j = 0; j < chebyshev_points; ++j) {
    double weight = moments[0].value();
    for (std::size_t k = 1; k < chebyshev_points; ++k) weight += 2 * values_at_roots()[j][k] * moments[k].value();
    append(out, middle * (1 + half_width * root(j)), count, weight / static_cast<double>(chebyshev_points));
  }
}

}  // namespace

CellShortener::CellShortener(std::vector<double> ascending) : probability_{std::move(ascending)} {
  constexpr double widest = (1 + half_width) / (1 - half_width);
  for (std::size_t first = 0; first < probability_.size();) {
    runs_.push_back(first);
    const double end = probability_[first] * widest;
    first = static_cast<std::size_t>(
        std::upper_bound(probability_.begin() + static_cast<std::ptrdiff_t>(first), probability_.end(), end) -
        probability_.begin());
  }
  runs_.push_back(probability_.size());
}

WeightedCells CellShortener::shorten(std::span<const std::uint64_t> counts) const {
  WeightedCells out;
  std::array<std::uint32_t, shared_counts> cells_with{};
  std::vector<Moments> moments(shared_counts);
  for (std::size_t run = 0; run + 1 < runs_.size(); ++run) {
    const std::size_t first = runs_[run], end = runs_[run + 1];
    std::size_t largest = 0;
    for (std::size_t i = first; i < end; ++i)
      if (counts[i] < shared_counts) {
        ++cells_with[counts[i]];
        largest = std::max<std::size_t>(largest, counts[i]);
      }
    const double middle = probability_[first] / (1 - half_width);
    for (std::size_t i = first; i < end; ++i) {
      if (counts[i] >= shared_counts || cells_with[counts[i]] <= chebyshev_points) {
        append(out, probability_[i], counts[i], 1);
        continue;
      }
      const ChebyshevValues value = chebyshev((probability_[i] - middle) / (middle * half_width));
      Moments& sums = moments[counts[i]];
      for (std::size_t k = 0; k < chebyshev_points; ++k) sums[k].add(value[k]);
    }
    for (std::size_t count = 0; count <= largest; ++count) {
      if (cells_with[count] > chebyshev_points) {
        append_nodes(out, middle, count, moments[count]);
        moments[count] = {};
      }
      cells_with[count] = 0;
    }
  }
  return out;
}

}  // namespace draftproof
