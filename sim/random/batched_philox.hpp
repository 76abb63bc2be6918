// The random bits of up to 32 trials for one role (drafting or verifying), made in wide registers: the random source of
// simulations in batches.
//
//   word n     of trial t and purpose u: the 64 random bits of draw n of u in Philox(seed, t, role)
//   slot s     words 2 s and 2 s + 1 of a purpose: one Philox block of each trial
//
// The first read of a slot makes its blocks for all trials of the batch.
// Cost: one array look-up for each word. A batch is so small that all blocks of a slot cost about as much as one block,
// so little is lost if only one trial reads a slot. Correctness: a word is a function of its address, so it does not
// depend on the time at which it is made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/random/philox_simd_batch.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

class PhiloxBatch {
 public:
  static constexpr int most = 32;
  static constexpr std::uint32_t slots = (max_drafts + 1) / 2;  ///< blocks of later slots are made when they are read

  /// Makes the random bits of trials first .. first + count - 1, modulo 2^64; count <= most.
  PhiloxBatch(std::uint64_t seed, std::uint64_t first, int count, Philox::Role role)
      : seed_{seed}, count_{count}, role_{role}, width_{simd::in_use()} {
    for (int t = 0; t < filled(); ++t) trials_[t] = first + static_cast<std::uint64_t>(t);
  }
  /// Makes the random bits of the `count` trials at `trials`, 1 <= count <= most.
  PhiloxBatch(std::uint64_t seed, const std::uint64_t* trials, int count, Philox::Role role)
      : seed_{seed}, count_{count}, role_{role}, width_{simd::in_use()} {
    std::copy_n(trials, count, trials_);
    std::fill(trials_ + count, trials_ + filled(), trials[0]);
  }

  int count() const { return count_; }

  /// Returns word n of a purpose for each of the count() trials. Requires: n < 2 * slots.
  std::span<const std::uint64_t> words(Purpose purpose, std::uint32_t n) {
    return {block(purpose, n >> 1)[n & 1], static_cast<std::size_t>(count_)};
  }

  /// One trial of a batch, as a random source. It refers to the batch, which must outlive it.
  class Source : public UniformSource<Source> {
   public:
    Source(PhiloxBatch& batch, int trial) : batch_{batch}, trial_{trial} {}

    [[gnu::always_inline]] std::uint64_t next(Purpose purpose) {
      const std::uint32_t n = index_[static_cast<std::uint32_t>(purpose) % purposes]++;
      if (static_cast<std::uint32_t>(purpose) < purposes && n < 2 * slots) [[likely]]
        return batch_.block(purpose, n >> 1)[n & 1][trial_];
      const PhiloxPair pair = philox_pair(batch_.seed_, trial(), n >> 1, batch_.address(purpose));
      return (n & 1) != 0 ? pair.second : pair.first;
    }

    /// Skips `count` words of a purpose.
    void skip(Purpose purpose, std::uint32_t count) {
      index_[static_cast<std::uint32_t>(purpose) % purposes] += count;
    }

    NoiseBlock noise(std::uint32_t stream, std::uint32_t block) const {
      return Philox(batch_.seed_, trial(), batch_.role_).noise(stream, block);
    }

   private:
    std::uint64_t trial() const { return batch_.trials_[trial_]; }

    PhiloxBatch& batch_;
    int trial_;
    std::uint32_t index_[8] = {};
  };

 private:
  static constexpr std::uint32_t purposes = 8;  // the purposes of a role; noise is not stored here
  using Block = std::uint64_t[2][most];

  std::uint32_t address(Purpose purpose) const {
    return (static_cast<std::uint32_t>(role_) << 8) | static_cast<std::uint32_t>(purpose);
  }

  const Block& block(Purpose purpose, std::uint32_t slot) {
    const auto u = static_cast<std::uint32_t>(purpose);
    if ((filled_[u] >> slot & 1) == 0) [[unlikely]]
      fill(purpose, slot);
    return words_[u][slot];
  }
  [[gnu::noinline]] void fill(Purpose purpose, std::uint32_t slot) {
    const auto u = static_cast<std::uint32_t>(purpose);
    filled_[u] |= std::uint32_t{1} << slot;
    simd::philox_fill(width_, seed_, trials_, filled(), slot, address(purpose), words_[u][slot][0],
                      words_[u][slot][1]);
  }

  /// Returns the number of trials, rounded up to whole registers if that saves time; lanes past the count are never
  /// read.
  int filled() const { return count_ < 4 ? count_ : (count_ + 7) / 8 * 8; }

  std::uint64_t seed_;
  int count_;
  Philox::Role role_;
  simd::Width width_;
  std::uint64_t trials_[most];
  std::uint32_t filled_[purposes] = {};
  alignas(64) Block words_[purposes][slots];  // valid for the slots that `filled_` marks
};

}  // namespace draftproof
