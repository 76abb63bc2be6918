// Batch runners as subjects of checks.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <draftproof/properties/components/batch/batch_case.hpp>
#include <draftproof/properties/components/batch/batch_streams.hpp>
#include <draftproof/properties/components/component_check.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof {

/// A type-erased batch runner.
class BatchRunner {
 public:
  using Run = BatchOutput (*)(const RaggedBatch&, BatchStreams&);

  BatchRunner(const ComponentInfo& info, Run function) : info_{info}, run_{function} {}
  const ComponentInfo& info() const { return info_; }
  BatchOutput run(const RaggedBatch& batch, BatchStreams& streams) const { return run_(batch, streams); }

 private:
  const ComponentInfo& info_;
  Run run_;
};

template <class Steps>
BatchRunner batch_runner() {
  return {Steps::info, [](const RaggedBatch& batch, BatchStreams& streams) {
            const Steps steps{};
            return ChainRun<Steps, BatchStreams>(steps, batch, streams).run();
          }};
}

struct BatchGroup {
  static constexpr std::string_view name = "batch";
  using Subject = BatchRunner;
  using Case = BatchCase;

  /// 60 cases a round. A bug that one case in three shows escapes all of them with probability 3e-11.
  static std::vector<BatchCase> cases(std::uint64_t seed, int rounds) {
    std::vector<BatchCase> cases;
    for (int n = 0; n < 60 * rounds; ++n) cases.push_back(generate_batch_case(seed, n));
    return cases;
  }
};

// Registration of batch runners and their checks.

template <class C>
void register_batch_component() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<BatchGroup>>(batch_runner<C>(), Kind::verifier));
}
template <class C>
void register_batch_mutant() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<BatchGroup>>(batch_runner<C>(), Kind::mutant));
}
template <class C>
void register_batch_check() {
  add_check<C, BatchGroup>();
}

}  // namespace draftproof
