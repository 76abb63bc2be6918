#include <draftproof/adapters/built_in/serve_registered.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <draftproof/adapters/built_in/built_in_verifier.hpp>
#include <draftproof/adapters/library/row_tape.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::adapters {
namespace {

template <class T>
std::vector<double> widened(std::span<const T> row) {
  return {row.begin(), row.end()};
}

std::vector<std::vector<double>> rows_of(const ServedBatch& batch, int row, bool target, int count) {
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < count; ++i)
    if (batch.dtype == Dtype::float64)
      rows.push_back(widened(target ? batch.target<double>(row, i) : batch.proposal<double>(row, i)));
    else
      rows.push_back(widened(target ? batch.target<float>(row, i) : batch.proposal<float>(row, i)));
  return rows;
}

class BuiltInAdapter final : public Served {
 public:
  BuiltInAdapter(std::string_view name, const BuiltInOptions& options) : verifier_{name, options} {}

  const Declaration& declaration() const override { return verifier_.declaration(); }
  void verify(const ServedBatch& batch, ServedResult& result) override {
    serve(batch, result, Philox::Role::verify, [&](int row, Words& words) {
      return verifier_.verify(input_of(batch, row, declaration().level), words, result.state_of(row));
    });
  }
  void draft(const ServedBatch& batch, ServedResult& result) override {
    serve(batch, result, Philox::Role::draft, [&](int row, Words& words) {
      return verifier_.draft(input_of(batch, row, declaration().level).q, batch.drafts_a_row, words);
    });
  }

 private:
  template <class Decide>
  void serve(const ServedBatch& batch, ServedResult& result, Philox::Role role, const Decide& decide) {
    const bool scripted = batch.randomness == Randomness::scripted;
    for (int row = 0; row < batch.rows; ++row) {
      RowTape tape(scripted ? batch.tape_of(row) : std::span<const double>{});
      try {
        write(row, run(batch, row, role, tape, decide), result);
      } catch (const RowRefused& refused) {
        result.set(row, refused.status(), refused.what());
      } catch (const std::exception& error) {
        result.set(row, RowStatus::failed, error.what());
      }
      if (scripted) result.draws[static_cast<std::size_t>(row)] = tape.draws();
    }
  }

  template <class Decide>
  std::vector<Token> run(const ServedBatch& batch, int row, Philox::Role role, RowTape& tape, const Decide& decide) {
    if (batch.randomness == Randomness::seeded) {
      const auto trial = static_cast<std::uint64_t>(batch.seeds[static_cast<std::size_t>(row)]);
      WordsOf words(Philox(verifier_.options().seed, trial, role));
      return decide(row, words);
    }
    if (batch.randomness != Randomness::scripted || verifier_.shared_noise())
      throw RowRefused(RowStatus::unsupported,
                       fmt::format("{} is not {}", declaration().name, to_text(batch.randomness)));
    BuiltInWords words(
        [&](int bits, const char* stream) {
          const double u = tape.coin(bits, stream);
          if (tape.verdict() != RowStatus::ok) throw RowRefused(tape.verdict(), tape.message());
          return u;
        },
        verifier_.options().coin_bits, role == Philox::Role::draft);
    return decide(row, words);
  }

  void write(int row, const std::vector<Token>& tokens, ServedResult& result) const {
    std::copy(tokens.begin(), tokens.end(), result.tokens_of(row).begin());
    result.counts[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(tokens.size());
  }

  BuiltInVerifier verifier_;
};

}  // namespace

Input input_of(const ServedBatch& batch, int row, Level level) {
  if (batch.kind != RowKind::probabilities || (batch.dtype != Dtype::float64 && batch.dtype != Dtype::float32))
    throw RowRefused(RowStatus::unsupported,
                     fmt::format("rows: got {} of {}, expected probabilities of float64 or float32",
                                 to_text(batch.kind), to_text(batch.dtype)));
  if (batch.lengths.empty()) return {.p = {}, .q = rows_of(batch, row, false, batch.proposal_rows), .drafts = {}};
  const int n = batch.lengths[static_cast<std::size_t>(row)], most = batch.drafts_a_row;
  const bool one = level == Level::position;
  const bool one_proposal = one && batch.proposal_rows == 1;
  if (n < 0 || n > most || batch.target_rows != (one ? 1 : most + 1) ||
      (!one_proposal && batch.proposal_rows != most))
    throw RowRefused(RowStatus::bad_input,
                     fmt::format("rows: got {} drafts of {}, {} rows of p and {} of q at level {}", n, most,
                                 batch.target_rows, batch.proposal_rows, to_text(level)));
  const auto part = [&](std::span<const std::int32_t> all) {
    const auto first = all.begin() + std::ptrdiff_t{row} * most;
    return std::vector<int>(first, first + n);
  };
  Input input{.p = rows_of(batch, row, true, one ? 1 : n + 1),
              .q = rows_of(batch, row, false, one_proposal ? 1 : n),
              .drafts = part(batch.drafts)};
  const auto state = batch.state_of(row);
  input.state.assign(state.begin(), state.end());
  if (level == Level::tree) {
    if (batch.parents.empty() && n > 0)
      throw RowRefused(RowStatus::bad_input, "parents: got none, expected one a draft");
    if (n > 0) input.parents = part(batch.parents);
  }
  return input;
}

std::unique_ptr<Served> serve_registered(std::string_view name, const BuiltInOptions& options) {
  return std::make_unique<BuiltInAdapter>(name, options);
}

}  // namespace draftproof::adapters
