// Compares tables and optima built by a device with the host's tables and optima. Without a device the exit code is 77,
// which CTest reads as skipped.
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/optimum.hpp>
#include <draftproof/gpu/ratio_table.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/gpu/distribution_rows.hpp>
#include <draftproof/tests/support/gpu/host_distributions.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/same_tables.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::parity {
namespace {

SameTables all;

void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// Device memory that the caller owns.
class Memory {
 public:
  explicit Memory(std::size_t bytes, const void* source = nullptr) {
    require(cudaMalloc(&data_, bytes));
    if (source != nullptr) require(cudaMemcpy(data_, source, bytes, cudaMemcpyHostToDevice));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { cudaFree(data_); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

template <class T>
std::vector<T> copied(const T* from, std::size_t size) {
  std::vector<T> host(size);
  require(cudaMemcpy(host.data(), from, size * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

/// A batch with its rows in device memory.
template <class Entry>
class DeviceDistributions {
 public:
  explicit DeviceDistributions(DistributionBatch<Entry> host)
      : host_{std::move(host)},
        memory_(host_.entries().size() * sizeof(Entry), host_.entries().data()),
        batch_{host_.batch()} {
    batch_.proposal = memory_.template as<Entry>() + (batch_.proposal - batch_.target);
    batch_.target = memory_.template as<Entry>();
  }
  const gpu::Batch<Entry>& batch() const { return batch_; }
  gpu::Batch<Entry> host() const { return host_.batch(); }

 private:
  DistributionBatch<Entry> host_;
  Memory memory_;
  gpu::Batch<Entry> batch_;
};

void expect_table(const RatioTable& wanted, const gpu::DeviceTable& table, const std::string& where) {
  const gpu::HotTokens hot = table.hot();
  const auto tokens = copied(hot.tokens, static_cast<std::size_t>(hot.count));
  const auto slot = copied(hot.slot, static_cast<std::size_t>(wanted.vocabulary()));
  all.expect_table(wanted, table.host(), {hot.count, tokens.data(), slot.data()}, where);
}

template <class Entry>
void compare_tables(int vocabulary, int proposals, gpu::Contents contents) {
  for (int shape = 0; shape < distribution_shapes; ++shape) {
    std::vector<DistributionRows> distributions;
    for (const std::uint64_t trial : {1u, 2u})
      distributions.emplace_back(vocabulary, proposals, static_cast<DistributionShape>(shape), trial);
    // After rounding to 16 bits, rows of shapes other than one_hot and peaked may have sums that exceed 1 by too much.
    // For logits any numbers are valid.
    if (contents == gpu::Contents::probabilities && sizeof(Entry) == 2 &&
        shape != static_cast<int>(DistributionShape::one_hot) && shape != static_cast<int>(DistributionShape::peaked))
      continue;
    const DeviceDistributions<Entry> rows{DistributionBatch<Entry>(distributions)};
    for (int i = 0; i < 2; ++i) {
      gpu::Batch<Entry> one = rows.host();
      one.positions = 1;
      one.target += i * one.target_stride;
      one.proposal += i * one.proposal_stride;
      HostMachine machine(1, 4);
      const HostDistributions host(machine, one, contents);
      std::vector<std::vector<double>> floats;
      for (int k = 0; k <= proposals; ++k)
        floats.emplace_back(host.fixed().row(k).entries, host.fixed().row(k).entries + vocabulary);
      const RatioTable wanted(floats[0], std::span(floats).subspan(1));
      const std::string where = "V = " + std::to_string(vocabulary) + ", shape " + std::to_string(shape);
      expect_table(wanted, gpu::ratio_table(gpu::stored(rows.batch(), contents), i), where);
    }
  }
}

/// Trials on a table built on the device must equal trials on a copied table, with and without a plan.
void compare_trials() {
  const DistributionRows rows(6000, 1, DistributionShape::random, 9);
  const RatioTable host = rows.table();
  const gpu::DeviceTable copied_table(host);
  const DeviceDistributions<float> distributions{DistributionBatch<float>({rows})};
  gpu::DeviceTable built = gpu::ratio_table(gpu::stored(distributions.batch()));
  const gpu::TrialRange range{.seed = 3, .first = 1, .count = 100'000, .drafts = 4};
  const auto compare = [&](const auto& verifier) {
    const Tally wanted = gpu::simulate(verifier, drafters::Iid{}, copied_table, range);
    const Tally found = gpu::simulate(verifier, drafters::Iid{}, built, range);
    all.expect(wanted.histogram == found.histogram && wanted.by_draft == found.by_draft, "trials", "V = 6000");
  };
  compare(verifiers::RecursiveRejection{});
  compare(verifiers::KSeq{});
  expect_table(host, copied_table, "a table copied to the device");
}

void compare_optima(int vocabulary, int positions, bool shared_target) {
  std::vector<DistributionRows> distributions;
  for (int i = 0; i < positions; ++i) {
    distributions.emplace_back(vocabulary, 1, static_cast<DistributionShape>(i % distribution_shapes),
                               static_cast<std::uint64_t>(i));
    if (shared_target) distributions.back()[0] = distributions.front()[0];
  }
  DistributionBatch<float> host(distributions);
  const bool spoil = positions > 2 && !shared_target;
  if (spoil) host.row(1, 1)[vocabulary / 2] = std::numeric_limits<float>::quiet_NaN();
  const DeviceDistributions<float> rows{std::move(host)};
  const auto count = static_cast<std::size_t>(positions);
  const std::vector<int> drafts{1, 4};
  gpu::StoredBatch batch = gpu::stored(rows.batch());
  if (shared_target) batch.target_stride = 0;
  const Memory optima(2 * count * sizeof(Optimum)), faults(count * sizeof(std::uint64_t));
  batch.faults = faults.as<std::uint64_t>();
  const std::size_t bytes = gpu::optimum_workspace_bytes(batch);
  const Memory workspace(bytes);
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const bool own : {true, false}) {
    require(cudaMemset(optima.as<void>(), 0x5a, 2 * count * sizeof(Optimum)));
    require(cudaDeviceSynchronize());
    gpu::iid_optima(batch, drafts, optima.as<Optimum>(), stream,
                    own ? gpu::OptimumOptions{workspace.as<void>(), bytes} : gpu::OptimumOptions{});
    require(cudaStreamSynchronize(stream));
    const std::vector<Optimum> found = copied(optima.as<Optimum>(), 2 * count);
    const std::vector<std::uint64_t> words = copied(faults.as<std::uint64_t>(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string where = "V = " + std::to_string(vocabulary) + ", position " + std::to_string(i);
      if (spoil && i == 1) {
        const gpu::RowFault fault{gpu::RowFault::Kind::probability, 1, vocabulary / 2};
        all.expect(words[i] == fault.word() && std::isnan(found[i].acceptance), "a spoilt row", where);
        continue;
      }
      const RatioTable table = distributions[i].table();
      for (std::size_t k = 0; k < drafts.size(); ++k)
        all.expect_optimum(scanned_optimum(table, drafts[k]), found[k * count + i], where);
      all.expect(words[i] == gpu::no_fault, "no fault", where);
    }
  }
  require(cudaStreamDestroy(stream));
  if (!spoil)
    all.expect_optimum(scanned_optimum(distributions[0].table(), 2), gpu::iid_optima(batch, 2)[0],
                       "one number of drafts");
}

template <class Call>
void expect_refused(const char* what, const Call& call) {
  bool refused = false;
  try {
    call();
  } catch (const std::invalid_argument& error) {
    refused = true;
    std::printf("%s\n", error.what());
  }
  all.expect(refused, "refused", what);
}

void refused() {
  DistributionRows rows(1000, 1, DistributionShape::random, 1);
  for (float& entry : rows[1]) entry *= 1.01f;
  const DeviceDistributions<float> much{DistributionBatch<float>({rows})};
  expect_refused("a sum of 1.01", [&] { gpu::ratio_table(gpu::stored(much.batch())); });
  // The tolerance of bf16 allows the sum 1.00204, but its excess over 1 is more than the mass of the heaviest token.
  DistributionRows flat(3980, 1, DistributionShape::steps, 1);
  for (float& entry : flat[0]) entry = 0x1.08p-12f;  // exact in bf16
  flat[0][7] = 0x1.0ap-12f;                          // the next larger number of bf16
  const DeviceDistributions<Bfloat16> coarse{DistributionBatch<Bfloat16>({flat})};
  expect_refused("more than the heaviest token", [&] { gpu::ratio_table(gpu::stored(coarse.batch())); });
  expect_refused("no such position", [&] { gpu::ratio_table(gpu::stored(much.batch()), 1); });
  expect_refused("no drafts", [&] { gpu::iid_optima(gpu::stored(much.batch()), 0); });
}

}  // namespace
}  // namespace draftproof::parity

int main() {
  return draftproof::parity::outcome_on_device(draftproof::gpu::device_count, [] {
    using namespace draftproof;
    using gpu::Contents;
    for (const int vocabulary : {1, 2, 33, 513, 5000, 128256})
      parity::compare_tables<float>(vocabulary, 1, Contents::probabilities);
    parity::compare_tables<float>(3000, 3, Contents::probabilities);
    parity::compare_tables<float>(3000, 2, Contents::logits);
    parity::compare_tables<Bfloat16>(3000, 1, Contents::logits);
    parity::compare_tables<Bfloat16>(3000, 2, Contents::probabilities);
    parity::compare_tables<Half>(3000, 2, Contents::probabilities);
    parity::compare_trials();
    for (const int vocabulary : {1, 2, 512, 1030, 5000, 65536}) {
      parity::compare_optima(vocabulary, 300, false);
      parity::compare_optima(vocabulary, 30, true);
    }
    parity::compare_optima(128256, 1, false);
    parity::compare_optima(128256, 40, false);  // the workspace holds only some of the 40 rows at a time
    parity::refused();
    return parity::all.report("tables and optima of a device");
  });
}
