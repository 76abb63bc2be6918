// f(s), the probability that at least one draft falls in the first s of q: the upper bound of G in a ladder, for a
// fixed number of drafts and for a random one.
//
//   A, B, C          q-mass below a break, 1 - s: the arguments of `none`, `chord` and `bend`
//   none(A)          1 - f: A^K, or its mean over the number of drafts
//   chord(A, B)      slope of f between two breaks
//   bend(A, B, C)    (slope of f over A..B minus slope over B..C) / (A - C)
//
// Cost: O(K) each.
// Correctness: (A^K - B^K) / (A - B) is the sum of A^i B^j over i + j = K - 1, and the second difference quotient is
// the sum of A^i B^j C^k over i + j + k = K - 2. These sums of products do not cancel on bins of any width. The loops
// compute the sums of all smaller K on the way.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// A fixed number of drafts.
template <class Scalar>
class FixedCoverage {
 public:
  DRAFTPROOF_DEVICE explicit FixedCoverage(int drafts) : drafts_{drafts} {}

  DRAFTPROOF_DEVICE Scalar none(const Scalar& a) const {
    Scalar power{1};
    for (int k = 0; k < drafts_; ++k) power *= a;
    return power;
  }
  DRAFTPROOF_DEVICE Scalar chord(const Scalar& a, const Scalar& b) const {
    Scalar sum{1}, power{1};
    for (int degree = 1; degree < drafts_; ++degree) {
      power *= b;
      sum = a * sum + power;
    }
    return sum;
  }
  DRAFTPROOF_DEVICE Scalar bend(const Scalar& a, const Scalar& b, const Scalar& c) const {
    if (drafts_ < 2) return Scalar{0};
    Scalar three{1}, two{1}, power{1};
    for (int degree = 1; degree < drafts_ - 1; ++degree) {
      power *= c;
      two = b * two + power;
      three = a * three + two;
    }
    return three;
  }

 private:
  int drafts_;
};

/// m drafts with probability `law`[m - 1], m = 1 .. K; the law sums to 1 and must outlive this. Loops are not
/// unrolled on a device, to save registers in the sweep.
template <class Scalar, class List = std::vector<Scalar>>
class MixedCoverage {
 public:
  static constexpr bool many_terms = true;  ///< level_sweep.hpp

  DRAFTPROOF_DEVICE explicit MixedCoverage(const List& law) : law_{law} {}

  DRAFTPROOF_DEVICE Scalar none(const Scalar& a) const {
    Scalar mean{0};
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (std::size_t m = law_.size(); m-- > 0;) mean = a * (law_[m] + mean);
    return mean;
  }
  DRAFTPROOF_DEVICE Scalar chord(const Scalar& a, const Scalar& b) const {
    Scalar sum{1}, power{1}, mean = law_[0];
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (std::size_t degree = 1; degree < law_.size(); ++degree) {
      power *= b;
      sum = a * sum + power;
      mean += law_[degree] * sum;
    }
    return mean;
  }
  DRAFTPROOF_DEVICE Scalar bend(const Scalar& a, const Scalar& b, const Scalar& c) const {
    if (law_.size() < 2) return Scalar{0};
    Scalar three{1}, two{1}, power{1}, mean = law_[1];
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (std::size_t degree = 1; degree + 1 < law_.size(); ++degree) {
      power *= c;
      two = b * two + power;
      three = a * three + two;
      mean += law_[degree + 1] * three;
    }
    return mean;
  }

 private:
  const List& law_;
};

}  // namespace draftproof
