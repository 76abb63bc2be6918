// Calls a Served in this process, without a pipe. ServedCall packs one batch as the wire protocol does, so that a
// verifier under test reads the arrays that a child would read; ServedProgram adapts a scripted Served to Program.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <draftproof/adapters/program.hpp>
#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>
#include <draftproof/adapters/wire/served.hpp>

namespace draftproof::adapters {

/// One batch of inputs, with tapes or seeds.
class ServedCall {
 public:
  ServedCall(Level level, const std::vector<Input>& inputs, Dtype dtype = Dtype::float32) {
    std::vector<Call> calls(inputs.size());
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i].input = i;
    std::vector<std::size_t> all(inputs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const int state_size = static_cast<int>(inputs.front().state.size());
    pack_calls(inputs, calls, all, {.level = level, .dtype = dtype, .state_size = state_size}, packed_);
  }
  ServedCall(ServedCall&&) = default;  // spans stay valid, because a moved vector keeps its memory

  ServedBatch& batch() { return packed_.batch; }
  /// Returns the batch, with a seed for each row in place of the tape.
  ServedBatch& seeded(const std::vector<std::int64_t>& seeds) {
    seeds_ = seeds;
    batch().seeds = seeds_;
    batch().tape = {};
    batch().places = 0;
    batch().randomness = Randomness::seeded;
    return batch();
  }

  /// Runs the rows on `tapes`, one tape per row, all of the same length.
  ServedResult scripted(Served& served, const std::vector<std::vector<double>>& tapes) {
    packed_.tape.clear();
    for (const auto& tape : tapes) packed_.tape.insert(packed_.tape.end(), tape.begin(), tape.end());
    batch().places = static_cast<int>(tapes.front().size());
    batch().tape = packed_.tape;
    batch().seeds = {};
    batch().randomness = Randomness::scripted;
    return run(served);
  }
  ServedResult seeded(Served& served, const std::vector<std::int64_t>& seeds) {
    seeded(seeds);
    return run(served);
  }
  /// Requests `drafts` drafts from each row's first proposal row.
  ServedResult drafts(Served& served, int drafts, const std::vector<std::int64_t>& seeds) {
    ServedBatch wanted = seeded(seeds);
    wanted.p = {};
    wanted.drafts = wanted.lengths = wanted.parents = {};
    wanted.drafts_a_row = drafts;
    ServedResult result;
    size_result(wanted, WireFunction::draft, result);
    served.draft(wanted, result);
    return result;
  }
  ServedResult run(Served& served) {
    ServedResult result;
    size_result(batch(), WireFunction::verify, result);
    served.verify(batch(), result);
    return result;
  }

 private:
  PackedBatch packed_;
  std::vector<std::int64_t> seeds_;
};

/// Returns the emitted tokens of a row.
inline std::vector<Token> tokens_in(ServedResult& result, int row) {
  const auto all = result.tokens_of(row);
  return {all.begin(), all.begin() + result.counts[static_cast<std::size_t>(row)]};
}

/// Adapts a Served to Program. Each batch consists of consecutive calls that have the same vocabulary and, at
/// level position, all one proposal row or all several.
class ServedProgram : public Program {
 public:
  explicit ServedProgram(Served& served, std::size_t most_rows = 4096, std::optional<Dtype> dtype = {})
      : served_{served}, most_rows_{most_rows}, dtype_{dtype} {}

  void run(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) override {
    const Declaration& declaration = served_.declaration();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      check_input(inputs[i], i, declaration.level, declaration.state_size);
    const auto key = [&](std::size_t i) {
      const Input& input = inputs[calls[i].input];
      const bool one = declaration.level == Level::position && input.q.size() == 1;
      return std::pair{input.vocabulary(), one};
    };
    for (std::size_t first = 0; first < calls.size(); first += chosen_.size()) {
      chosen_.clear();
      for (std::size_t i = first; i < calls.size() && chosen_.size() < most_rows_ && key(i) == key(first); ++i)
        chosen_.push_back(i);
      run_batch(inputs, calls, runs);
    }
  }

 private:
  void run_batch(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) {
    const Declaration& declaration = served_.declaration();
    pack_calls(inputs, calls, chosen_,
               {declaration.level, dtype_.value_or(declaration.dtypes.front()), declaration.rows.front(),
                declaration.state_size},
               packed_);
    size_result(packed_.batch, WireFunction::verify, result_);
    served_.verify(packed_.batch, result_);
    for (std::size_t row = 0; row < chosen_.size(); ++row) {
      Run& run = runs[chosen_[row]];
      run.status = static_cast<RowStatus>(result_.status[row]);
      run.tokens = tokens_in(result_, static_cast<int>(row));
      if (const auto said = result_.messages.find(static_cast<int>(row)); said != result_.messages.end())
        run.message = said->second;
      const auto state = result_.state_of(static_cast<int>(row));
      run.state.assign(state.begin(), run.status == RowStatus::ok ? state.end() : state.begin());
      run.draws = result_.draws[row];
      const std::size_t places = calls[chosen_[row]].tape.size();
      if (run.draws.size() <= places) continue;
      run.draws.resize(places);  // draws beyond the tape have read zeros
      run.tokens.clear();
      run.state.clear();
      run.status = RowStatus::tape_short;
    }
  }

  Served& served_;
  std::size_t most_rows_;
  std::optional<Dtype> dtype_;
  std::vector<std::size_t> chosen_;
  PackedBatch packed_;
  ServedResult result_;
};

}  // namespace draftproof::adapters
