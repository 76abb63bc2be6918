// A parameter of a family as one record: from it come parsing, range checks, defaults and documentation.
// Values are doubles; counts are whole doubles.
#pragma once

#include <string_view>

namespace draftproof {

enum class ParameterKind { Real, Whole };

/// `low` and `high` are the inclusive range. `about` is one line, with the unit.
template <class T>
struct Parameter {
  std::string_view name;
  double T::*member;
  double low, high;
  std::string_view about;
  ParameterKind kind = ParameterKind::Real;
};

}  // namespace draftproof
