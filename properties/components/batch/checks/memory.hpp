// Checks of batch runners: memory addresses and contents of their input.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <draftproof/properties/components/batch/batch_distribution.hpp>
#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

// Rows far apart in memory: a mapping of gigabytes in which only the pages of rows are allocated.
//
//   pitch     elements from a row to the next
//   before    2^31 elements before the first row, where an offset that wraps in 32 bits ends up
//
// Cost: address space, and one or two pages per row. If the address space is limited, mmap() fails and the check
// is skipped with a note.
class SparseRows {
 public:
  static constexpr std::size_t before = std::size_t{1} << 31;

  /// `rows` has rows of `size` entries each, one after another.
  SparseRows(const std::vector<float>& rows, std::size_t size, std::size_t pitch) {
    const std::size_t count = rows.size() / size;
    bytes_ = (before + (count + 1) * pitch) * sizeof(float);
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!mapped()) return;
    for (std::size_t row = 0; row < count; ++row)
      for (std::size_t x = 0; x < size; ++x) first()[row * pitch + x] = rows[row * size + x];
  }
  SparseRows(const SparseRows&) = delete;
  SparseRows& operator=(const SparseRows&) = delete;
  ~SparseRows() {
    if (mapped()) munmap(memory_, bytes_);
  }

  /// Whether the mapping succeeded.
  bool mapped() const { return memory_ != MAP_FAILED; }
  /// Returns the first entry of the first row. Requires mapped().
  float* first() const { return static_cast<float*>(memory_) + before; }

 private:
  std::size_t bytes_;
  void* memory_;
};

// A copy of all inputs of a batch, to compare with later. Rows are compared bit for bit, with the padding
// between them.
class BatchInputs {
 public:
  explicit BatchInputs(const RaggedBatch& batch) {
    std::size_t drafts = 0;
    for (int s = 0; s < batch.slots; ++s) drafts += static_cast<std::size_t>(batch.length[s]);
    const auto rows = drafts + static_cast<std::size_t>(batch.slots), pitch = static_cast<std::size_t>(batch.pitch);
    keep("target rows", batch.target, rows * pitch);
    keep("proposal rows", batch.proposal, drafts * pitch);
    if (batch.mask) keep("masks", batch.mask, rows * static_cast<std::size_t>(batch.vocabulary));
    keep("drafts", batch.drafts, static_cast<std::size_t>(batch.slots * batch.longest));
    keep("lengths", batch.length, static_cast<std::size_t>(batch.slots));
    keep("order of drafting", batch.drafted_at, static_cast<std::size_t>(batch.slots));
  }

  /// Returns the first input that has changed, by name and entry; nullopt if none has.
  std::optional<std::string> difference() const {
    for (const Kept& kept : inputs_)
      for (std::size_t byte = 0; byte < kept.bytes.size(); ++byte)
        if (static_cast<const unsigned char*>(kept.at)[byte] != kept.bytes[byte])
          return fmt::format("entry {} of the {} has changed", byte / kept.entry, kept.name);
    return std::nullopt;
  }

 private:
  struct Kept {
    const char* name;
    const void* at;
    std::size_t entry;  ///< bytes
    std::vector<unsigned char> bytes;
  };

  template <class Entry>
  void keep(const char* name, const Entry* at, std::size_t count) {
    Kept kept{name, at, sizeof(Entry), std::vector<unsigned char>(count * sizeof(Entry))};
    if (count > 0) std::memcpy(kept.bytes.data(), at, kept.bytes.size());
    inputs_.push_back(std::move(kept));
  }

  std::vector<Kept> inputs_;
};

