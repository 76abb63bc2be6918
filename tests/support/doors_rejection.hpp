// A verifier that draws its own numbers, for tests of trials through doors.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/doors/program.hpp>
#include <draftproof/doors/wire/served.hpp>

namespace draftproof::doors {

/// Uniforms of a seed.
class SeedUniforms {
 public:
  explicit SeedUniforms(std::uint64_t seed) : state_{seed} {}
  double next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return static_cast<double>((word ^ (word >> 31)) >> 11) * 0x1p-53;
  }
  Token pick(const std::vector<double>& weights) {
    const double at = next() * std::accumulate(weights.begin(), weights.end(), 0.0);
    double sum = 0;
    Token last = 0;
    for (std::size_t x = 0; x < weights.size(); ++x) {
      if (weights[x] > 0) last = static_cast<Token>(x);
      if (at < (sum += weights[x])) return static_cast<Token>(x);
    }
    return last;
  }

 private:
  std::uint64_t state_;
};

/// A verifier that draws its own numbers, seeded or not: rejection with one residual after the other, of one position or of
/// a chain.
class Rejection final : public Served {
 public:
  explicit Rejection(Declaration declaration) : declaration_{std::move(declaration)} {}

  bool residual_is_p = false;
  bool divides_nothing = false;   ///< a residual without mass is divided by its sum
  bool bonus_is_late = false;     ///< of a chain: the token after the last draft is drawn from the first row of p
  int fails_at = -1;              ///< batch whose rows fail
  bool always_fails = false;      ///< every row of every batch
  int breaks_at = -1;             ///< batch that breaks the protocol
  std::set<int> sizes{};          ///< of batches
  std::set<Randomness> asked{};   ///< kinds of randomness
  std::set<int> proposal_rows{};  ///< of batches

  const Declaration& declaration() const override { return declaration_; }
  void verify(const ServedBatch& batch, ServedResult& result) override {
    EXPECT_LE(batch.rows, declaration_.most_rows);
    EXPECT_EQ(batch.dtype, declaration_.dtypes.front());
    EXPECT_EQ(batch.kind, declaration_.rows.front());
    EXPECT_EQ(batch.target_rows, declaration_.level == Level::chain ? batch.drafts_a_row + 1 : 1);
    sizes.insert(batch.rows);
    asked.insert(batch.randomness);
    proposal_rows.insert(batch.proposal_rows);
    if (batches_ == breaks_at) throw DoorError("rejection: found no answer");
    for (int row = 0; row < batch.rows; ++row) {
      if (batches_ == fails_at || always_fails) {
        result.set(row, RowStatus::failed, "no memory");
        continue;
      }
      const bool seeded = batch.randomness == Randomness::seeded;
      SeedUniforms random(seeded ? static_cast<std::uint64_t>(batch.seeds[static_cast<std::size_t>(row)])
                                 : 0xD1342543DE82EF95u * ++rows_so_far_);
      const std::vector<Token> tokens = decide(input_of_row(batch, row), random);
      std::copy(tokens.begin(), tokens.end(), result.tokens_of(row).begin());
      result.counts[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(tokens.size());
    }
    ++batches_;
  }

 private:
  std::vector<double> law(const ServedBatch& batch, int row, int i, bool target) const {
    std::vector<double> values;
    const auto read = [&](const auto& entries) {
      for (const auto value : entries)
        values.push_back(batch.kind == RowKind::logits ? std::exp(static_cast<double>(value))
                                                       : static_cast<double>(value));
    };
    if (batch.dtype == Dtype::float64)
      read(target ? batch.target<double>(row, i) : batch.proposal<double>(row, i));
    else
      read(target ? batch.target<float>(row, i) : batch.proposal<float>(row, i));
    return values;
  }
  Input input_of_row(const ServedBatch& batch, int row) const {
    Input input;
    for (int i = 0; i < batch.target_rows; ++i) input.p.push_back(law(batch, row, i, true));
    for (int i = 0; i < batch.proposal_rows; ++i) input.q.push_back(law(batch, row, i, false));
    const auto first = batch.drafts.begin() + std::ptrdiff_t{row} * batch.drafts_a_row;
    input.drafts.assign(first, first + batch.lengths[static_cast<std::size_t>(row)]);
    return input;
  }
  void reduce(std::vector<double>& target, const std::vector<double>& q) const {
    const std::vector<double> whole = target;
    for (std::size_t y = 0; y < target.size(); ++y) target[y] = std::max(target[y] - q[y], 0.0);
    if (!divides_nothing && std::ranges::none_of(target, [](double weight) { return weight > 0; }))
      target = whole;  // nothing left by rounding
    const double total = std::accumulate(target.begin(), target.end(), 0.0);
    for (double& weight : target) weight /= total;
  }
  std::vector<Token> decide_chain(const Input& input, SeedUniforms& random) const {
    std::vector<Token> tokens;
    for (std::size_t k = 0; k < input.drafts.size(); ++k) {
      const auto x = static_cast<std::size_t>(input.drafts[k]);
      std::vector<double> target = input.p[k];
      if (!(random.next() * input.q[k][x] < target[x])) {
        if (!residual_is_p) reduce(target, input.q[k]);
        tokens.push_back(random.pick(target));
        return tokens;
      }
      tokens.push_back(input.drafts[k]);
    }
    tokens.push_back(random.pick(input.p[bonus_is_late ? 0 : input.drafts.size()]));
    return tokens;
  }
  std::vector<Token> decide(const Input& input, SeedUniforms& random) const {
    if (declaration_.level == Level::chain) return decide_chain(input, random);
    std::vector<double> target = input.p[0];
    for (std::size_t k = 0; k < input.drafts.size(); ++k) {
      const std::vector<double>& q = input.q[input.q.size() == 1 ? 0 : k];
      const auto x = static_cast<std::size_t>(input.drafts[k]);
      if (random.next() * q[x] < target[x]) return {input.drafts[k]};
      if (!residual_is_p) reduce(target, q);
    }
    return {random.pick(target)};
  }

  Declaration declaration_;
  int batches_ = 0;
  std::uint64_t rows_so_far_ = 0;
};

inline Declaration rejection_of(Level level) {
  return {.name = "rejection", .level = level, .randomness = {Randomness::seeded}, .most_vocabulary = 32};
}

}  // namespace draftproof::doors
