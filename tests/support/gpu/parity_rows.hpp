// Random rows for tests of parity. Each shape is a case in which passes and draws of two machines could differ. A row
// depends on the trial only, so a mismatch can be reproduced alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <draftproof/gpu/batch.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof::parity {

/// For each position a row of p and `proposals` rows of q. The `padding` entries between rows are NaN, so a read past
/// a row's end is detected.
class ParityRows {
 public:
  ParityRows(int vocabulary, int proposals, int positions, std::uint64_t first_trial)
      : vocabulary_{vocabulary},
        proposals_{proposals},
        positions_{positions},
        entries_(static_cast<std::size_t>(positions * (1 + proposals)) * stride(),
                 std::numeric_limits<float>::quiet_NaN()) {
    for (int i = 0; i < positions; ++i) {
      const std::uint64_t trial = first_trial + static_cast<std::uint64_t>(i);
      for (int k = 0; k <= proposals; ++k) fill(row(i, k), trial, k);
      if (trial % shapes == equal_rows) std::ranges::copy(row(i, 0), row(i, 1).begin());
    }
  }

  FreshRows<float> host(int i) const {
    std::vector<std::span<const float>> proposals;
    for (int k = 1; k <= proposals_; ++k) proposals.push_back(row(i, k));
    return {row(i, 0), std::move(proposals)};
  }

  gpu::Batch<float> batch() const {
    const auto apart = static_cast<std::int64_t>(stride());
    gpu::Batch<float> view;
    view.positions = positions_;
    view.vocabulary = vocabulary_;
    view.proposals = proposals_;
    view.target = entries_.data();
    view.target_stride = view.proposal_stride = apart * (1 + proposals_);
    view.proposal = entries_.data() + apart;
    view.proposal_row_stride = apart;
    return view;
  }

 private:
  static constexpr std::size_t padding = 5;
  static constexpr std::uint64_t shapes = 6;
  /// The least positive entry. A smaller entry could vanish in a sum of 2^-60 units, so the mass of the tokens that are
  /// not yet drafted could be computed as zero although a draft with q > 0 is left.
  static constexpr double least = 0x1p-40;
  enum Shape : std::uint64_t { flat, half_zeros, ties, peaked, equal_rows, few_tokens };

  std::size_t stride() const { return static_cast<std::size_t>(vocabulary_) + padding; }
  std::span<float> row(int i, int k) {
    return {entries_.data() + static_cast<std::size_t>(i * (1 + proposals_) + k) * stride(),
            static_cast<std::size_t>(vocabulary_)};
  }
  std::span<const float> row(int i, int k) const { return const_cast<ParityRows*>(this)->row(i, k); }

  static double weight(Shape shape, double u, double v) {
    switch (shape) {
      case half_zeros:
        return u < 0.5 ? 0 : v;
      case ties:
        return std::floor(3 * u);
      case peaked:
        return std::pow(u, 40);
      default:
        return v;
    }
  }

  static void fill(std::span<float> row, std::uint64_t trial, int k) {
    const auto shape = static_cast<Shape>(trial % shapes);
    std::vector<double> weights(row.size());
    double total = 0;
    for (std::size_t x = 0; x < row.size(); ++x) {
      const PhiloxPair word = philox_pair(trial, static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(x), 1);
      weights[x] = weight(shape, unit_interval(word.first), unit_interval(word.second));
      // With few proposed tokens, drafts without replacement exhaust the support of q but not the support of p.
      if (shape == few_tokens && k > 0 && x % (row.size() / 3 + 1) != 0) weights[x] = 0;
      total += weights[x];
    }
    if (!(total > 0)) total = weights[trial % weights.size()] = 1;
    for (std::size_t x = 0; x < row.size(); ++x)
      row[x] = weights[x] < least * total ? 0.0f : static_cast<float>(weights[x] / total);
  }

  int vocabulary_, proposals_, positions_;
  std::vector<float> entries_;
};

}  // namespace draftproof::parity
