// A random source that maps streams 0, 1, .. of a program to chosen streams of the shared noise. A verifier or
// drafter of one position keeps its stream numbers at every node of a tree, and reads fresh words at each node.
//
//   stream s of the program     stream streams[s] of the trial, of the same kind: companions and darts keep theirs
//
// The drafter of a tree chooses the streams and stores their numbers with the draws (TreeReading::Draws), from which
// the verifier reads them.
#pragma once

#include <cstdint>

#include <draftproof/sim/random_source.hpp>

namespace draftproof {

template <NoiseSource R>
class NodeNoise {
 public:
  /// Refers to `streams`: one entry for each stream number that the program reads.
  DRAFTPROOF_DEVICE NodeNoise(R& random, const std::uint32_t* streams) : random_{random}, streams_{streams} {}

  template <class Scalar>
  DRAFTPROOF_DEVICE bool flip(const Scalar& num, const Scalar& den) {
    return random_.flip(num, den);
  }
  template <class W>
  DRAFTPROOF_DEVICE Token pick(const W& weights) {
    return random_.pick(weights);
  }
  template <class W>
  DRAFTPROOF_DEVICE Verdict emit(const W& weights) {
    return random_.emit(weights);
  }
  DRAFTPROOF_DEVICE NoiseBlock noise(std::uint32_t stream, std::uint32_t block) const {
    return random_.noise(of_trial(stream), block);
  }
  void noise_quarters(std::uint32_t stream, std::uint32_t first, std::size_t count,
                      std::uint32_t* out) const requires BulkNoiseSource<R> {
    random_.noise_quarters(of_trial(stream), first, count, out);
  }

 private:
  DRAFTPROOF_DEVICE std::uint32_t of_trial(std::uint32_t stream) const {
    const std::uint32_t number = stream % stream_numbers;
    return stream - number + streams_[number];
  }

  R& random_;
  const std::uint32_t* streams_;
};

}  // namespace draftproof