// A call reads its inputs and writes none of them: rows, masks and drafts are compared before every draw and
// after the call.
//
// Cost: two runs per turn, and a comparison of all inputs per draw.
//
// Correctness: the comparison at every draw also finds a row that is written and restored before the call returns;
// another request or a concurrent kernel would read the wrong row in between.
struct InputsUnchanged {
  static constexpr std::string_view name = "inputs_unchanged";
  static constexpr std::string_view about = "rows, masks and drafts are the same at every draw and after the call";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    for (std::uint32_t turn = 0; turn < 4; ++turn, ++work) {
      const BuiltBatch batch(one, turn);
      const RaggedBatch view = batch.view();
      const BatchInputs before(view);
      std::optional<std::string> during;
      BatchStreams streams;
      streams.before_draw([&](const StreamAddress& address) {
        if (during) return;
        if (auto changed = before.difference())
          during = fmt::format("before the draw of position {}", address.position) + ": " + *changed;
      });
      runner.run(view, streams);
      const auto after = before.difference();
      if (during || after)
        return Answer::failed(fmt::format("trial {}: {}{}", turn, during ? *during : "after the call: " + *after,
                                          during && !after ? ", restored after the call" : ""));
    }
    return Answer::passed();
  }
};

// Requests may share rows: with a pitch of 0 every row is the first one, as in engines where one row serves all
// requests. The output must equal the output for separate copies of the row.
//
// Cost: two runs per turn.
//
// Correctness: a runner that only reads its rows reads the same values from a shared row and from copies.
struct RowsShared {
  static constexpr std::string_view name = "rows_shared";
  static constexpr std::string_view about = "requests that share rows in memory get the same results as with copies";

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
    if (!copies.valid()) return Answer::not_applicable();  // the mask excludes every token of the row
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, work += 2) {
      const BuiltBatch batch(copies, turn);
      const RaggedBatch apart = batch.view();
      RaggedBatch shared = apart;
      shared.pitch = 0;
      BatchStreams here, there;
      const BatchOutput wanted = runner.run(apart, here), found = runner.run(shared, there);
      for (std::size_t s = 0; s < wanted.emitted.size(); ++s)
        if (wanted.emitted[s] != found.emitted[s] || wanted.refused[s] != found.refused[s])
          return Answer::failed(
              fmt::format("trial {}: slot {} gives {} with copies of the rows, {} where all share them", turn, s,
                          text(wanted, s), text(found, s)));
    }
    return Answer::passed();
  }

 private:
  static std::string text(const BatchOutput& output, std::size_t s) {
    return BatchRow{output.emitted[s], output.accepted[s], bool{output.refused[s]}}.text();
  }
};

// Rows beyond 2^31, 2^32 and 2^33 elements are read correctly: the same batch gives the same output with
// adjacent rows and with a pitch at which the second or third row begins beyond that many elements.
//
// Cost: two runs per turn and pitch, a few pages of memory, 170 GiB of address space at the widest.
//
// Correctness: the output does not depend on the pitch.
struct WidePitch {
  static constexpr std::string_view name = "wide_pitch";
  static constexpr std::string_view about = "rows beyond 2^31 elements are read at the right offset";
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
          return {Status::skipped, fmt::format("mmap() failed for {} GiB of address space", (rows * pitch) >> 28)};
        wide.target = target.first();
        wide.proposal = proposal.first();
        wide.pitch = static_cast<std::int64_t>(pitch);
        BatchStreams here, there;
        const BatchOutput narrow = runner.run(close, here), far = runner.run(wide, there);
        for (std::size_t s = 0; s < narrow.emitted.size(); ++s)
          if (narrow.emitted[s] != far.emitted[s] || narrow.refused[s] != far.refused[s])
            return Answer::failed(
                fmt::format("trial {}: slot {} gives {} with rows side by side, {} with {} elements between them",
                            turn, s, text(narrow, s), text(far, s), pitch));
      }
    return Answer::passed();
  }

 private:
  static std::string text(const BatchOutput& output, std::size_t s) {
    return BatchRow{output.emitted[s], output.accepted[s], bool{output.refused[s]}}.text();
  }
};

}  // namespace draftproof::checks::batch
