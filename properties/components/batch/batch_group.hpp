// Batch runners under test, and the random source that they draw from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/components/batch/batch_case.hpp>
#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/ragged_batch.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof {

// The random source of a batch: counter-based bits at each address, with a log of draws. For one chosen request, an
// explorer enumerates the decisions instead.
//
//   address    (key, stream, position), see sim/components/ragged_batch.hpp
//   `draws`    one entry for every draw, with its index among the draws of the same purpose and address

struct BatchDraw {
  StreamAddress address;
  Purpose purpose;
  std::uint32_t index;
  auto operator<=>(const BatchDraw&) const = default;
};

class BatchStreams {
 public:
  class Source {
   public:
    Source(BatchStreams& streams, const StreamAddress& address, Explorer<Rational>* explorer)
        : streams_{streams},
          address_{address},
          explorer_{explorer},
          words_(address.key, (std::uint64_t{address.stream} << 32) | address.position, Philox::Role::verify) {}

    bool flip(double num, double den) {
      log(Purpose::flip);
      return explorer_ ? explorer_->flip(num, den) : words_.flip(num, den);
    }
    template <class W>
    Token pick(const W& weights) {
      log(Purpose::pick);
      return explorer_ ? explorer_->pick(weights) : words_.pick(weights);
    }

   private:
    void log(Purpose purpose) {
      if (streams_.before_draw_) streams_.before_draw_(address_);
      streams_.draws_.push_back({address_, purpose, index_[static_cast<std::uint32_t>(purpose) & 7]++});
    }

    BatchStreams& streams_;
    StreamAddress address_;
    Explorer<Rational>* explorer_;
    Philox words_;
    std::uint32_t index_[8] = {};
  };

  BatchStreams() = default;
  /// The explorer enumerates draws at the key and stream of `explored`, at any position; other draws are random.
  BatchStreams(Explorer<Rational>& explorer, const StreamAddress& explored)
      : explorer_{&explorer}, explored_{explored} {}

  /// Returns the random source of this address.
  Source at(const StreamAddress& address) {
    const bool explored = explorer_ && address.key == explored_.key && address.stream == explored_.stream;
    return {*this, address, explored ? explorer_ : nullptr};
  }

  /// Sets a function to call before every later draw, so that a check can inspect memory at that moment.
  void before_draw(std::function<void(const StreamAddress&)> call) { before_draw_ = std::move(call); }

  /// Returns all draws so far.
  const std::vector<BatchDraw>& draws() const { return draws_; }

 private:
  Explorer<Rational>* explorer_ = nullptr;
  StreamAddress explored_{};
  std::function<void(const StreamAddress&)> before_draw_{};
  std::vector<BatchDraw> draws_;
};

/// A runner from its first call to its last, with any state that it keeps between calls.
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
  /// Starts the runner, for several calls one after the other.
  std::unique_ptr<BatchSession> start() const { return start_(); }
  /// Starts the runner for one call.
  BatchOutput run(const RaggedBatch& batch, BatchStreams& streams) const { return start_()->run(batch, streams); }
  /// Returns how many random numbers a request consumes, as the runner declares it.
  ChainDraws declared_draws(int drafts, int accepted) const { return declared_(drafts, accepted); }

 private:
  const ComponentInfo& info_;
  Start start_;
  Declared declared_;
};

/// Erases the type of a batch runner, which is a function of a batch or defines the steps of a chain.
template <class C>
concept BatchRunnable = Described<C> &&(BatchVerifier<C, BatchStreams> || BatchSteps<C, BatchStreams::Source>);

template <BatchRunnable C>
class RunnerSession final : public BatchSession {
 public:
  /// Throws: std::logic_error, which fails the check, if the output has another number of slots than the batch.
  BatchOutput run(const RaggedBatch& batch, BatchStreams& streams) override {
    if constexpr (BatchVerifier<C, BatchStreams>) {
      BatchOutput output = runner_.verify(batch, streams);
      const auto slots = static_cast<std::size_t>(batch.slots);
      if (output.refused.empty()) output.refused.resize(slots);
      for (const std::size_t size : {output.emitted.size(), output.accepted.size(), output.refused.size()})
        if (size != slots) throw std::logic_error(fmt::format("got an output of {} slots, expected {}", size, slots));
      return output;
    } else {
      return ChainRun<C, BatchStreams>(runner_, batch, streams).run();
    }
  }

 private:
  C runner_{};
};

template <BatchRunnable C>
BatchRunner batch_runner() {
  BatchRunner::Declared declared = &ChainSteps::declared_draws;
  if constexpr (requires {
                  { C::declared_draws(1, 1) } -> std::same_as<ChainDraws>;
                })
    declared = &C::declared_draws;
  return {C::info, []() -> std::unique_ptr<BatchSession> { return std::make_unique<RunnerSession<C>>(); }, declared};
}

struct BatchGroup {
  static constexpr std::string_view name = "batch";
  using Subject = BatchRunner;
  using Case = BatchCase;

  /// Returns 60 cases per round. All of them miss a bug that one case in three reveals with probability 3e-11,
  /// and a bug that one case in ten reveals with 2e-3.
  static std::vector<BatchCase> cases(std::uint64_t seed, int rounds) {
    std::vector<BatchCase> cases;
    for (int n = 0; n < 60 * rounds; ++n) cases.push_back(generate_batch_case(seed, n));
    return cases;
  }

  /// Returns additional cases of every check for a runner that declares a chunk size c: numbers of slots near c and
  /// 2 c, and numbers of tokens near c.
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

/// Registers C. Fails to compile with one message if C is not a batch runner; the compiler adds the missing part of the
/// concept.
template <class C, Kind kind>
void register_batch() {
  static_assert(
      BatchRunnable<C>,
      "a batch runner has `static constexpr ComponentInfo info` and either `template <class Random> BatchOutput "
      "verify(const RaggedBatch& batch, Random& random)` or the base ChainSteps: docs/components.md");
  if constexpr (BatchRunnable<C>) add_component<BatchGroup, batch_runner<C>, kind>();
}
template <class C>
inline constexpr auto register_batch_component = register_batch<C, Kind::verifier>;
template <class C>
inline constexpr auto register_batch_mutant = register_batch<C, Kind::mutant>;
template <class C>
inline constexpr auto register_batch_check = add_check<C, BatchGroup>;

}  // namespace draftproof
