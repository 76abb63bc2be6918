// Expectations on the words of errors and of findings, in tests of external programs.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/adapters/declaration.hpp>

namespace draftproof::adapters {

/// Returns the message of the error that `act` throws, or "none" if it does not throw.
template <class Error = AdapterError, class Act>
std::string error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

/// Expects that a text contains `words`: at its start if `words` begins with ^, at its end if `words` ends with $.
inline void expect_words(const std::string& text, std::string_view words) {
  const bool start = words.starts_with('^'), end = words.ends_with('$');
  if (start) words.remove_prefix(1);
  if (end) words.remove_suffix(1);
  EXPECT_TRUE(start && end ? text == words
              : start      ? text.starts_with(words)
              : end        ? text.ends_with(words)
                           : text.find(words) != std::string::npos)
      << "found: " << text << "\nwanted: " << words;
}

/// Expects that a text contains all parts; ^ and $ have the meaning of expect_words().
inline void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) expect_words(text, part);
}

/// Expects that `act` throws an error whose message contains `words`, as in expect_words().
template <class Error = AdapterError, class Act>
void expect_error(Act act, std::string_view words) {
  expect_words(error_of<Error>(act), words);
}

/// Returns the finding of a check. Throws: std::out_of_range if the check has no finding.
template <class Findings>
const auto& finding_of(const Findings& findings, std::string_view check) {
  for (const auto& finding : findings)
    if (finding.property == check) return finding;
  throw std::out_of_range("no finding " + std::string(check));
}

}  // namespace draftproof::adapters
