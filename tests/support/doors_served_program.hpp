// A Served as a scripted program in this process: calls are packed as the wire packs them, answered, and taken apart
// again, without a pipe. A verifier under test has the arrays that a child would read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <draftproof/doors/program.hpp>
#include <draftproof/doors/wire/batch_packer.hpp>
#include <draftproof/doors/wire/served.hpp>

namespace draftproof::doors {

/// Batches of one vocabulary, and at level position of one number of proposal rows, in the order of the calls.
class ServedProgram final : public Program {
 public:
  explicit ServedProgram(Served& served, std::size_t most_rows = 4096) : served_{served}, most_rows_{most_rows} {}

  void run(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) override {
    const Declaration& declaration = served_.declaration();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      check_input(inputs[i], i, declaration.level, declaration.state_size);
    const auto key = [&](std::size_t i) {
      const Input& input = inputs[calls[i].input];
      const bool one = declaration.level == Level::position && input.q.size() == 1;
      return std::pair{input.vocabulary(), one};
    };
    for (std::size_t first = 0; first < calls.size();) {
      chosen_.clear();
      for (std::size_t i = first; i < calls.size() && chosen_.size() < most_rows_ && key(i) == key(first); ++i)
        chosen_.push_back(i);
      run_batch(inputs, calls, runs);
      first += chosen_.size();
    }
  }

 private:
  void run_batch(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) {
    const Declaration& declaration = served_.declaration();
    pack_calls(inputs, calls, chosen_,
               {declaration.level, declaration.dtypes.front(), declaration.rows.front(), declaration.state_size},
               packed_);
    const auto rows = chosen_.size(), width = static_cast<std::size_t>(packed_.batch.drafts_a_row) + 1;
    result_.tokens_a_row = static_cast<int>(width);
    result_.tokens.assign(rows * width, -1);
    result_.counts.assign(rows, 0);
    result_.status.assign(rows, 0);
    result_.state_size = declaration.state_size;
    result_.state.assign(rows * static_cast<std::size_t>(declaration.state_size), 0.0);
    result_.messages.clear();
    result_.log.clear();
    served_.verify(packed_.batch, result_);
    std::size_t draw = 0, weight = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      Run& run = runs[chosen_[row]];
      run.status = static_cast<RowStatus>(result_.status[row]);
      const auto tokens =
          result_.tokens_of(static_cast<int>(row)).first(static_cast<std::size_t>(result_.counts[row]));
      run.tokens.assign(tokens.begin(), tokens.end());
      const auto state = result_.state_of(static_cast<int>(row));
      run.state.assign(state.begin(), run.status == RowStatus::ok ? state.end() : state.begin());
      read_draws(static_cast<std::size_t>(result_.log.counts()[row]), draw, weight, run.draws);
      const std::size_t places = calls[chosen_[row]].tape.size();
      if (run.draws.size() <= places) continue;
      run.draws.resize(places);  // beyond the tape there are zeros
      run.tokens.clear();
      run.state.clear();
      run.status = RowStatus::tape_short;
    }
  }

  void read_draws(std::size_t count, std::size_t& draw, std::size_t& weight, std::vector<Draw>& draws) const {
    draws.resize(count);
    for (Draw& to : draws) {
      const auto four = result_.log.draws().subspan(4 * draw++, 4);
      to = {.kind = static_cast<DrawKind>(four[0]), .size = four[1], .bits = four[2]};
      if (four[3] >= 0) to.stream = result_.log.streams()[static_cast<std::size_t>(four[3])];
      if (to.kind != DrawKind::pick) continue;
      const auto weights = result_.log.weights().subspan(weight, static_cast<std::size_t>(to.size));
      to.weights.assign(weights.begin(), weights.end());
      weight += weights.size();
    }
  }

  Served& served_;
  std::size_t most_rows_;
  std::vector<std::size_t> chosen_;
  PackedBatch packed_;
  ServedResult result_;
};

}  // namespace draftproof::doors
