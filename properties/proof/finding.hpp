// What the framework says about a property: never a bare bool, always with its evidence and a way to see it again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <draftproof/properties/instances/instance.hpp>

namespace draftproof {

enum class Status { held, violated, undecided, skipped };

std::string_view to_text(Status status);

template <class I>
struct FindingOf {
  std::string_view property;
  Status status = Status::skipped;
  int held = 0;                 ///< instances on which it held
  int undecided = 0;            ///< instances given up
  std::string evidence{};       ///< of a violation; otherwise why nothing was decided
  std::optional<I> instance{};  ///< the shrunk counterexample
  std::string replay{};         ///< command line that shows it again
};

}  // namespace draftproof
