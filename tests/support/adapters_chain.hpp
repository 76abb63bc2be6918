// A chain verifier for tests of the wire protocol. It is correct, except that rows without residual mass get the status
// no_mass. The child chain.py does the same computations in the same order, so both agree to the last bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/tests/support/adapters_rejection.hpp>

namespace draftproof::adapters::wired {

/// Random numbers of a row: read from a tape and logged, or generated from a seed.
class ChainDraws final : public Draws {
 public:
  struct Short {};
  struct NoMass {};

  ChainDraws(std::span<const double> tape, std::vector<Draw>& log) : tape_{tape}, log_{&log} {}
  explicit ChainDraws(std::uint64_t seed) : seeded_{seed} {}

  double coin() override {
    const double value = next();
    if (log_) log_->push_back({.kind = DrawKind::coin, .bits = 53, .stream = "accept"});
    return value;
  }
  Token pick(const Weights& cells) override {
    const double value = next();
    if (log_) log_->push_back({DrawKind::pick, static_cast<int>(cells.size()), 0, "last", cells});
    if (value < 0) return static_cast<Token>(-value) - 1;
    double total = 0, prefix = 0;
    for (const double weight : cells) total += weight;
    if (!(total > 0)) throw NoMass{};
    Token last = 0;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      prefix += cells[cell];
      if (cells[cell] > 0) last = static_cast<Token>(cell);
      if (value * total < prefix) break;
    }
    return last;
  }

 private:
  double next() {
    if (!log_) return seeded_.coin();
    if (used_ == tape_.size()) throw Short{};
    return tape_[used_++];
  }

  std::span<const double> tape_{};
  std::vector<Draw>* log_ = nullptr;  // null if numbers come from a seed
  SeedUniforms seeded_{0};
  std::size_t used_ = 0;
};

class ChainVerifier : public Served {
 public:
  ChainVerifier() {
    declaration_.name = "chain";
    declaration_.randomness = {Randomness::scripted, Randomness::seeded, Randomness::opaque};
    declaration_.functions = {"verify", "draft", "generate"};
    declaration_.coin_bits = 53;
    declaration_.most_rows = 65536;
    declaration_.dtypes = {Dtype::float32, Dtype::float64};
  }
  const Declaration& declaration() const override { return declaration_; }

  void verify(const ServedBatch& batch, ServedResult& result) override {
    each_row(batch, result, [&](int row, ChainDraws& draws) { return sampling_(input_of_row(batch, row), draws); });
  }
  void draft(const ServedBatch& batch, ServedResult& result) override {
    each_row(batch, result, [&](int row, ChainDraws& draws) {
      const Weights q = input_of_row(batch, row).q[0];
      std::vector<Token> tokens(static_cast<std::size_t>(batch.drafts_a_row));
      for (Token& token : tokens) token = draws.pick(q);
      return tokens;
    });
  }
  std::vector<std::int32_t> generate(const ServedModels& models) override {
    ChainDraws draws(static_cast<std::uint64_t>(models.seed));
    std::vector<std::int32_t> text;
    const auto v = static_cast<std::size_t>(models.vocabulary);
    for (std::size_t at = 0; text.size() < static_cast<std::size_t>(models.length);) {
      const auto row = models.target.subspan(at * v, v);
      text.push_back(draws.pick({row.begin(), row.end()}));
      at = static_cast<std::size_t>(text.back());
    }
    return text;
  }

 private:
  template <class Decide>
  void each_row(const ServedBatch& batch, ServedResult& result, Decide decide) {
    for (int row = 0; row < batch.rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      const bool scripted = batch.randomness == Randomness::scripted;
      ChainDraws draws =
          scripted ? ChainDraws(batch.tape_of(row), result.draws[at])
                   : ChainDraws(batch.randomness == Randomness::seeded ? static_cast<std::uint64_t>(batch.seeds[at])
                                                                       : ++rows_so_far_ * 0xD1342543DE82EF95u);
      try {
        const std::vector<Token> tokens = decide(row, draws);
        std::copy(tokens.begin(), tokens.end(), result.tokens_of(row).begin());
        result.counts[at] = static_cast<std::int32_t>(tokens.size());
      } catch (const ChainDraws::NoMass&) {
        result.set(row, RowStatus::no_mass, "weights that are all zero");
      } catch (const ChainDraws::Short&) {
        result.set(row, RowStatus::tape_short);
      }
    }
  }

  Declaration declaration_;
  RejectionSampling sampling_;
  std::uint64_t rows_so_far_ = 0;
};

}  // namespace draftproof::adapters::wired
