// One type of source for every way to deal words: the counters of a simulation seen again, a tape of edge values, all
// points of a grid, streams aliased on purpose. A verifier is compiled for it once, and every draw is logged.
//
//   Words      where the words come from, behind an interface
//   Scripted   the source a program runs on
#pragma once

#include <cstdint>
#include <utility>

#include <draftproof/sim/tape.hpp>

namespace draftproof {

class Words {
 public:
  virtual ~Words() = default;
  virtual std::uint64_t next(Purpose purpose) = 0;
  virtual NoiseBlock noise(std::uint32_t stream, std::uint32_t block) = 0;
};

/// The words of another source: of Philox, what a simulated trial drew; of Tape, a script.
template <class Source>
class WordsOf final : public Words {
 public:
  explicit WordsOf(Source source) : source_{std::move(source)} {}
  std::uint64_t next(Purpose purpose) override { return source_.next(purpose); }
  NoiseBlock noise(std::uint32_t stream, std::uint32_t block) override { return source_.noise(stream, block); }

 private:
  Source source_;
};

/// Refers to the words, which outlive it.
class WordsFrom {
 public:
  WordsFrom(Words& words) : words_{&words} {}  // NOLINT: a source is made of whatever deals its words
  std::uint64_t next(Purpose purpose) { return words_->next(purpose); }
  NoiseBlock noise(std::uint32_t stream, std::uint32_t block) { return words_->noise(stream, block); }

 private:
  Words* words_;
};

using Scripted = Recorder<WordsFrom>;

}  // namespace draftproof
