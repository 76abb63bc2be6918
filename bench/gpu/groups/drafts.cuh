// Times drawing tuples of four drafts, which reads the proposal row once per draft.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/bench/gpu/run.cuh>
#include <draftproof/gpu/draft_batch.hpp>
#include <draftproof/sim/drafters/sampled.hpp>

namespace draftproof::gpu_bench {

struct Drafts {
  static void run(Run& run) {
    for (const int count : run.quick ? std::vector<int>{32} : std::vector<int>{1, 32, 256}) {
      time(run, drafters::Iid{}, count);
      time(run, drafters::WithoutReplacement{}, count);
    }
  }

 private:
  /// The proposal rows of a batch.
  struct Proposals {
    const RefusedBatches& rows;
    int sets() const { return rows.sets(); }
    double bytes() const { return rows.bytes() / 2; }
  };

  template <class D>
  static void time(Run& run, const D& drafter, int count) {
    const int vocabulary = run.quick ? 32000 : 128256;
    const RefusedBatches rows(count, vocabulary, 4, run.cache_bytes());
    const std::vector<std::int32_t> four(static_cast<std::size_t>(count), 4);
    const gpu::DeviceBuffer<std::int32_t> wanted(four.data(), four.size()), counts(nullptr, four.size());
    const gpu::DeviceBuffer<Token> tuples(nullptr, 4 * four.size());
    const std::string name = "drafts_" + std::string(D::info.name) + where(vocabulary, count) + "/4";
    run.add_sets(name, Proposals{rows}, [&](int set, cudaStream_t stream) {
      const gpu::Batch<float> batch = rows.batch(set);
      gpu::DraftBatch<float> asked{.positions = count, .vocabulary = vocabulary};
      asked.proposal = batch.proposal;
      asked.proposal_stride = batch.proposal_stride;
      asked.wanted = wanted.data();
      asked.drafts = tuples.data();
      asked.draft_stride = 4;
      asked.counts = counts.data();
      gpu::draft_batch(drafter, asked, stream);
    });
    if (counts.copy() != four) throw std::runtime_error(name + ": drafts are missing");
  }
};

}  // namespace draftproof::gpu_bench
