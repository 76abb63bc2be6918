// Words of a scripted run from numbers of [0, 1) that a host chooses: the n-th word read has the n-th number as its
// uniform value.
//
//   purpose    bits         stream      what the verifier does with the word
//   flip       coin_bits    accept      compares u den with num
//   pick       53           pick        inverts the running sums of weights at u
//   emit       53           emit        the same, and ends
//   all        53           draft       where the words are those of a drafter
//
// Picks and emits are coins: a source of words does not see the weights, so none can be handed over.
#pragma once

#include <string_view>

#include <draftproof/doors/own/own_verifier.hpp>
#include <draftproof/sim/random/tape.hpp>

namespace draftproof::doors {

/// `Coins` is a function (int bits, const char* stream) that returns a multiple of 2^-bits in [0, 1).
template <class Coins>
class OwnWords final : public Words {
 public:
  OwnWords(Coins coins, int coin_bits, bool drafting)
      : coins_{std::move(coins)}, coin_bits_{coin_bits}, drafting_{drafting} {}

  std::uint64_t next(Purpose purpose) override {
    const bool flip = purpose == Purpose::flip;
    const char* const stream = drafting_ ? "draft" : flip ? "accept" : purpose == Purpose::pick ? "pick" : "emit";
    return Tape::word(coins_(flip ? coin_bits_ : 53, stream));
  }
  /// Throws: RowRefused. The words have addresses that a drafter reads too.
  NoiseBlock noise(std::uint32_t, std::uint32_t) override {
    throw RowRefused(RowStatus::unsupported, "shared noise is seeded only");
  }

 private:
  Coins coins_;
  int coin_bits_;
  bool drafting_;
};

}  // namespace draftproof::doors
