// The random words of a batch: counters at each address, with a log; for the decisions of one request instead every
// branch of an explorer.
//
//   address    (key, stream, position), see sim/components/ragged_batch.hpp
//   ledger     one entry for every draw, with its index among the draws of that purpose at that address
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/components/ragged_batch.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof {

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
      streams_.ledger_.push_back({address_, purpose, index_[static_cast<std::uint32_t>(purpose) & 7]++});
    }

    BatchStreams& streams_;
    StreamAddress address_;
    Explorer<Rational>* explorer_;
    Philox words_;
    std::uint32_t index_[8] = {};
  };

  BatchStreams() = default;
  /// Decisions at (key, stream) of `explored`, at any position, are walked by the explorer; the others are drawn.
  BatchStreams(Explorer<Rational>& explorer, const StreamAddress& explored)
      : explorer_{&explorer}, explored_{explored} {}

  /// The source of words at this address.
  Source at(const StreamAddress& address) {
    const bool walked = explorer_ && address.key == explored_.key && address.stream == explored_.stream;
    return {*this, address, walked ? explorer_ : nullptr};
  }

  /// From now on called before every draw: what a runner has written by then can be seen.
  void before_draw(std::function<void(const StreamAddress&)> call) { before_draw_ = std::move(call); }

  /// All draws so far.
  const std::vector<BatchDraw>& ledger() const { return ledger_; }

 private:
  Explorer<Rational>* explorer_ = nullptr;
  StreamAddress explored_{};
  std::function<void(const StreamAddress&)> before_draw_{};
  std::vector<BatchDraw> ledger_;
};

}  // namespace draftproof
