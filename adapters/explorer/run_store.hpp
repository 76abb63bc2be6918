// Runs of a program, stored once each. A run is a chain of draws that ends in an outcome; equal ends of chains are
// one object, so two runs behave alike from a place on if and only if their chains there have the same id.
//
// Cost: two look-ups in a hash table for each draw of an added run.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <draftproof/adapters/program.hpp>

namespace draftproof::adapters {

/// The end of a run: tokens or a status, and the state for the next call.
struct Outcome {
  RowStatus status = RowStatus::ok;
  std::vector<Token> tokens{};
  std::vector<double> state{};  ///< state that a program with state passes to its next call
  std::string message{};  ///< message of the first run with this outcome; equal outcomes may have different messages

  bool operator==(const Outcome& other) const {
    return status == other.status && tokens == other.tokens && state == other.state;
  }
};

/// An open hash table over items that the caller stores in order of their ids.
class HashIndex {
 public:
  /// Returns the id of the item with this hash for which `equal(id)` is true. If there is no such item, calls `make()`,
  /// which stores the new item, and returns its id, the next free number.
  template <class Equal, class Make>
  std::uint32_t find_or_add(std::uint64_t hash, Equal equal, Make make) {
    if ((hashes_.size() + 1) * 2 > slots_.size()) grow();
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == empty) {
        make();
        hashes_.push_back(hash);
        return slots_[at] = static_cast<std::uint32_t>(hashes_.size() - 1);
      }
      if (hashes_[slots_[at]] == hash && equal(slots_[at])) return slots_[at];
    }
  }

 private:
  static constexpr std::uint32_t empty = ~std::uint32_t{0};
  void grow();

  std::vector<std::uint32_t> slots_;
  std::vector<std::uint64_t> hashes_;
};

class RunStore {
 public:
  using Chain = std::uint32_t;

  /// Stores a run on a tape of `tape` places and returns its chain.
  /// Throws: AdapterError if the log has more draws than the tape has places, or a draw that program.hpp does not
  /// allow.
  Chain add(const Run& run, std::size_t tape);

  bool ended(Chain chain) const { return links_[chain].draw == no_draw; }
  /// The outcome of a chain that has ended.
  std::uint32_t outcome(Chain chain) const { return links_[chain].next; }
  /// The draw at the start of a chain that has not ended, and the chain after it.
  std::uint32_t draw(Chain chain) const { return links_[chain].draw; }
  Chain next(Chain chain) const { return links_[chain].next; }
  /// The chain `places` later, or its end if that is earlier.
  Chain after(Chain chain, int places) const {
    while (places-- > 0 && !ended(chain)) chain = next(chain);
    return chain;
  }
  /// The outcome at the end of a chain.
  std::uint32_t end(Chain chain) const {
    while (!ended(chain)) chain = next(chain);
    return outcome(chain);
  }
  int length(Chain chain) const {
    int places = 0;
    for (; !ended(chain); chain = next(chain)) ++places;
    return places;
  }
  /// Whether an outcome's log may be lost, because the process ended or the program threw before it wrote one.
  bool log_may_be_lost(std::uint32_t outcome) const {
    return outcomes_[outcome].status == RowStatus::crashed || outcomes_[outcome].status == RowStatus::failed;
  }

  const Draw& draw_at(std::uint32_t draw) const { return draws_[draw]; }
  const Outcome& outcome_at(std::uint32_t outcome) const { return outcomes_[outcome]; }

 private:
  struct Link {
    std::uint32_t draw;  // id of the draw; no_draw at the end of a run
    std::uint32_t next;  // the chain after the draw; at the end of a run, the outcome
  };
  static constexpr std::uint32_t no_draw = ~std::uint32_t{0};

  Chain link(std::uint32_t draw, std::uint32_t next);

  std::vector<Link> links_;
  std::vector<Draw> draws_;
  std::vector<Outcome> outcomes_;
  HashIndex link_index_, draw_index_, outcome_index_;
};

}  // namespace draftproof::adapters
