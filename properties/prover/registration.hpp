// Registration of what a file defines: what its Info must have, checked by the compiler, and mistakes that show only
// when everything is registered, kept until a program can say them.
//
// Correctness: a program's own files are registered before main, where an exception would end it without a word.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include <draftproof/sim/info.hpp>

namespace draftproof {

/// What went wrong in registrations so far, one line each: a name that is there already. A program that registers
/// files reports these before it does anything else.
inline std::vector<std::string>& registration_mistakes() {
  static std::vector<std::string> mistakes;
  return mistakes;
}

/// Calls `add` and keeps what it throws.
template <class Add>
void keep_mistakes(const Add& add) {
  try {
    add();
  } catch (const std::exception& error) {
    registration_mistakes().emplace_back(error.what());
  }
}

/// Refuses an Info that a report could not show. A verifier for any drafts says so by `.drafts = any_law`, which is
/// the default.
template <class V>
constexpr void check_info() {
  static_assert(!V::info.name.empty(), "Info: .name is missing: snake_case, the file's name");
  static_assert(!V::info.summary.empty(), "Info: .summary is missing: one line");
  static_assert(
      V::info.fewest_drafts >= 1 && (V::info.most_drafts == 0 || V::info.most_drafts >= V::info.fewest_drafts),
      "Info: .fewest_drafts is at least 1, and .most_drafts is 0 or not below it");
  static_assert(V::info.promise != Promise::lossless_up_to || V::info.tau > 0,
                "Info: .promise = lossless_up_to needs .tau, the largest distance from p");
}

}  // namespace draftproof
