#include <draftproof/properties/instances/instance_text.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace draftproof {

std::string weights_text(const std::vector<int>& weights) {
  return fmt::format("({})/{}", fmt::join(weights, " "), std::accumulate(weights.begin(), weights.end(), 0));
}

std::string rows_text(const std::vector<std::vector<int>>& rows) {
  std::string text;
  for (const auto& row : rows) text += (text.empty() ? "" : ",") + weights_text(row);
  return text;
}

bool valid_weights(const std::vector<int>& weights, std::size_t size) {
  return weights.size() == size && std::all_of(weights.begin(), weights.end(), [](int w) { return w >= 0; }) &&
         std::any_of(weights.begin(), weights.end(), [](int w) { return w > 0; });
}

void InstanceReader::expect(std::string_view literal) {
  if (!accept(literal)) fail(fmt::format("\"{}\"", literal));
}

bool InstanceReader::starts_with(std::string_view literal) {
  skip_spaces();
  return text_.starts_with(literal);
}

bool InstanceReader::accept(std::string_view literal) {
  if (!starts_with(literal)) return false;
  text_.remove_prefix(literal.size());
  return true;
}

int InstanceReader::number(int most) {
  skip_spaces();
  int value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (error != std::errc{} || value < 0 || value > most) fail(fmt::format("a number between 0 and {}", most));
  text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
  return value;
}

int InstanceReader::named_number(std::string_view name, int least, int most) {
  expect(fmt::format("{}=", name));
  const int value = number();
  if (value < least || value > most)
    throw std::invalid_argument(fmt::format("instance: got {}={}, expected {} to {}", name, value, least, most));
  return value;
}

std::vector<int> InstanceReader::numbers(std::string_view open, std::string_view close, int most) {
  expect(open);
  std::vector<int> values;
  while (!accept(close)) values.push_back(number(most));
  return values;
}

std::vector<int> InstanceReader::weights() {
  std::vector<int> weights = numbers("(", ")");
  if (weights.size() > most_tokens)
    throw std::invalid_argument(
        fmt::format("instance: got {} tokens, expected at most {}", weights.size(), most_tokens));
  const int total = std::accumulate(weights.begin(), weights.end(), 0);
  if (accept("/"))
    if (const int denominator = number(most_weight * static_cast<int>(most_tokens)); denominator != total)
      throw std::invalid_argument(
          fmt::format("instance: weights sum to {}, but are written over {}", total, denominator));
  return weights;
}

std::vector<std::vector<int>> InstanceReader::rows() {
  std::vector<std::vector<int>> all{weights()};
  while (accept(",")) all.push_back(weights());
  return all;
}

void InstanceReader::end() {
  skip_spaces();
  if (!text_.empty()) fail("the end");
}

void InstanceReader::skip_spaces() {
  while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
}

void InstanceReader::fail(std::string_view wanted) const {
  throw std::invalid_argument(fmt::format("instance: got \"{}\", expected {}", text_.substr(0, 20), wanted));
}

}  // namespace draftproof
