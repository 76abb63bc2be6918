// Words by address: the n-th word of a purpose, independent of the words read for other purposes. Edge checks set
// them by a rule and read afterwards which words were used.
//
//   rule         word of (purpose, n)    equal for equal addresses: runs that diverge read the same later words
//   addressed    addresses and words in the order of reading, without shared noise
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/random/tape.hpp>

namespace draftproof {

struct AddressedWord {
  Purpose purpose;
  std::uint32_t index;  ///< number of words of this purpose read before
  std::uint64_t word;
};

/// Base class of words with addresses.
class AddressedWords : public Words {
 public:
  std::uint64_t next(Purpose purpose) final {
    std::uint32_t& index = read_[static_cast<std::uint32_t>(purpose) & 15];
    const std::uint64_t word = word_of(purpose, index);
    dealt_.push_back({purpose, index++, word});
    return word;
  }
  NoiseBlock noise(std::uint32_t stream, std::uint32_t block) final {
    ++noise_blocks_;
    return noise_of(stream, block);
  }

  /// All words read so far, in order.
  const std::vector<AddressedWord>& addressed() const { return dealt_; }
  std::size_t noise_blocks() const { return noise_blocks_; }

 protected:
  virtual std::uint64_t word_of(Purpose purpose, std::uint32_t index) = 0;
  virtual NoiseBlock noise_of(std::uint32_t, std::uint32_t) { return {}; }

 private:
  std::uint32_t read_[16] = {};
  std::vector<AddressedWord> dealt_;
  std::size_t noise_blocks_ = 0;
};

/// The words of a simulated trial, of which some may be replaced.
class TrialWords final : public AddressedWords {
 public:
  TrialWords(std::uint64_t seed, std::uint64_t trial, Philox::Role role)
      : seed_{seed}, trial_{trial}, role_{role}, noise_{seed, trial, role} {}

  /// Sets the n-th word of `purpose` to `word`.
  void replace(Purpose purpose, std::uint32_t n, std::uint64_t word) { replaced_.push_back({purpose, n, word}); }
  /// From the `kept`-th word on, reads the words of trial `other`.
  void change_after(std::size_t kept, std::uint64_t other) {
    kept_ = kept;
    other_ = other;
  }

 protected:
  std::uint64_t word_of(Purpose purpose, std::uint32_t index) override {
    for (const AddressedWord& one : replaced_)
      if (one.purpose == purpose && one.index == index) return one.word;
    const std::uint64_t trial = addressed().size() < kept_ ? trial_ : other_;
    const std::uint32_t address = (static_cast<std::uint32_t>(role_) << 8) | static_cast<std::uint32_t>(purpose);
    const PhiloxPair pair = philox_pair(seed_, trial, index >> 1, address);
    return index & 1 ? pair.second : pair.first;
  }
  NoiseBlock noise_of(std::uint32_t stream, std::uint32_t block) override { return noise_.noise(stream, block); }

 private:
  std::uint64_t seed_, trial_, other_ = 0;
  Philox::Role role_;
  Philox noise_;
  std::size_t kept_ = ~std::size_t{0};
  std::vector<AddressedWord> replaced_;
};

/// One word for flips and picks, and one for draws that end a step; single flips may have words of their own.
class BoundaryWords final : public AddressedWords {
 public:
  BoundaryWords(std::uint64_t inner, std::uint64_t last) : inner_{inner}, last_{last} {}
  void set_flip(std::uint32_t n, std::uint64_t word) { flips_.push_back({Purpose::flip, n, word}); }

 protected:
  std::uint64_t word_of(Purpose purpose, std::uint32_t index) override {
    if (purpose == Purpose::flip)
      for (const AddressedWord& one : flips_)
        if (one.index == index) return one.word;
    return purpose == Purpose::flip || purpose == Purpose::pick ? inner_ : last_;
  }

 private:
  std::uint64_t inner_, last_;
  std::vector<AddressedWord> flips_;
};

/// The recorded words in their order; after them, words of another trial.
class RecordedWords final : public AddressedWords {
 public:
  explicit RecordedWords(const AddressedWords& before) {
    for (const AddressedWord& one : before.addressed()) words_.push_back(one.word);
  }

 protected:
  std::uint64_t word_of(Purpose, std::uint32_t) override {
    const std::size_t n = addressed().size();
    return n < words_.size() ? words_[n] : philox_pair(n, 0, 0, 0).first;
  }

 private:
  std::vector<std::uint64_t> words_;
};

namespace edge {
inline constexpr std::uint64_t step = std::uint64_t{1} << 11;  ///< change of a word that moves its uniform by 2^-53
inline constexpr std::uint64_t zero = 0, smallest = step, largest = ~std::uint64_t{0};
}  // namespace edge

}  // namespace draftproof
