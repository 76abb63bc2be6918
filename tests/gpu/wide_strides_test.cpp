// Tests batches whose rows lie more than 2^32 entries apart, batches of more positions than a grid has blocks, and
// the workspace sizes of batches; they need no device.
#include <sys/mman.h>

#include <cstdio>
#include <exception>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/device/grids.hpp>
#include <draftproof/gpu/teams/split_scratch.hpp>
#include <draftproof/gpu/workspace.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/gpu/expect.hpp>
#include <draftproof/tests/support/gpu/logit_batches.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/stored_lockstep.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::parity {
namespace {

/// Address space whose pages use memory only once they are written or read.
class Sparse {
 public:
  explicit Sparse(std::size_t bytes)
      : bytes_{bytes},
        memory_{mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)} {
    if (memory_ == MAP_FAILED) throw std::runtime_error("no address space of " + std::to_string(bytes) + " bytes");
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  ~Sparse() { munmap(memory_, bytes_); }
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// Tests that the verdicts of a batch do not change when its rows are moved 2^32 entries and more apart.
template <class Entry>
void move_rows_apart() {
  using V = verifiers::RecursiveRejection;
  constexpr int vocabulary = 1100, positions = 4;
  constexpr std::int64_t stride = (std::int64_t{1} << 32) + 12345, to_proposal = (std::int64_t{1} << 31) + 77;
  LogitBatch<Entry, drafters::Iid> drafted(vocabulary, positions, 21);
  const Sparse memory(static_cast<std::size_t>(positions * stride) * sizeof(Entry));
  auto* const entries = memory.as<Entry>();
  for (int i = 0; i < positions; ++i)
    for (int row = 0; row < 2; ++row)
      std::ranges::copy(drafted.logits(i, row), entries + i * stride + row * to_proposal);
  gpu::StoredBatch batch = gpu::stored(drafted.batch(), gpu::Contents::logits, drafted.temperatures);
  std::vector<std::uint64_t> faults(positions, gpu::no_fault);
  batch.faults = faults.data();
  batch.target = entries;
  batch.proposal = entries + to_proposal;
  batch.target_stride = batch.proposal_stride = stride;
  const std::vector<float> rows = converted_rows(batch);
  const gpu::Batch<float> converted = gpu::DistinctRows{batch}.converted(rows.data());
  for (int i = 0; i < positions; ++i) {
    const Verdict wanted = drafted.template host_verdict<V>(i);
    for (const Verdict& found : {verdict_on_chip<V>(batch, i), verdict_on_converted<V>(converted, i),
                                 verdict_on_chip<V>(batch.part(i, 1), 0)})
      expect(found.token == wanted.token && found.accepted == wanted.accepted,
             "the verdict of position " + std::to_string(i) + " far apart");
  }
  // Tests proposal rows of one position that lie far apart, in both kinds of batch.
  gpu::StoredBatch several = batch;
  several.positions = 1;
  several.proposals = positions;
  several.proposal_row_stride = stride;
  several.contents = gpu::Contents::probabilities;
  const std::vector<float> proposed = converted_rows(several);
  const gpu::RowView<float> found = gpu::DistinctRows{several}.converted(proposed.data()).rows(0);
  gpu::Batch<Entry> typed;
  typed.positions = 1;
  typed.vocabulary = vocabulary;
  typed.proposals = positions;
  typed.target = entries;
  typed.proposal = entries + to_proposal;
  typed.proposal_row_stride = stride;
  for (int k = 0; k < positions; ++k) {
    const auto wanted = static_cast<double>(drafted.logits(k, 1)[1000]);
    expect(found.q(1000, k) == wanted && typed.rows(0).q(1000, k) == wanted, "proposal rows far apart");
  }
}

/// Tests that every position is in exactly one grid.
void cut_grids() {
  for (const int partitions : {1, 8, 16}) {
    std::int64_t next = 0;
    constexpr int all = std::numeric_limits<int>::max();
    gpu::for_positions_of_grids(all, partitions, [&](std::int64_t first, int count) {
      expect(first == next && count > 0 && std::int64_t{count} * partitions <= gpu::most_blocks, "grids one by one");
      next = first + count;
    });
    expect(next == all, "all positions in a grid");
  }
}

constexpr gpu::DeviceTraits hopper{
    .multiprocessors = 132, .shared_bytes = 227 * 1024, .most_cluster = 16, .cooperative = true};
constexpr gpu::DeviceTraits ampere{
    .multiprocessors = 108, .shared_bytes = 163 * 1024, .most_cluster = 0, .cooperative = true};

gpu::StoredBatch batch_of(int positions, gpu::Format format, gpu::Contents contents, int proposals = 1) {
  gpu::StoredBatch batch{.format = format, .contents = contents};
  batch.positions = positions;
  batch.vocabulary = 128256;
  batch.proposals = proposals;
  batch.target_stride = batch.proposal_row_stride = 128256;
  batch.proposal_stride = std::int64_t{proposals} * 128256;
  return batch;
}

std::size_t wanted_bytes(const gpu::StoredBatch& batch, const gpu::DeviceTraits& device, bool checks = false) {
  return gpu::workspace_for_up_to(batch, gpu::Mapping::automatic, device, checks);
}

void measure_workspaces() {
  using gpu::Contents;
  using gpu::Format;
  constexpr std::size_t row = 128256 * sizeof(float);
  expect(wanted_bytes(batch_of(256, Format::float32, Contents::probabilities), hopper) == 0, "nothing for floats");
  expect(wanted_bytes(batch_of(256, Format::bfloat16, Contents::probabilities), hopper) == 0, "nothing on chip");
  expect(wanted_bytes(batch_of(256, Format::bfloat16, Contents::logits), hopper) == 256 * 8, "faults of logits");
  expect(wanted_bytes(batch_of(256, Format::float32, Contents::probabilities), hopper, true) == 256 * 8,
         "faults of checks");
  gpu::StoredBatch own_faults = batch_of(256, Format::bfloat16, Contents::logits);
  std::uint64_t word = 0;
  own_faults.faults = &word;
  expect(wanted_bytes(own_faults, hopper) == 0, "no faults beside the batch's");
  expect(wanted_bytes(batch_of(256, Format::float16, Contents::probabilities), ampere) == 512 * row,
         "converted rows without clusters");
  gpu::StoredBatch shared = batch_of(256, Format::float16, Contents::probabilities, 4);
  shared.proposal_stride = 0;
  expect(wanted_bytes(shared, ampere) == (256 + 4) * row, "shared rows once");
  // A million positions with eight proposals have 2^22 MB of rows.
  const std::size_t many = wanted_bytes(batch_of(1 << 20, Format::float16, Contents::logits, 8), hopper);
  expect(many == (std::size_t{9} << 20) * row + (std::size_t{8} << 20), "sizes beyond 32 bits");
  // 27 positions of floats are split on this device and need scratch; 28 are not split and need none.
  expect(
      wanted_bytes(batch_of(28, Format::float32, Contents::probabilities), ampere) >= 27 * sizeof(gpu::SplitScratch),
      "enough for fewer positions");
  for (const int positions : {1, 5, 27, 28, 300})
    for (const bool checks : {false, true})
      for (const auto mapping : {gpu::Mapping::automatic, gpu::Mapping::split, gpu::Mapping::block}) {
        const gpu::StoredBatch batch = batch_of(positions, Format::bfloat16, Contents::logits, 3);
        const gpu::Mapped mapped = gpu::mapped(mapping, ampere, positions, 128256, 3, 2);
        const gpu::Workspace parts = gpu::workspace_of(batch, mapped, ampere, checks);
        const std::size_t rows_end = parts.rows + static_cast<std::size_t>(4 * positions) * row;
        const bool split = mapped.mapping == gpu::Mapping::split;
        expect(parts.faults + static_cast<std::size_t>(positions) * 8 <= parts.rows &&
                   rows_end <= (split ? parts.split : parts.bytes),
               "parts one behind the other");
        expect(parts.faults % 256 == 0 && parts.rows % 256 == 0 && parts.split % 256 == 0, "aligned parts");
        expect(!split ||
                   (0 < parts.teams && parts.teams <= positions &&
                    parts.split + static_cast<std::size_t>(parts.teams) * sizeof(gpu::SplitScratch) <= parts.bytes),
               "room for the teams");
        expect(parts.bytes <= gpu::workspace_for_up_to(batch, mapping, ampere, checks), "no more than was asked for");
      }
}

/// Tests the number of rows and the address of the last row in a batch of 2^30 positions.
void count_rows() {
  gpu::StoredBatch batch = batch_of(1 << 30, gpu::Format::float16, gpu::Contents::logits, 8);
  const Half somewhere(0.0);
  batch.target = batch.proposal = &somewhere;
  const gpu::DistinctRows rows{batch};
  expect(rows.size() == std::int64_t{9} << 30, "nine rows a position");
  expect(rows.floats() == (std::int64_t{9} << 30) * 128256, "floats of all");
  const gpu::DistinctRow last = rows[rows.size() - 1];
  const auto offset = static_cast<const char*>(last.entries) - static_cast<const char*>(batch.proposal);
  expect(last.position == (1 << 30) - 1 && last.row == 8 && offset == ((std::int64_t{8} << 30) - 1) * 128256 * 2,
         "the last row of all");
  const gpu::RowFault fault = gpu::RowFault::of_word(gpu::RowFault{gpu::RowFault::Kind::infinite, 8, 1 << 30}.word());
  expect(fault.row == 8 && fault.token == 1 << 30, "a token of 31 bits in a fault");
}

void refuse_shapes() {
  const auto refused = [](gpu::StoredBatch batch) {
    try {
      gpu::checked_shape(batch);
      return false;
    } catch (const std::invalid_argument&) {
      return true;
    }
  };
  const gpu::StoredBatch sound = batch_of(3, gpu::Format::float32, gpu::Contents::logits);
  expect(!refused(sound), "a sound shape");
  gpu::StoredBatch batch = sound;
  batch.vocabulary = (1 << 22) + 1;
  expect(refused(batch), "a refusal of rows whose powers do not fit");
  batch = sound;
  batch.temperatures.proposal = 0;
  expect(refused(batch), "a refusal of temperature 0");
  batch = sound;
  batch.target_stride = -1;
  expect(refused(batch), "a refusal of a negative stride");
  batch = sound;
  batch.positions = -1;
  expect(refused(batch), "a refusal of negative positions");
}

}  // namespace
}  // namespace draftproof::parity

int main() {
  return draftproof::parity::outcome([] {
    using namespace draftproof;
    parity::move_rows_apart<float>();
    parity::move_rows_apart<Bfloat16>();
    parity::cut_grids();
    parity::measure_workspaces();
    parity::count_rows();
    parity::refuse_shapes();
    std::printf("wide strides: %d failures\n", parity::failures);
    return parity::failures == 0 ? 0 : 1;
  });
}
