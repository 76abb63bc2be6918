// A chain verifier for tests of doors, right but for rows that leave no residual, which have status 4: as a Served, and
// of one row in this process. The child chain.py computes the same in the same order, so that all three agree to the
// last bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include <draftproof/doors/program.hpp>
#include <draftproof/doors/wire/served.hpp>

namespace draftproof::doors::wired {

/// Random numbers of a row: places of a tape, with a log, or words of a seed.
struct ChainSource {
  std::span<const double> tape{};
  ServedLog* log = nullptr;  // null: seeded
  std::uint64_t state = 0;
  std::size_t used = 0;
  std::vector<double>* weights = nullptr;

  struct Short {};

  double next() {
    if (!log) {
      state += 0x9E3779B97F4A7C15u;
      std::uint64_t word = state;
      word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
      word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
      return static_cast<double>((word ^ (word >> 31)) >> 11) * 0x1p-53;
    }
    if (used == tape.size()) throw Short{};
    return tape[used++];
  }
  double coin() {
    const double value = next();
    if (log) log->coin(53, log->stream("accept"));
    return value;
  }
  /// The cell, or -1 where all weights are zero.
  std::int32_t pick(std::span<const double> cells, const char* stream) {
    const double value = next();
    if (log) log->pick(cells, log->stream(stream));
    if (value < 0) return static_cast<std::int32_t>(-value) - 1;
    double total = 0, prefix = 0;
    for (const double weight : cells) total += weight;
    if (!(total > 0)) return -1;
    std::int32_t last = 0;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      prefix += cells[cell];
      if (cells[cell] > 0) last = static_cast<std::int32_t>(cell);
      if (value * total < prefix) break;
    }
    return last;
  }
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
    each_row(batch, result, [&](int row, ChainSource& source, std::span<std::int32_t> tokens) {
      const auto r = static_cast<std::size_t>(row);
      const auto drafts = batch.drafts.subspan(r * static_cast<std::size_t>(batch.drafts_a_row))
                              .first(static_cast<std::size_t>(batch.lengths[r]));
      return batch.dtype == Dtype::float64 ? decide<double>(batch, row, drafts, source, tokens)
                                           : decide<float>(batch, row, drafts, source, tokens);
    });
  }
  void draft(const ServedBatch& batch, ServedResult& result) override {
    each_row(batch, result, [&](int row, ChainSource& source, std::span<std::int32_t> tokens) {
      const auto law = batch.proposal<float>(row, 0);
      weights_.assign(law.begin(), law.end());
      for (std::int32_t& token : tokens) token = source.pick(weights_, "draft");
      return static_cast<std::int32_t>(tokens.size());
    });
  }
  std::vector<std::int32_t> generate(const ServedModels& models) override {
    ChainSource source{.state = static_cast<std::uint64_t>(models.seed)};
    std::vector<std::int32_t> text;
    const auto v = static_cast<std::size_t>(models.vocabulary);
    for (std::size_t at = 0; text.size() < static_cast<std::size_t>(models.length);) {
      text.push_back(source.pick(models.target.subspan(at * v, v), "text"));
      at = static_cast<std::size_t>(text.back());
    }
    return text;
  }

 private:
  template <class Decide>
  void each_row(const ServedBatch& batch, ServedResult& result, Decide decide_row) {
    for (int row = 0; row < batch.rows; ++row) {
      ChainSource source;
      if (batch.randomness == Randomness::scripted) {
        source.tape = batch.tape_of(row);
        source.log = &result.log;
      } else {
        source.state = batch.randomness == Randomness::seeded
                           ? static_cast<std::uint64_t>(batch.seeds[static_cast<std::size_t>(row)])
                           : ++rows_so_far_ * 0xD1342543DE82EF95u;
      }
      try {
        result.counts[static_cast<std::size_t>(row)] = decide_row(row, source, result.tokens_of(row));
        if (result.counts[static_cast<std::size_t>(row)] == 0)
          result.set(row, RowStatus::no_mass, "weights that are all zero");
      } catch (const ChainSource::Short&) {
        result.set(row, RowStatus::tape_short);
      }
      if (source.log) source.log->end_row();
    }
  }

  /// Number of tokens, 0 where a draw has no mass.
  template <class T>
  std::int32_t decide(const ServedBatch& batch, int row, std::span<const std::int32_t> drafts, ChainSource& source,
                      std::span<std::int32_t> tokens) {
    std::size_t n = 0;
    for (; n < drafts.size(); ++n) {
      const auto p = batch.target<T>(row, static_cast<int>(n)), q = batch.proposal<T>(row, static_cast<int>(n));
      const auto x = static_cast<std::size_t>(drafts[n]);
      if (source.coin() * static_cast<double>(q[x]) < static_cast<double>(p[x])) {
        tokens[n] = drafts[n];
        continue;
      }
      weights_.clear();
      for (std::size_t i = 0; i < p.size(); ++i)
        weights_.push_back(std::max(static_cast<double>(p[i]) - static_cast<double>(q[i]), 0.0));
      tokens[n] = source.pick(weights_, "residual");
      return tokens[n] < 0 ? 0 : static_cast<std::int32_t>(n) + 1;
    }
    const auto p = batch.target<T>(row, static_cast<int>(n));
    weights_.assign(p.begin(), p.end());
    tokens[n] = source.pick(weights_, "bonus");
    return tokens[n] < 0 ? 0 : static_cast<std::int32_t>(n) + 1;
  }

  Declaration declaration_;
  std::vector<double> weights_;
  std::uint64_t rows_so_far_ = 0;
};

}  // namespace draftproof::doors::wired
