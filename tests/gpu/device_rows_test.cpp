// Compares rows of every format, logits and checks on a device with the host, in every mapping of the device, on the
// caller's stream and workspace. Without a device the exit code is 77, which CTest reads as skipped.
#include <cstdio>
#include <exception>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include <cuda_runtime_api.h>

#include <draftproof/gpu/float_rows.hpp>
#include <draftproof/gpu/launch.hpp>
#include <draftproof/sim/distributions/stored_row.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/gpu/logit_batches.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::parity {
namespace {

int decisions = 0, failures = 0;

void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// A stream and device memory that the caller owns.
class Own {
 public:
  explicit Own(std::size_t bytes) {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    if (bytes > 0) require(cudaMalloc(&memory_, bytes));
  }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;
  ~Own() {
    cudaFree(memory_);
    cudaStreamDestroy(stream_);
  }
  cudaStream_t stream() const { return stream_; }
  void* memory() const { return memory_; }

 private:
  cudaStream_t stream_ = nullptr;
  void* memory_ = nullptr;
};

void report(const char* what, int vocabulary, int position, gpu::Mapping mapping) {
  ++failures;
  std::printf("%s, V %d, position %d, by %s\n", what, vocabulary, position, gpu::name_of(mapping).data());
}

template <class V, class D, class Entry>
void compare_verdicts(int vocabulary, int positions) {
  LogitBatch<Entry, D> drafted(vocabulary, positions, 31 + static_cast<std::uint64_t>(vocabulary));
  std::vector<Verdict> wanted;
  for (int i = 0; i < positions; ++i) wanted.push_back(drafted.template host_verdict<V>(i));
  if (vocabulary > 7) drafted.logits(2, 1)[7] = static_cast<Entry>(std::numeric_limits<float>::infinity());
  const gpu::DeviceBatch<Entry> device(drafted.batch());
  const gpu::StoredBatch batch = gpu::stored(device.view(), gpu::Contents::logits, drafted.temperatures);
  for (const auto mapping :
       {gpu::Mapping::automatic, gpu::Mapping::block, gpu::Mapping::cluster, gpu::Mapping::split}) {
    gpu::VerifyOptions options{.mapping = mapping};
    try {
      options.workspace_bytes = gpu::workspace_bytes<V>(batch, options);
    } catch (const std::invalid_argument&) {
      continue;  // the device does not support this mapping
    }
    const Own own(options.workspace_bytes);
    options.workspace = own.memory();
    gpu::verify_batch(V{}, batch, own.stream(), options);
    require(cudaStreamSynchronize(own.stream()));
    const gpu::BatchVerdicts found = device.verdicts();
    for (int i = 0; i < positions; ++i) {
      const bool spoilt = vocabulary > 7 && i == 2;
      const Verdict got = found.verdicts[static_cast<std::size_t>(i)], want = wanted[static_cast<std::size_t>(i)];
      ++decisions;
      if (spoilt ? got.token != no_token : got.token != want.token || got.accepted != want.accepted)
        report("another verdict", vocabulary, i, mapping);
    }
    const bool named = found.refused.size() == 1 && found.refused[0].position == 2 &&
                       found.refused[0].fault.row == 1 && found.refused[0].fault.token == 7;
    if (vocabulary > 7 ? !named : !found.refused.empty()) report("another fault", vocabulary, 2, mapping);
  }
}

/// Compares checks of probabilities: the device must refuse exactly the rows that the host refuses.
template <class Entry>
void compare_checks() {
  constexpr int vocabulary = 5000, positions = 12;
  LogitBatch<Entry, drafters::Iid> drafted(vocabulary, positions, 41);
  std::vector<std::vector<float>> rows;
  for (int i = 0; i < positions; ++i) {
    const FreshRows<float> host = drafted.host_rows(i);
    rows.emplace_back();
    for (Token x = 0; x < vocabulary; ++x) rows.back().push_back(static_cast<float>(host.target(x)));
    rows.emplace_back();
    for (Token x = 0; x < vocabulary; ++x) rows.back().push_back(static_cast<float>(host.proposal(x)));
  }
  for (int i = 0; i < 2 * positions; ++i)
    for (Token x = 0; x < vocabulary; ++x)
      drafted.logits(i / 2, i % 2)[static_cast<std::size_t>(x)] =
          static_cast<Entry>(rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(x)]);
  drafted.logits(4, 1)[4999] = static_cast<Entry>(-0.5f);
  for (Entry& entry : drafted.logits(7, 0)) entry = static_cast<Entry>(0.75f * static_cast<float>(entry));
  const gpu::BatchVerdicts found =
      gpu::verify_copied(verifiers::RecursiveRejection{}, drafted.batch(), gpu::Contents::probabilities, {},
                         {.check_probabilities = true});
  std::size_t refused = 0;
  for (int i = 0; i < positions; ++i) {
    bool sound = true;
    try {
      for (const int row : {0, 1}) checked_sum(std::span<const Entry>(drafted.logits(i, row)));
    } catch (const std::invalid_argument&) {
      sound = false;
    }
    const bool named = refused < found.refused.size() && found.refused[refused].position == i;
    if (named) ++refused;
    if (named == sound) report("another opinion of rows", vocabulary, i, gpu::Mapping::automatic);
    if (named) std::printf("%s\n", gpu::describe(found.refused[refused - 1]).c_str());
  }
}

