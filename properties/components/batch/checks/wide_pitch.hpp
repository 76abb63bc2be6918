// Rows beyond 2^31, 2^32 and 2^33 elements are read correctly: the same batch gives the same with adjacent rows and with
// rows so far apart that the second or third begins beyond that many elements.
//
// Cost: two runs a turn and pitch, a few pages of memory, 170 GiB of address space at the widest.
//
// Correctness: a pitch is not part of a law.
#pragma once

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>
#include <draftproof/properties/components/batch/sparse_rows.hpp>

namespace draftproof::checks::batch {

struct WidePitch {
  static constexpr std::string_view name = "wide_pitch";
  static constexpr std::string_view about = "rows beyond 2^31 elements are read where they are";
  static constexpr std::size_t pitches[]{(std::size_t{1} << 30) + 8, (std::size_t{1} << 31) + 8,
                                         (std::size_t{1} << 33) + 8};
  static constexpr std::size_t most_rows = 4;

  static std::vector<BatchCase> cases(std::uint64_t, int) {
    return {BatchCase::parse("order=(1 0) [p=(1 2)/3,(2 1)/3 q=(1 1)/2 seed=1] [p=(1 3)/4,(3 1)/4 q=(1 2)/3]")};
  }

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    std::size_t rows = 0;
    for (const auto& request : one.requests) rows += request.target.size();
    if (rows > most_rows) return Answer::not_applicable();
    for (const std::size_t pitch : pitches)
      for (std::uint32_t turn = 0; turn < 4; ++turn, work += 2) {
        const BuiltBatch batch(one, turn);
        const RaggedBatch close = batch.view();
        RaggedBatch wide = close;
        const auto stored = static_cast<std::size_t>(close.pitch);
        const auto apart = [&](const float* first, std::size_t count) {
          return SparseRows({first, first + count * stored}, stored, pitch);
        };
        const SparseRows target = apart(close.target, rows);
        const SparseRows proposal = apart(close.proposal, rows - one.requests.size());
        if (!target.mapped() || !proposal.mapped())
          return {Answer::Status::not_applicable,
                  fmt::format("the system refuses a mapping of {} GiB that nobody fills", (rows * pitch) >> 28)};
        wide.target = target.first();
        wide.proposal = proposal.first();
        wide.pitch = static_cast<std::int64_t>(pitch);
        BatchStreams here, there;
        const BatchOutput narrow = runner.run(close, here), far = runner.run(wide, there);
        for (std::size_t s = 0; s < narrow.emitted.size(); ++s)
          if (narrow.emitted[s] != far.emitted[s] || narrow.refused[s] != far.refused[s])
            return Answer::violated(
                fmt::format("turn {}: slot {} gives {} with rows side by side, {} with {} elements between them",
                            turn, s, text(narrow, s), text(far, s), pitch));
      }
    return Answer::held();
  }

 private:
  static std::string text(const BatchOutput& output, std::size_t s) {
    return BatchRow{output.emitted[s], output.accepted[s], bool{output.refused[s]}}.text();
  }
};

}  // namespace draftproof::checks::batch
