// Tests which calls of the host interface are refused, and with which message. If possible a call is refused before a
// device is used; without a device the message names the CUDA call that failed.
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/draft_batch.hpp>
#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/simulate.hpp>
#include <draftproof/gpu/steps.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/verifiers/optimal_transport.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/greedy_block.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace {

using namespace draftproof;

int failures = 0;

/// Expects that `call` throws an E whose message contains `wanted`.
template <class E>
void expect_refusal(const std::string& wanted, const std::function<void()>& call) {
  std::string found = "nothing";
  try {
    call();
  } catch (const E& error) {
    found = error.what();
    if (found.find(wanted) != std::string::npos) return;
  } catch (const std::exception& error) {
    found = "another kind of error: " + std::string(error.what());
  }
  ++failures;
  std::printf("got %s, expected \"%s\"\n", found.c_str(), wanted.c_str());
}

const std::vector<float> row{.5f, .25f, .25f, 0, 0, 0, 0, 0};
const std::vector<Token> tokens{0, 1};

gpu::Batch<float> one_position(const std::int32_t* counts) {
  gpu::Batch<float> batch;
  batch.positions = 1;
  batch.vocabulary = static_cast<int>(row.size());
  batch.target = batch.proposal = row.data();
  batch.drafts = tokens.data();
  batch.draft_stride = 2;
  batch.counts = counts;
  return batch;
}

void refuse() {
  const std::int32_t two = 2, three = 3;
  expect_refusal<std::logic_error>("optimal_transport has no kernel: ", [&] {
    gpu::verify_batch(verifiers::OptimalTransport{}, one_position(&two), nullptr);
  });
  expect_refusal<std::invalid_argument>("position 0: the number of drafts: got 3, expected 1 .. 2",
                                        [&] { gpu::DeviceBatch<float>{one_position(&three)}; });
  gpu::Batch<float> beyond = one_position(&two);
  const std::vector<Token> outside{0, 8};
  beyond.drafts = outside.data();
  expect_refusal<std::invalid_argument>("draft 1: got 8, expected a token below 8",
                                        [&] { gpu::DeviceBatch<float>{beyond}; });

  gpu::DraftBatch<float> drafts;
  drafts.positions = 1;
  drafts.vocabulary = static_cast<int>(row.size());
  drafts.proposal = row.data();
  drafts.draft_stride = 2;
  drafts.wanted = &three;
  expect_refusal<std::invalid_argument>("drafts: position 0: the number of drafts: got 3, expected 1 .. 2",
                                        [&] { gpu::DeviceDrafts<float>{drafts}; });
  drafts.proposals = 0;
  expect_refusal<std::invalid_argument>("drafts: proposals: got 0, expected 1 or more",
                                        [&] { gpu::DeviceDrafts<float>{drafts}; });
  drafts.proposals = 1;
  expect_refusal<std::invalid_argument>(
      "drafts by cluster", [&] { gpu::draft_batch(drafters::Iid{}, drafts, nullptr, gpu::Mapping::cluster); });

  gpu::StepBatch<float> steps;
  steps.requests = 1;
  steps.vocabulary = static_cast<int>(row.size());
  expect_refusal<std::invalid_argument>("steps by cluster", [&] {
    gpu::verify_steps(verifiers::paths::Block{}, steps, nullptr, gpu::Mapping::cluster);
  });
  expect_refusal<std::invalid_argument>("the batch has no carries", [&] {
    gpu::verify_steps(verifiers::paths::GreedyBlock{}, steps, nullptr, gpu::Mapping::block);
  });

  const std::vector<double> distributions(row.begin(), row.end());
  const RatioTable table(distributions, distributions);
  if (gpu::device_count() == 0) {
    expect_refusal<gpu::DeviceError>("cudaMalloc: ", [&] { gpu::DeviceBatch<float>{one_position(&two)}; });
    expect_refusal<gpu::DeviceError>("cuda", [&] { gpu::DeviceTable{table}; });
    return;
  }
  const gpu::DeviceTable on_device(table);
  gpu::DeviceCounts counts(on_device);
  const auto count = [&](const auto& verifier, std::string_view distribution, int many) {
    gpu::count_trials(verifier, distribution, on_device, {.seed = 1, .first = 0, .count = 1, .drafts = many}, counts,
                      nullptr);
  };
  expect_refusal<std::logic_error>("recursive_rejection has no kernel for drafts of greedy",
                                   [&] { count(verifiers::RecursiveRejection{}, "greedy", 2); });
  expect_refusal<std::invalid_argument>("33 drafts, but a position takes 1 .. 32",
                                        [&] { count(verifiers::RecursiveRejection{}, "iid", 33); });
  expect_refusal<std::invalid_argument>("2 drafts, but single_draft takes at most 1",
                                        [&] { count(verifiers::SingleDraft{}, "iid", 2); });
}

}  // namespace

int main() {
  return draftproof::parity::outcome([] {
    refuse();
    std::printf("refusals: %d failures\n", failures);
    return failures == 0 ? 0 : 1;
  });
}