/// Compares rows converted without a batch with the host's softmax, bit for bit.
template <class Entry>
void compare_float_rows(int vocabulary, int count) {
  LogitBatch<Entry, drafters::Iid> drafted(vocabulary, count, 51);
  std::vector<Entry> entries;
  for (int i = 0; i < count; ++i) {
    const auto row = drafted.logits(i, 0);
    entries.insert(entries.end(), row.begin(), row.end());
  }
  const std::int64_t apart = gpu::float_row_stride(vocabulary);
  const Own rows(entries.size() * sizeof(Entry)), faults(static_cast<std::size_t>(count) * sizeof(std::uint64_t)),
      out(static_cast<std::size_t>(count * apart) * sizeof(float));
  require(cudaMemcpy(rows.memory(), entries.data(), entries.size() * sizeof(Entry), cudaMemcpyHostToDevice));
  gpu::float_rows({.format = gpu::format_of<Entry>,
                   .contents = gpu::Contents::logits,
                   .temperature = drafted.temperatures.target,
                   .rows = count,
                   .vocabulary = vocabulary,
                   .first = rows.memory(),
                   .stride = vocabulary,
                   .faults = static_cast<std::uint64_t*>(faults.memory())},
                  static_cast<float*>(out.memory()), out.stream());
  require(cudaStreamSynchronize(out.stream()));
  std::vector<float> found(static_cast<std::size_t>(count * apart));
  require(cudaMemcpy(found.data(), out.memory(), found.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i) {
    const FreshRows<float> wanted = drafted.host_rows(i);
    bool equal = true;
    for (Token x = 0; x < vocabulary; ++x)
      equal &= static_cast<double>(found[static_cast<std::size_t>(i * apart + x)]) == wanted.target(x);
    ++decisions;
    if (!equal) report("another row", vocabulary, i, gpu::Mapping::automatic);
  }
}

}  // namespace
}  // namespace draftproof::parity

int main() {
  return draftproof::parity::outcome_on_device(draftproof::gpu::device_count, [] {
    using namespace draftproof;
    using namespace verifiers;
    for (const int vocabulary : {1, 2, 33, 1023, 1025, 4096, 32000}) {
      parity::compare_verdicts<RecursiveRejection, drafters::Iid, float>(vocabulary, 28);
      parity::compare_verdicts<KSeq, drafters::Iid, Bfloat16>(vocabulary, 28);
      parity::compare_verdicts<RecursiveRejectionWor, drafters::WithoutReplacement, Half>(vocabulary, 28);
    }
    parity::compare_verdicts<RecursiveRejection, drafters::Iid, Bfloat16>(128256, 7);
    parity::compare_verdicts<RecursiveRejection, drafters::Iid, Half>(262144, 3);
    parity::compare_checks<float>();
    parity::compare_checks<Bfloat16>();
    parity::compare_checks<Half>();
    parity::compare_float_rows<Bfloat16>(5000, 12);
    parity::compare_float_rows<float>(128256, 3);
    std::printf("rows on a device: %d decisions, %d failures\n", parity::decisions, parity::failures);
    return parity::failures == 0 ? 0 : 1;
  });
}
