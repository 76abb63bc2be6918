// A ledger of random words and the names under which they were read. One word under two names shows reuse, sharing
// between rows or trials, or a role that reads another role's counters.
//
//   stream   "draft pick", "verify flip", "row 1 verify emit", ..       owner and purpose of a word
//   address  stream, trial, index                                       entered once a word
//
// Correctness: words are 64 random bits. Of n words two are equal by chance with probability below n^2 2^-65, 3e-14
// for a thousand. Words of an edge script repeat on purpose and must not be entered.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <draftproof/properties/scripted/addressed_words.hpp>

namespace draftproof {

constexpr std::string_view to_text(Purpose purpose) {
  constexpr std::string_view names[] = {"", "draft", "flip", "pick", "emit", "bonus", "count", "model", "noise"};
  return names[static_cast<std::uint32_t>(purpose)];
}

class DrawLedger {
 public:
  /// Enters one word under the name "`owner` PURPOSE, trial T, word N".
  void enter(std::string_view owner, std::uint64_t trial, Purpose purpose, std::uint32_t index, std::uint64_t word) {
    std::string name(owner);
    name.append(" ").append(to_text(purpose));
    name += ", trial " + std::to_string(trial) + ", word " + std::to_string(index);
    const auto [entry, fresh] = names_.try_emplace(word, name);
    if (!fresh && entry->second != name && !conflict_) conflict_ = entry->second + " is " + name;
  }
  /// Enters all words read from `words` in one run.
  void enter(std::string_view owner, std::uint64_t trial, const AddressedWords& words) {
    for (const AddressedWord& one : words.addressed()) enter(owner, trial, one.purpose, one.index, one.word);
  }

  /// The first two names with the same word; nothing if there are none.
  const std::optional<std::string>& conflict() const { return conflict_; }
  /// Number of distinct words.
  std::size_t words() const { return names_.size(); }

 private:
  std::map<std::uint64_t, std::string> names_;
  std::optional<std::string> conflict_;
};

}  // namespace draftproof
