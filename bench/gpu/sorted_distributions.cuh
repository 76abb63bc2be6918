// Times of sorting tokens by p / q and of the computations on that order: one stable sort of the ratios of many
// positions together, their i.i.d. optima, and a whole ratio table.
//
//   sort       keys from the rows, and the CUDA toolkit's radix sort of (key, token); the keys are made again in each
//              repetition, because sorting keys that are sorted already takes a different time
//   optimum    gpu::iid_optima of four drafts, with the checks of the rows
//   table      gpu::ratio_table, by the host's clock, because the function waits for the device and allocates memory
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include <draftproof/bench/gpu/refused_batch.cuh>
#include <draftproof/gpu/optimum.hpp>
#include <draftproof/gpu/ratio_table.hpp>
#include <draftproof/gpu/tables/batch_optimum.cuh>
#include <draftproof/gpu/tables/stored_distributions.cuh>

namespace draftproof::gpu_bench {

class SortedDistributions {
 public:
  static constexpr int drafts = 4;

  SortedDistributions(int positions, int vocabulary, std::size_t cache_bytes)
      : batches_(positions, vocabulary, 1, cache_bytes),
        batch_{gpu::stored(batches_.batch(0))},
        scratch_{gpu::scratch_of_steps(static_cast<std::uint32_t>(positions * vocabulary))},
        memory_{nullptr, bytes()},
        workspace_{nullptr, gpu::optimum_workspace_bytes(batch_)},
        optima_{nullptr, static_cast<std::size_t>(positions)} {
    gpu::Places places(memory_.data());
    const gpu::DistributionSpace distributions(places, batch_);
    fixed_ = gpu::queue_distributions(gpu::DeviceMachine({}), batch_, distributions);
    gpu::device_call("cudaDeviceSynchronize", cudaDeviceSynchronize());
  }

  void queue_sort(gpu::Stream stream) const {
    gpu::Places places(memory_.data());
    const gpu::DistributionSpace distributions(places, batch_);
    gpu::SortSpace space(places, size(), scratch_);
    const gpu::Turn turn{fixed_, 0, static_cast<std::uint32_t>(batch_.positions)};
    const gpu::DeviceMachine machine(stream);
    machine.each(gpu::KeyTokens{turn, space.keys, space.numbers});
    machine.sort(space, size(), gpu::key_bits);
  }
  void queue_optimum(gpu::Stream stream) const {
    gpu::iid_optima(batch_, std::span(&drafts, 1), optima_.data(), stream,
                    {workspace_.data(), gpu::optimum_workspace_bytes(batch_)});
  }
  /// Throws: std::runtime_error unless all optima are numbers between 0 and 1.
  void check() const {
    for (const Optimum& found : optima_.copy())
      if (!(found.acceptance > 0 && found.acceptance < 1)) throw std::runtime_error("optimum: no acceptance");
  }
  /// Returns the median microseconds of building the table of the first position.
  double table_microseconds(int repetitions = 15) const {
    std::vector<double> times;
    for (int i = 0; i < repetitions; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const gpu::DeviceTable table = gpu::ratio_table(batch_);
      times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
    return times[static_cast<std::size_t>(repetitions / 2)];
  }

 private:
  std::size_t size() const {
    return static_cast<std::size_t>(batch_.positions) * static_cast<std::size_t>(batch_.vocabulary);
  }
  std::size_t bytes() const {
    gpu::Places places(nullptr);
    gpu::DistributionSpace(places, batch_);
    gpu::SortSpace(places, size(), scratch_);
    return places.bytes();
  }

  RefusedBatches batches_;
  gpu::StoredBatch batch_;
  std::size_t scratch_;
  gpu::DeviceBuffer<char> memory_, workspace_;
  gpu::DeviceBuffer<Optimum> optima_;
  gpu::FixedRows fixed_;
};

}  // namespace draftproof::gpu_bench
