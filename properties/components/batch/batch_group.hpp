// Batch runners as subjects of checks.
#pragma once

#include <algorithm>
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

/// A runner between its first call and its last: what it keeps from call to call is kept here.
class BatchSession {
 public:
  virtual ~BatchSession() = default;
  virtual BatchOutput run(const RaggedBatch& batch, BatchStreams& streams) = 0;
};

/// A type-erased batch runner.
class BatchRunner {
 public:
  using Start = std::unique_ptr<BatchSession> (*)();
  using Declared = ChainDraws (*)(int drafts, int accepted);

  BatchRunner(const ComponentInfo& info, Start start_function, Declared declared_function)
      : info_{info}, start_{start_function}, declared_{declared_function} {}
  const ComponentInfo& info() const { return info_; }
  /// The runner as an engine starts it, for calls one after the other.
  std::unique_ptr<BatchSession> start() const { return start_(); }
  /// One call of a runner that was just started.
  BatchOutput run(const RaggedBatch& batch, BatchStreams& streams) const { return start_()->run(batch, streams); }
  /// The random numbers that a request declares to consume.
  ChainDraws declared_draws(int drafts, int accepted) const { return declared_(drafts, accepted); }

 private:
  const ComponentInfo& info_;
  Start start_;
  Declared declared_;
};

template <class Steps>
class ChainSession final : public BatchSession {
 public:
  BatchOutput run(const RaggedBatch& batch, BatchStreams& streams) override {
    return ChainRun<Steps, BatchStreams>(steps_, batch, streams).run();
  }

 private:
  Steps steps_{};
};

template <class Steps>
BatchRunner batch_runner() {
  return {Steps::info, []() -> std::unique_ptr<BatchSession> { return std::make_unique<ChainSession<Steps>>(); },
          &Steps::declared_draws};
}

struct BatchGroup {
  static constexpr std::string_view name = "batch";
  using Subject = BatchRunner;
  using Case = BatchCase;

  /// 60 cases a round. A bug that one case in three shows escapes all of them with probability 3e-11, one that a case in
  /// ten shows with 2e-3.
  static std::vector<BatchCase> cases(std::uint64_t seed, int rounds) {
    std::vector<BatchCase> cases;
    for (int n = 0; n < 60 * rounds; ++n) cases.push_back(generate_batch_case(seed, n));
    return cases;
  }

  /// Cases of every check for a runner that declares a chunk: numbers of slots beside it and beside twice as many, and
  /// numbers of tokens beside it.
  static std::vector<BatchCase> cases_of(const ComponentInfo& info, std::uint64_t seed) {
    std::vector<BatchCase> cases;
    if (info.chunk < 2) return cases;
    for (const int slots : {info.chunk - 1, info.chunk, info.chunk + 1, 2 * info.chunk + 1})
      for (std::uint64_t n = 0; n < 4; ++n) cases.push_back(batch_case_of_size(seed + n, slots, 2));
    for (int tokens = std::max(info.chunk - 1, 2); tokens <= info.chunk + 1; ++tokens)
      cases.push_back(batch_case_of_size(seed, 2, tokens));
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
