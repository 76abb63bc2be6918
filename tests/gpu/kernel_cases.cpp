#include <draftproof/tests/support/gpu/kernel_cases.hpp>

#include <sys/mman.h>

#include <stdexcept>
#include <utility>

#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::kernel_mutants {
namespace {

float* address_space(std::size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no address space of " + std::to_string(bytes) + " bytes");
  return static_cast<float*>(memory);
}

}  // namespace

void KernelCase::Unmap::operator()(float* memory) const { munmap(memory, bytes); }

KernelCase::KernelCase(std::string name, int vocabulary, int positions, std::int64_t pitch, std::int64_t middle,
                       std::size_t size)
    : name_{std::move(name)}, size_{size}, memory_{address_space(size * sizeof(float)), Unmap{size * sizeof(float)}} {
  batch_.positions = positions;
  batch_.vocabulary = vocabulary;
  batch_.target = data() + middle;
  batch_.proposal = data() + middle + vocabulary;
  batch_.target_stride = batch_.proposal_stride = pitch;
  batch_.draft_stride = drafts;
  batch_.seed = 7;
  for (int i = 0; i < positions; ++i) {
    starts_.push_back(middle + i * pitch);
    fill(starts_.back(), static_cast<std::uint64_t>(i));
    decide(i);
  }
  batch_.drafts = tuples_.data();
  batch_.counts = counts_.data();
}

void KernelCase::fill(std::int64_t start, std::uint64_t position) const {
  for (int row = 0; row < 2; ++row) {
    std::vector<double> weights;
    double total = 0;
    for (Token x = 0; x < batch_.vocabulary; ++x) {
      const PhiloxPair word =
          philox_pair(position, static_cast<std::uint64_t>(row), static_cast<std::uint32_t>(x), 5);
      const bool own = (unit_interval(word.second) < .8) == (row == 0);
      weights.push_back(unit_interval(word.first) * (own ? 1 : .05));
      total += weights.back();
    }
    float* const out = data() + start + std::int64_t{row} * batch_.vocabulary;
    for (std::size_t x = 0; x < weights.size(); ++x) out[x] = static_cast<float>(weights[x] / total);
  }
}

void KernelCase::decide(int position) {
  const auto vocabulary = static_cast<std::size_t>(batch_.vocabulary);
  const float* const p = data() + starts_.back();
  const FreshRows<float> rows({p, vocabulary}, std::vector<std::span<const float>>{{p + vocabulary, vocabulary}});
  const auto trial = static_cast<std::uint64_t>(position);
  Philox drafting(batch_.seed, trial, Philox::Role::draft), verifying(batch_.seed, trial, Philox::Role::verify);
  Token tuple[drafts];
  const int count = drafters::Iid{}.draw(rows, drafts, drafting, tuple);
  tuples_.insert(tuples_.end(), tuple, tuple + drafts);
  counts_.push_back(count);
  const Verifier verifier;
  const auto plan = prepare(verifier, rows, count);
  wanted_.push_back(verify(verifier, DraftedPosition(rows, tuple, count), plan, verifying));
}

std::vector<std::unique_ptr<KernelCase>> kernel_cases(int positions) {
  std::vector<std::unique_ptr<KernelCase>> cases;
  const auto add_adjacent = [&](const char* name, int vocabulary) {
    const std::int64_t pitch = std::int64_t{2} * vocabulary;
    constexpr std::int64_t behind = 64;  // entries that a mutant may read past the last row
    cases.push_back(std::make_unique<KernelCase>(name, vocabulary, positions, pitch, 0,
                                                 static_cast<std::size_t>(positions * pitch + behind)));
  };
  add_adjacent("adjacent", 33);
  add_adjacent("passes", 1000);
  constexpr std::int64_t apart = std::int64_t{1} << 30;
  cases.push_back(std::make_unique<KernelCase>("far", 40, 4, apart, 2 * apart, static_cast<std::size_t>(6 * apart)));
  return cases;
}

}  // namespace draftproof::kernel_mutants
