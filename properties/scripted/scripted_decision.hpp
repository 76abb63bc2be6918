// Runs decisions of verifiers on scripted random bits, and returns a record of the bits used, the rows of an instance
// in double, its possible drafts, and the defects of a verdict. Edge checks of one position use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/random/tape.hpp>

namespace draftproof {

// Addressed random bits: the n-th 64 bits of a purpose, independent of the bits read for other purposes. Edge
// checks set them by a rule and inspect afterwards which bits were read.
//
//   rule         bits of (purpose, n)    equal for equal addresses: runs that diverge read the same later bits
//   addressed    addresses and bits in the order of reading, without shared noise

struct AddressedWord {
  Purpose purpose;
  std::uint32_t index;  ///< number of earlier reads for this purpose
  std::uint64_t word;
};

/// Base class of addressed random bits.
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

  /// Returns all bits read so far, in order.
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

/// The random bits of a simulated trial, some of which may be replaced.
class TrialWords final : public AddressedWords {
 public:
  TrialWords(std::uint64_t seed, std::uint64_t trial, Philox::Role role)
      : seed_{seed}, trial_{trial}, role_{role}, noise_{seed, trial, role} {}

  /// Sets the n-th bits of `purpose` to `word`.
  void replace(Purpose purpose, std::uint32_t n, std::uint64_t word) { replaced_.push_back({purpose, n, word}); }
  /// From read number `kept` on, returns the bits of trial `other`.
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

/// Random bits with one value for all flips and picks, and another value for all other draws, such as the last draw of
/// a step. Single flips may be given other values.
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

/// Random bits that repeat recorded bits in their order, followed by the bits of another trial.
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
/// The difference of two 64-bit values whose uniform numbers differ by 2^-53.
inline constexpr std::uint64_t step = std::uint64_t{1} << 11;
inline constexpr std::uint64_t zero = 0, smallest = step, largest = ~std::uint64_t{0};
}  // namespace edge

// A record of random bits and the names under which they were read. The same bits under two names reveal a bug: bits
// that are used twice, rows or trials that share bits, or a drafter and a verifier that read the same bits.
//
//   stream   "draft pick", "verify flip", "row 1 verify emit", ..       owner and purpose
//   address  stream, trial, index                                       entered once per read
//
// Correctness: of n reads of 64 random bits two are equal by chance with probability below n^2 2^-65, 3e-14 for
// a thousand. Bits of an edge script repeat on purpose and must not be entered.

constexpr std::string_view to_text(Purpose purpose) {
  constexpr std::string_view names[] = {"", "draft", "flip", "pick", "emit", "bonus", "count", "model", "noise"};
  return names[static_cast<std::uint32_t>(purpose)];
}

class DrawCount {
 public:
  /// Enters 64 bits under the name "`owner` PURPOSE, trial T, draw N".
  void enter(std::string_view owner, std::uint64_t trial, Purpose purpose, std::uint32_t index, std::uint64_t word) {
    std::string name(owner);
    name.append(" ").append(to_text(purpose));
    name += ", trial " + std::to_string(trial) + ", draw " + std::to_string(index);
    const auto [entry, fresh] = names_.try_emplace(word, name);
    if (!fresh && entry->second != name && !conflict_) conflict_ = entry->second + " has the bits of " + name;
  }
  /// Enters all bits read from `words` in one run.
  void enter(std::string_view owner, std::uint64_t trial, const AddressedWords& words) {
    for (const AddressedWord& one : words.addressed()) enter(owner, trial, one.purpose, one.index, one.word);
  }

  /// Returns the first two names with the same bits; nullopt if there are none.
  const std::optional<std::string>& conflict() const { return conflict_; }
  /// Returns the number of distinct entries.
  std::size_t words() const { return names_.size(); }

 private:
  std::map<std::uint64_t, std::string> names_;
  std::optional<std::string> conflict_;
};

/// Returns the weights divided by their sum, each rounded once.
std::vector<double> double_row(const std::vector<int>& weights);
/// Returns the instance's rows in double.
Rows<double> double_distributions(const Instance& instance);
/// Returns the prepared table of the rows.
RatioTable table_of(const Rows<double>& rows);

using Tuple = std::vector<Token>;

/// Returns draft tuples of positive probability, in the explorer's order; if there are more than `most`, returns
/// `most` of them, evenly spaced.
std::vector<Tuple> possible_tuples(const AnyDrafter& drafter, const Rows<double>& rows, int drafts, std::size_t most);

/// The result of one decision with all its draws.
struct ScriptedDecision {
  Verdict verdict;
  std::vector<Draw> draws;
};

/// Runs one decision on the random bits `words`.
template <class L>
ScriptedDecision run_scripted(const Decider<L, Scripted>& decider, std::span<const Token> tuple, Words& words) {
  Scripted random{WordsFrom(words)};
  ScriptedDecision played{decider.decide(tuple, random), {}};
  played.draws = random.draws();
  return played;
}

/// Returns the defect of a verdict with an invalid token, a token with p = 0, or an accepted draft that is
/// another token; nullopt if it has none.
template <class L>
std::optional<std::string> fault_of(const Verdict& verdict, std::span<const Token> tuple, const L& distributions) {
  const auto number = [](auto n) { return std::to_string(n); };
  if (verdict.token == no_token) return "draws from weights that are all zero";
  if (verdict.token < 0 || verdict.token >= distributions.vocabulary())
    return "emits " + number(verdict.token) + ", which is not in the vocabulary";
  if (!(distributions.target(verdict.token) > 0)) return "emits " + number(verdict.token) + ", which has p = 0";
  const auto k = verdict.accepted;
  if (k == none_accepted) return std::nullopt;
  if (k < 0 || k >= std::ssize(tuple)) return "accepts draft " + number(k) + " of " + number(tuple.size());
  if (tuple[static_cast<std::size_t>(k)] != verdict.token)
    return "accepts draft " + number(k) + ", which is " + number(tuple[static_cast<std::size_t>(k)]) +
           ", and emits " + number(verdict.token);
  return std::nullopt;
}

/// Returns the drafts as "(0 2)".
std::string tuple_text(std::span<const Token> tuple);
/// Returns the verdict as "2 (draft 1)" or "2".
std::string verdict_text(const Verdict& verdict);

/// Whether token and accepted index are equal.
inline bool same(const Verdict& a, const Verdict& b) { return a.token == b.token && a.accepted == b.accepted; }
/// Whether the first `first` draws are equal, outcomes included.
bool same_draws(const std::vector<Draw>& a, const std::vector<Draw>& b, std::size_t first);

/// Returns how a second run of `trial`, a ScriptedTrial or an Iteration, differs from the first: the text "A by N",
/// `between`, "B by M", for outputs A and B and numbers of draws N and M. nullopt if output and draws are equal.
template <class Trial, class Played>
std::optional<std::string> difference(const Trial& trial, const Played& again, std::string_view between) {
  const Played& first = trial.played;
  if (same(first, again) && first.draws.size() == again.draws.size() &&
      same_draws(first.draws, again.draws, first.draws.size()))
    return std::nullopt;
  return text_of(first, trial) + " by " + std::to_string(first.draws.size()) + std::string(between) +
         text_of(again, trial) + " by " + std::to_string(again.draws.size());
}

}  // namespace draftproof
