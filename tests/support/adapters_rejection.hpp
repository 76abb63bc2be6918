// Rejection sampling whose parts a test can replace by wrong parts. It runs as a program that draws from a tape, whose
// distributions are then checked, or as a Served that draws from seeds.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/tests/support/adapters_in_process.hpp>

namespace draftproof::adapters {

inline Weights residual_is_p(const Weights& p, const Weights&) { return p; }
/// A wrong test: with u = 0 it accepts a token with p = 0.
inline bool accepts_equal_numbers(double u, double p, double q) { return u * q <= p; }

/// The nodes at which the scheme draws from p if the residual has no mass.
enum class Fallback { never, at_root, always };

/// Verifies a position, a chain or a tree: at a node it tests the drafts in turn, each against the residual of p that
/// the rejected siblings left.
struct RejectionSampling {
  std::function<bool(double u, double p, double q)> accepts = [](double u, double p, double q) { return u * q < p; };
  std::function<Weights(const Weights& p, const Weights& q)> residual = residual_of;
  /// Draws the last token; `u` is the uniform that was drawn last before this draw.
  std::function<Token(Draws& draws, const Weights& weights, double u)> last =
      [](Draws& draws, const Weights& weights, double) { return draws.pick(weights); };
  std::function<Weights(const Weights& row)> read = [](const Weights& row) { return row; };
  Fallback fallback = Fallback::never;
  bool bonus_of_first_row = false;  ///< if true, the bonus token is wrongly drawn from the first row of p

