// A point of the curve of residuals and how steeply it falls there: what Newton's method on b needs.
#pragma once

namespace draftproof {

/// F(b) = sum of (p - b q)+, and -F'(b) = q({p > b q}), the slope to the right of b.
template <class Scalar>
struct MassAndSlope {
  Scalar mass, slope;
};

}  // namespace draftproof
