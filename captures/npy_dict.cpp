#include <draftproof/captures/npy_dict.hpp>

#include <limits>
#include <set>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {

NpyDict NpyDictParser::parse() {
  NpyDict dict;
  std::set<std::string> seen;
  expect("{");
  while (!take("}")) {
    const std::string key = string();
    if (!seen.insert(key).second) refuse("the .npy header key " + in_quotes(key) + " twice", "each key once");
    expect(":");
    if (key == "descr") {
      dict.descr = string();
    } else if (key == "fortran_order") {
      dict.fortran_order = boolean();
    } else if (key == "shape") {
      dict.shape = tuple();
    } else {
      refuse("the .npy header key " + in_quotes(key), "descr, fortran_order and shape");
    }
    if (!take(",")) {
      expect("}");
      break;
    }
  }
  skip_space();
  if (at_ != text_.size()) refuse(in_quotes(text_.substr(at_)) + " after the .npy header", "spaces and a line end");
  if (seen.size() != 3) refuse(fmt::format("{} .npy header keys", seen.size()), "descr, fortran_order and shape");
  return dict;
}

void NpyDictParser::refuse(std::string found, std::string wanted) const {
  throw InputError({.file = file_, .array = array_, .found = std::move(found), .wanted = std::move(wanted)});
}

void NpyDictParser::skip_space() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
}

bool NpyDictParser::take(std::string_view word) {
  skip_space();
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

void NpyDictParser::expect(std::string_view word) {
  if (!take(word)) refuse(in_quotes(text_.substr(at_, 12)) + " in the .npy header", in_quotes(word));
}

std::string NpyDictParser::string() {
  const std::string_view quote = take("'") ? "'" : "\"";
  if (quote == "\"") expect(quote);
  const std::size_t end = text_.find(quote, at_);
  if (end == std::string_view::npos) refuse("an open string in the .npy header", "a closing quote");
  const std::string result(text_.substr(at_, end - at_));
  at_ = end + 1;
  return result;
}

bool NpyDictParser::boolean() {
  if (take("True")) return true;
  expect("False");
  return false;
}

std::uint64_t NpyDictParser::integer() {
  skip_space();
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
  const std::size_t start = at_;
  std::uint64_t value = 0;
  for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
    const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
    if (value > (largest - digit) / 10) refuse("a dimension beyond 2^63", "a shape that fits a file");
    value = 10 * value + digit;
  }
  if (at_ == start) refuse(in_quotes(text_.substr(at_, 12)) + " in the shape", "a non-negative whole number");
  return value;
}

std::vector<std::uint64_t> NpyDictParser::tuple() {
  constexpr std::size_t most_dimensions = 32;
  std::vector<std::uint64_t> shape;
  expect("(");
  while (!take(")")) {
    shape.push_back(integer());
    if (shape.size() > most_dimensions) refuse("more than 32 dimensions", "at most 32");
    if (!take(",")) {
      expect(")");
      break;
    }
  }
  return shape;
}

}  // namespace draftproof
