// One batch for a door, made from inputs, and its results row by row.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <draftproof/doors/wire/served.hpp>

namespace draftproof::doors {

/// Owns the arrays of a batch.
class ServedCall {
 public:
  ServedCall(Level level, const std::vector<Input>& inputs, Dtype dtype) {
    batch_.rows = static_cast<int>(inputs.size());
    batch_.vocabulary = static_cast<int>(inputs.front().q.front().size());
    for (const Input& input : inputs) batch_.drafts_a_row = std::max(batch_.drafts_a_row, count(input));
    batch_.target_rows = level == Level::position ? 1 : batch_.drafts_a_row + 1;
    batch_.proposal_rows =
        level == Level::position && inputs.front().q.size() == 1 ? 1 : std::max(batch_.drafts_a_row, 1);
    if (level != Level::position) batch_.proposal_rows = batch_.drafts_a_row;
    batch_.dtype = dtype;
    for (const Input& input : inputs) {
      append(p_, input.p, batch_.target_rows);
      append(q_, input.q, batch_.proposal_rows);
      lengths_.push_back(count(input));
      for (std::size_t i = 0; i < static_cast<std::size_t>(batch_.drafts_a_row); ++i) {
        drafts_.push_back(i < input.drafts.size() ? input.drafts[i] : -1);
        if (level == Level::tree) parents_.push_back(i < input.parents.size() ? input.parents[i] : -1);
      }
    }
    batch_.p = p_;
    batch_.q = q_;
    batch_.drafts = drafts_;
    batch_.lengths = lengths_;
    batch_.parents = parents_;
  }
  ServedCall(const ServedCall&) = delete;
  ServedCall& operator=(const ServedCall&) = delete;

  ServedBatch& batch() { return batch_; }

  /// Runs the rows on these tapes, one a row and equally long.
  ServedResult scripted(Served& door, const std::vector<std::vector<double>>& tapes) {
    tape_.clear();
    for (const auto& tape : tapes) tape_.insert(tape_.end(), tape.begin(), tape.end());
    batch_.places = static_cast<int>(tapes.front().size());
    batch_.tape = tape_;
    batch_.seeds = {};
    batch_.randomness = Randomness::scripted;
    return run(door);
  }
  ServedResult seeded(Served& door, const std::vector<std::int64_t>& seeds) {
    batch_.seeds = seeds;
    batch_.tape = {};
    batch_.places = 0;
    batch_.randomness = Randomness::seeded;
    return run(door);
  }
  /// Asks for `drafts` drafts of each row's first proposal row.
  ServedResult drafts(Served& door, int drafts, const std::vector<std::int64_t>& seeds) {
    ServedBatch wanted = batch_;
    wanted.p = {};
    wanted.drafts = wanted.lengths = wanted.parents = {};
    wanted.drafts_a_row = drafts;
    wanted.randomness = Randomness::seeded;
    wanted.seeds = seeds;
    ServedResult result = cleared(drafts);
    door.draft(wanted, result);
    return result;
  }
  ServedResult run(Served& door) {
    ServedResult result = cleared(batch_.drafts_a_row + 1);
    door.verify(batch_, result);
    return result;
  }

 private:
  static int count(const Input& input) { return static_cast<int>(input.drafts.size()); }
  ServedResult cleared(int width) const {
    ServedResult result{.tokens_a_row = width};
    const auto rows = static_cast<std::size_t>(batch_.rows);
    result.tokens.assign(rows * static_cast<std::size_t>(width), -1);
    result.counts.assign(rows, 0);
    result.status.assign(rows, 0);
    return result;
  }
  void append(std::vector<std::byte>& to, const std::vector<std::vector<double>>& rows, int height) const {
    std::vector<double> values(static_cast<std::size_t>(height) * static_cast<std::size_t>(batch_.vocabulary), 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy(rows[i].begin(), rows[i].end(),
                values.begin() + static_cast<std::ptrdiff_t>(i) * std::ptrdiff_t{batch_.vocabulary});
    for (const double value : values) {
      if (batch_.dtype == Dtype::float64)
        add(to, value);
      else
        add(to, static_cast<float>(value));
    }
  }
  template <class T>
  static void add(std::vector<std::byte>& to, T value) {
    to.resize(to.size() + sizeof value);
    std::memcpy(to.data() + to.size() - sizeof value, &value, sizeof value);
  }

  ServedBatch batch_{};
  std::vector<std::byte> p_, q_;
  std::vector<double> tape_;
  std::vector<std::int32_t> drafts_, lengths_, parents_;
};

/// The emitted tokens of a row.
inline std::vector<Token> tokens_in(ServedResult& result, int row) {
  const auto all = result.tokens_of(row);
  return {all.begin(), all.begin() + result.counts[static_cast<std::size_t>(row)]};
}

}  // namespace draftproof::doors