  std::vector<Token> operator()(const Input& input, Draws& draws) const {
    const bool position = input.p.size() == 1;
    const auto parent = [&](std::size_t i) {
      return position ? -1 : input.parents.empty() ? static_cast<int>(i) - 1 : input.parents[i];
    };
    std::vector<Token> tokens;
    double u = 0;
    for (int node = -1;;) {
      const Weights target = read(input.p[static_cast<std::size_t>(position ? 0 : node + 1)]);
      Weights left = target;
      bool moved = false;
      int rejected = 0;
      for (std::size_t i = 0; i < input.drafts.size() && !moved; ++i) {
        if (parent(i) != node) continue;
        const Weights q = read(input.q[input.q.size() == 1 ? 0 : i]);
        const auto x = static_cast<std::size_t>(input.drafts[i]);
        if (rejected > 0) {
          const double total = std::accumulate(left.begin(), left.end(), 0.0);
          for (double& weight : left) weight /= total;
        }
        u = draws.coin();
        if (!accepts(u, left[x], q[x])) {
          ++rejected;
          left = residual(left, q);
          const bool may_fall = fallback == Fallback::always || (fallback == Fallback::at_root && node < 0);
          if (may_fall && std::ranges::none_of(left, [](double weight) { return weight > 0; })) left = target;
          continue;
        }
        tokens.push_back(input.drafts[i]);
        if (position) return tokens;
        std::size_t first = 0;  // index of the first among equal siblings, the only one with children
        while (parent(first) != node || input.drafts[first] != input.drafts[i]) ++first;
        node = static_cast<int>(first);
        moved = true;
      }
      if (moved) continue;
      if (bonus_of_first_row && rejected == 0) left = read(input.p[0]);
      tokens.push_back(last(draws, left, u));
      return tokens;
    }
  }
};

inline DistributionChecks distributions_of(InProcess::Body body, int bits = 24, Level level = Level::chain) {
  InProcess program(std::move(body), bits);
  const Declaration declaration{.name = "chain", .level = level, .coin_bits = bits};
  return check_distributions(program, declaration, {.instances = 60, .adapter = "exec:mine"});
}

/// Expects that all checks that are not listed in `failed` passed.
inline void expect_others_passed(const DistributionChecks& checks, const std::vector<std::string>& failed) {
  for (const Finding& finding : checks.findings)
    if (std::find(failed.begin(), failed.end(), finding.property) == failed.end()) {
      EXPECT_EQ(finding.status, Status::passed) << finding.property << ": " << finding.evidence;
    }
}

/// Uniform numbers from a seed, by SplitMix64.
class SeedUniforms final : public Draws {
 public:
  explicit SeedUniforms(std::uint64_t seed) : state_{seed} {}
  double coin() override {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return static_cast<double>((word ^ (word >> 31)) >> 11) * 0x1p-53;
  }
  Token pick(const Weights& weights) override {
    const double at = coin() * std::accumulate(weights.begin(), weights.end(), 0.0);
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

/// Returns row `row` of a batch as an input with probabilities.
inline Input input_of_row(const ServedBatch& batch, int row) {
  Input input;
  const auto read = [&](const auto& entries) {
    Weights values;
    for (const auto entry : entries) values.push_back(static_cast<double>(entry));
    if (batch.kind == RowKind::logits)
      for (double& value : values) value = std::exp(value);
    return values;
  };
  const auto rows = [&]<class Entry>(Entry) {
    for (int i = 0; i < batch.target_rows; ++i) input.p.push_back(read(batch.target<Entry>(row, i)));
    for (int i = 0; i < batch.proposal_rows; ++i) input.q.push_back(read(batch.proposal<Entry>(row, i)));
  };
  if (batch.dtype == Dtype::float64)
    rows(double{});
  else if (batch.dtype == Dtype::bfloat16)
    rows(ShortFloat<8>{});
  else
    rows(float{});
  if (batch.lengths.empty()) return input;
  const auto first = batch.drafts.begin() + std::ptrdiff_t{row} * batch.drafts_a_row;
  input.drafts.assign(first, first + batch.lengths[static_cast<std::size_t>(row)]);
  return input;
}

/// Rejection sampling of one position or of a chain. It generates its random numbers, from seeds if the batch has
/// seeds.
class Rejection final : public Served {
 public:
  explicit Rejection(Declaration declaration) : declaration_{std::move(declaration)} {}

  RejectionSampling sampling{.fallback = Fallback::always};
  int fails_at = -1;              ///< number of the batch whose rows get the status failed; -1: none
  bool always_fails = false;      ///< whether all rows of all batches get the status failed
  double fails_above = 1;         ///< rows with a larger p get the status failed
  int breaks_at = -1;             ///< number of the batch whose reply breaks the protocol; -1: none
  std::set<int> sizes{};          ///< numbers of rows of the batches received
  std::set<Randomness> asked{};   ///< randomness of the batches received
  std::set<int> proposal_rows{};  ///< numbers of proposal rows in the batches received

  const Declaration& declaration() const override { return declaration_; }
  void verify(const ServedBatch& batch, ServedResult& result) override {
    EXPECT_LE(batch.rows, declaration_.most_rows);
    EXPECT_EQ(batch.dtype, declaration_.dtypes.front());
    EXPECT_EQ(batch.kind, declaration_.rows.front());
    EXPECT_EQ(batch.target_rows, declaration_.level == Level::chain ? batch.drafts_a_row + 1 : 1);
    sizes.insert(batch.rows);
    asked.insert(batch.randomness);
    proposal_rows.insert(batch.proposal_rows);
    if (batches_ == breaks_at) throw AdapterError("rejection: got no answer");
    for (int row = 0; row < batch.rows; ++row) {
      if (batches_ == fails_at || always_fails) {
        result.set(row, RowStatus::failed, "no memory");
        continue;
      }
      const bool seeded = batch.randomness == Randomness::seeded;
      SeedUniforms random(seeded ? static_cast<std::uint64_t>(batch.seeds[static_cast<std::size_t>(row)])
                                 : 0xD1342543DE82EF95u * ++rows_so_far_);
      const Input input = input_of_row(batch, row);
      if (*std::ranges::max_element(input.p.front()) > fails_above) {
        result.set(row, RowStatus::failed, "a likely token");
        continue;
      }
      const std::vector<Token> tokens = sampling(input, random);
      std::copy(tokens.begin(), tokens.end(), result.tokens_of(row).begin());
      result.counts[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(tokens.size());
    }
    ++batches_;
  }

 private:
  Declaration declaration_;
  int batches_ = 0;
  std::uint64_t rows_so_far_ = 0;
};

inline Declaration rejection_of(Level level) {
  return {.name = "rejection", .level = level, .randomness = {Randomness::seeded}, .most_vocabulary = 32};
}

}  // namespace draftproof::adapters
