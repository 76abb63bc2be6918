// Requests may share rows: with a pitch of 0 every row is the first one, as engines pass a row that serves all
// requests. The output is that of copies side by side.
//
// Cost: two runs a turn.
//
// Correctness: a runner that only reads its rows reads the same either way.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

struct RowsShared {
  static constexpr std::string_view name = "rows_shared";
  static constexpr std::string_view about = "requests that share their rows give what copies give";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    BatchCase copies = one;
    const std::vector<int>* proposal = nullptr;
    for (BatchCaseRequest& request : copies.requests) {
      for (auto& row : request.target) row = one.requests.front().target.front();
      for (auto& row : request.proposal) {
        if (proposal == nullptr) proposal = &row;
        row = *proposal;
      }
    }
    if (!copies.valid()) return Answer::not_applicable();  // a mask leaves nothing of the row
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, work += 2) {
      const BuiltBatch batch(copies, turn);
      const RaggedBatch apart = batch.view();
      RaggedBatch shared = apart;
      shared.pitch = 0;
      BatchStreams here, there;
      const BatchOutput wanted = runner.run(apart, here), found = runner.run(shared, there);
      for (std::size_t s = 0; s < wanted.emitted.size(); ++s)
        if (wanted.emitted[s] != found.emitted[s] || wanted.refused[s] != found.refused[s])
          return Answer::violated(
              fmt::format("turn {}: slot {} gives {} with copies of the rows, {} where all share them", turn, s,
                          text(wanted, s), text(found, s)));
    }
    return Answer::held();
  }

 private:
  static std::string text(const BatchOutput& output, std::size_t s) {
    return BatchRow{output.emitted[s], output.accepted[s], bool{output.refused[s]}}.text();
  }
};

}  // namespace draftproof::checks::batch
