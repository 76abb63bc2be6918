// Compares softmax by a team of fibers with Softmax of the host, to the last bit, and tests its faults for rows that
// are not distributions.
#include <bit>
#include <cstdio>
#include <exception>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/rows/stored_on_chip.cuh>
#include <draftproof/sim/distributions/softmax.hpp>
#include <draftproof/tests/support/gpu/host_team.hpp>
#include <draftproof/tests/support/gpu/logit_cases.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>

namespace draftproof::parity {
namespace {

constexpr TeamShape shapes[] = {{.partitions = 1, .warps = 1, .lanes = 4},
                                {.partitions = 1, .warps = 3, .lanes = 4},
                                {.partitions = 4, .warps = 2, .lanes = 4}};

struct ByTeam {
  std::vector<float> row;
  gpu::SoftmaxOutcome outcome;
};

template <class Entry>
ByTeam by_team(const TeamShape& shape, const std::vector<Entry>& logits, float inverse, bool in_place = false) {
  const int vocabulary = static_cast<int>(logits.size());
  ByTeam result{std::vector<float>(logits.size()), {}};
  for (std::size_t x = 0; in_place && x < logits.size(); ++x) result.row[x] = static_cast<float>(logits[x]);
  HostTeam team(shape);
  std::vector<std::vector<gpu::SoftmaxNote>> notes(static_cast<std::size_t>(shape.partitions));
  std::vector<gpu::SoftmaxOutcome> outcomes(static_cast<std::size_t>(shape.threads()));
  const gpu::TeamLayout layout = gpu::on_chip_layout(vocabulary, shape.lanes, shape.partitions);
  for (auto& own : notes) own.resize(static_cast<std::size_t>(gpu::softmax_blocks(layout.slice())));
  team.run([&](const HostThread& thread) {
    const int count = gpu::tokens_of_partition(thread, layout),
              first = count > 0 ? thread.partition() * layout.slice() : 0;
    float* const out = result.row.data() + first;
    gpu::SoftmaxNote* const own = notes[static_cast<std::size_t>(thread.partition())].data();
    outcomes[static_cast<std::size_t>(thread.index())] =
        in_place
            ? gpu::team_softmax<true>(thread, out, first, count, vocabulary, inverse, out, own)
            : gpu::team_softmax<false>(thread, logits.data() + first, first, count, vocabulary, inverse, out, own);
  });
  result.outcome = outcomes.front();
  for (const gpu::SoftmaxOutcome& outcome : outcomes)
    if (outcome.time != result.outcome.time || outcome.token != result.outcome.token)
      throw std::logic_error("the threads of a team disagree");
  return result;
}

template <class Entry>
int compare_rows(const char* format) {
  int mismatches = 0, rows = 0;
  for (const int vocabulary : {1, 2, 3, 31, 33, 1000, 1023, 1024, 1025, 2048, 3333, 5000})
    for (int shape = 0; shape < static_cast<int>(LogitShape::end); ++shape)
      for (const double temperature : {1.0, 0.7}) {
        const auto logits = logit_row<Entry>(static_cast<LogitShape>(shape), vocabulary, 77);
        Softmax softmax(vocabulary);
        const std::span<const float> wanted = softmax.of(std::span<const Entry>(logits), temperature);
        ++rows;
        const ByTeam found = by_team(shapes[rows % 3], logits, inverse_temperature(temperature), rows / 3 % 2 == 0);
        bool equal = found.outcome.sound();
        for (std::size_t x = 0; x < wanted.size(); ++x)
          equal &= std::bit_cast<std::uint32_t>(found.row[x]) == std::bit_cast<std::uint32_t>(wanted[x]);
        if (equal) continue;
        ++mismatches;
        std::printf("mismatch: %s, V %d, shape %d, temperature %g\n", format, vocabulary, shape, temperature);
      }
  std::printf("%s: %d rows, %d mismatches\n", format, rows, mismatches);
  return mismatches;
}

int wrong = 0;

void expect_fault(const std::vector<float>& logits, gpu::RowFault::Kind kind, Token token, const char* what) {
  for (const TeamShape& shape : shapes) {
    const gpu::SoftmaxOutcome outcome = by_team(shape, logits, 1).outcome;
    const bool sound = outcome.sound();
    const gpu::RowFault fault = sound ? gpu::RowFault{kind, 0} : gpu::RowFault::of_word(outcome.fault(5).word());
    if (!sound && fault.kind == kind && fault.row == 5 && fault.token == token) continue;
    ++wrong;
    std::printf("%s: sound %d, kind %d, row %d, token %d\n", what, sound, static_cast<int>(fault.kind), fault.row,
                fault.token);
  }
}

void expect_faults() {
  using Kind = gpu::RowFault::Kind;
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto base = logit_row<float>(LogitShape::spread, 3000, 1);
  for (const Token x : {0, 1023, 1024, 2999})
    for (const float bad : {infinity, nan, -nan}) {
      auto logits = base;
      logits[static_cast<std::size_t>(x)] = bad;
      expect_fault(logits, Kind::infinite, x, "one entry");
      logits[2999] = nan;  // later faults are not reported, whichever lane reads them
      if (x + 16 < 3000) logits[static_cast<std::size_t>(x + 16)] = infinity;
      expect_fault(logits, Kind::infinite, x, "the first of several");
    }
  expect_fault(std::vector<float>(3000, -infinity), Kind::masked, no_token, "all masked");
  expect_fault({-infinity}, Kind::masked, no_token, "the only one masked");
  expect_fault({nan}, Kind::infinite, 0, "the only one");
}

}  // namespace
}  // namespace draftproof::parity

int main() {
  return draftproof::parity::outcome([] {
    using namespace draftproof;
    int failures = parity::compare_rows<float>("float");
    failures += parity::compare_rows<Bfloat16>("bf16");
    failures += parity::compare_rows<Half>("fp16");
    parity::expect_faults();
    return failures + parity::wrong == 0 ? 0 : 1;
  });
}
