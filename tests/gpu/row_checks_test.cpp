// Compares the check of stored probabilities by a team of fibers with checked_sum of the host: equal sums, the same
// refused rows, and the first invalid entry.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/sim/distributions/softmax.hpp>
#include <draftproof/sim/distributions/stored_row.hpp>
#include <draftproof/tests/support/gpu/expect.hpp>
#include <draftproof/tests/support/gpu/logit_cases.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/stored_lockstep.hpp>

namespace draftproof::parity {
namespace {

template <class Entry>
std::vector<Entry> probabilities(int vocabulary, std::uint64_t row) {
  Softmax softmax(vocabulary);
  const auto logits = logit_row<float>(LogitShape::spread, vocabulary, row);
  std::vector<Entry> entries;
  for (const float p : softmax.of(std::span<const float>(logits))) entries.emplace_back(static_cast<Entry>(p));
  return entries;
}

/// Returns the first fault of a batch whose only target row is `row`.
template <class Entry>
std::uint64_t fault_of(const std::vector<Entry>& row) {
  std::uint64_t fault = gpu::no_fault;
  gpu::StoredBatch batch{.format = gpu::format_of<Entry>, .positions = 1};
  batch.vocabulary = static_cast<int>(row.size());
  batch.target = batch.proposal = row.data();
  batch.faults = &fault;
  check_rows_in_lockstep(batch, gpu::sum_tolerance_of(batch));
  return fault;
}

template <class Entry>
void compare_with_host(const std::vector<Entry>& row, Token unsound, const std::string& what) {
  const std::uint64_t fault = fault_of(row);
  bool refused = false;
  double sum = 0;
  try {
    sum = checked_sum(std::span<const Entry>(row));
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  expect(refused == (fault != gpu::no_fault), "the host's opinion of " + what);
  if (fault != gpu::no_fault) {
    const gpu::RowFault found = gpu::RowFault::of_word(fault);
    expect(found.row == 0 && found.token == unsound &&
               found.kind == (unsound == no_token ? gpu::RowFault::Kind::sum : gpu::RowFault::Kind::probability),
           "the entry at fault in " + what);
    return;
  }
  HostTeam team(block_of_fibers);
  team.run([&](const HostThread& thread) {
    const gpu::CheckedRow found = gpu::check_entries(thread, row.data(), static_cast<int>(row.size()));
    if (found.sum() != sum) throw std::logic_error("another sum of " + what);
  });
}

template <class Entry>
void compare_format(const std::string& format) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const int vocabulary : {1, 2, 33, 1024, 1025, 3000}) {
    const std::string what = format + " of " + std::to_string(vocabulary);
    const auto row = probabilities<Entry>(vocabulary, 5);
    compare_with_host(row, no_token, what);
    for (const double bad : {nan, infinity, -infinity, -0.25, 2.0})
      for (const int x : {0, vocabulary / 2, vocabulary - 1}) {
        auto wrong = row;
        wrong[static_cast<std::size_t>(x)] = Entry(bad);
        compare_with_host(wrong, x, what + " with " + std::to_string(bad));
        // A second fault, later in the same lane, must not be reported.
        if (x + 24 < vocabulary) wrong[static_cast<std::size_t>(x + 24)] = Entry(bad);
        compare_with_host(wrong, x, what + " with two of " + std::to_string(bad));
      }
    auto signs = row;
    signs.back() = Entry(-0.0);  // valid, like 0
    if (vocabulary == 3000) compare_with_host(signs, no_token, what + " with a negative zero");
    compare_with_host(std::vector<Entry>(row.size(), Entry(1.875)), no_token, what + " of entries below 2");
    compare_with_host(std::vector<Entry>(row.size(), Entry(0.0)), no_token, what + " of nothing");
    // In units of 2^-51 an overflow of 64 bits subtracts 2^13, so a sum of 8193 that overflows would be reported as 1.
    if (vocabulary == 1) compare_with_host(std::vector<Entry>(8193, Entry(1.0)), no_token, what + ", sum 8193");
    // Tests sums on both sides of the largest deviation that the format allows.
    gpu::StoredBatch batch{.format = gpu::format_of<Entry>, .positions = 1};
    batch.vocabulary = 1;
    const double tolerance = gpu::sum_tolerance_of(batch);
    for (const double factor : {0.5, 0.9, 1.1, 2.0, 4.0})
      for (const double sign : {-1.0, 1.0})
        compare_with_host(std::vector<Entry>{Entry(1 + sign * factor * tolerance)}, no_token, what + " near 1");
  }
}

/// Tests that the fault reported for a position is in its first invalid row.
void compare_rows() {
  constexpr int vocabulary = 700, positions = 4, proposals = 3;
  std::vector<Bfloat16> entries;
  for (int i = 0; i < positions * (1 + proposals); ++i) {
    const auto row = probabilities<Bfloat16>(vocabulary, static_cast<std::uint64_t>(i));
    entries.insert(entries.end(), row.begin(), row.end());
  }
  std::vector<std::uint64_t> faults(positions, gpu::no_fault);
  gpu::StoredBatch batch{.format = gpu::Format::bfloat16, .positions = positions, .vocabulary = vocabulary};
  batch.proposals = proposals;
  batch.target = entries.data();
  batch.proposal = entries.data() + vocabulary;
  batch.target_stride = batch.proposal_stride = vocabulary * (1 + proposals);
  batch.proposal_row_stride = vocabulary;
  batch.faults = faults.data();
  const auto spoil = [&](int position, int row, Token x) {
    entries[static_cast<std::size_t>((position * (1 + proposals) + row) * vocabulary + x)] = Bfloat16(-1.0);
  };
  spoil(1, 3, 5);
  spoil(1, 2, 600);
  spoil(3, 0, 699);
  check_rows_in_lockstep(batch, gpu::sum_tolerance_of(batch));
  expect(faults[0] == gpu::no_fault && faults[2] == gpu::no_fault, "no fault where there is none");
  const gpu::RowFault second = gpu::RowFault::of_word(faults[1]);
  expect(second.row == 2 && second.token == 600, "the first row at fault");
  expect(gpu::describe({3, gpu::RowFault::of_word(faults[3])}) ==
             "position 3: target: token 699: got NaN, a negative number, or 2 and more, expected a probability",
         "the place of the fault");
}

/// Tests rows without a batch: logits give the host's softmax; an invalid row is reported, the others are converted.
void convert_rows_alone() {
  constexpr int vocabulary = 1300, count = 3;
  constexpr double temperature = 0.5;
  std::vector<Half> entries;
  for (int i = 0; i < count; ++i) {
    const auto row = logit_row<Half>(LogitShape::spread, vocabulary, static_cast<std::uint64_t>(i));
    entries.insert(entries.end(), row.begin(), row.end());
  }
  entries[vocabulary + 9] = Half(std::numeric_limits<double>::quiet_NaN());
  std::vector<std::uint64_t> faults(count, gpu::no_fault);
  gpu::StoredRows rows{.format = gpu::Format::float16,
                       .contents = gpu::Contents::logits,
                       .temperature = temperature,
                       .rows = count,
                       .vocabulary = vocabulary,
                       .first = entries.data(),
                       .stride = vocabulary,
                       .faults = faults.data()};
  expect(gpu::DistinctRows{rows.batch()}.size() == count, "no proposals among rows alone");
  const std::vector<float> found = converted_rows(rows.batch());
  for (int i = 0; i < count; ++i) {
    if (i == 1) {
      const gpu::RowFault fault = gpu::RowFault::of_word(faults[1]);
      expect(fault.kind == gpu::RowFault::Kind::infinite && fault.token == 9, "the token at fault");
      continue;
    }
    Softmax softmax(vocabulary);
    const auto wanted = softmax.of(
        std::span<const Half>(entries).subspan(static_cast<std::size_t>(i) * vocabulary, vocabulary), temperature);
    const float* const row = found.data() + i * gpu::float_row_stride(vocabulary);
    expect(faults[static_cast<std::size_t>(i)] == gpu::no_fault && std::equal(wanted.begin(), wanted.end(), row),
           "the host's probabilities");
  }
  rows.stride = 0;
  expect(gpu::DistinctRows{rows.batch()}.size() == 1, "one row that all share");
}

}  // namespace
}  // namespace draftproof::parity

int main() {
  return draftproof::parity::outcome([] {
    using namespace draftproof;
    parity::compare_format<float>("float");
    parity::compare_format<Bfloat16>("bf16");
    parity::compare_format<Half>("fp16");
    parity::compare_rows();
    parity::convert_rows_alone();
    std::printf("row checks: %d compared, %d failures\n", parity::compared, parity::failures);
    return parity::failures == 0 ? 0 : 1;
  });
}
