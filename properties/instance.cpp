#include <draftproof/properties/instance.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace draftproof {

namespace {

constexpr int most_weight = 1'000'000;
constexpr std::size_t most_tokens = 20;  // a row's weights sum to an int

bool valid_row(const std::vector<int>& row, std::size_t size) {
  return row.size() == size && std::all_of(row.begin(), row.end(), [](int w) { return w >= 0; }) &&
         std::any_of(row.begin(), row.end(), [](int w) { return w > 0; });
}

std::string row_text(const std::vector<int>& row) {
  return fmt::format("({})/{}", fmt::join(row, " "), std::accumulate(row.begin(), row.end(), 0));
}

/// Reads the text left to right; every complaint shows what stands there.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_{text} {}

  void expect(std::string_view literal) {
    skip_spaces();
    if (!text_.starts_with(literal)) fail(fmt::format("\"{}\"", literal));
    text_.remove_prefix(literal.size());
  }
  bool starts_with(std::string_view literal) {
    skip_spaces();
    return text_.starts_with(literal);
  }
  int number(int most = most_weight) {
    skip_spaces();
    int value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0 || value > most) fail(fmt::format("a number between 0 and {}", most));
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }
  std::vector<int> row() {
    expect("(");
    std::vector<int> weights;
    while (!starts_with(")")) weights.push_back(number());
    expect(")");
    if (weights.size() > most_tokens)
      throw std::invalid_argument(
          fmt::format("instance: found {} tokens, wanted at most {}", weights.size(), most_tokens));
    const int total = std::accumulate(weights.begin(), weights.end(), 0);
    if (starts_with("/")) {
      expect("/");
      if (const int denominator = number(most_weight * static_cast<int>(most_tokens)); denominator != total)
        throw std::invalid_argument(
            fmt::format("instance: weights sum to {}, but are written over {}", total, denominator));
    }
    return weights;
  }
  void end() {
    skip_spaces();
    if (!text_.empty()) fail("the end");
  }

 private:
  void skip_spaces() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  [[noreturn]] void fail(std::string_view wanted) const {
    throw std::invalid_argument(fmt::format("instance: found \"{}\", wanted {}", text_.substr(0, 20), wanted));
  }
  std::string_view text_;
};

}  // namespace

Rows<Rational> Instance::rows() const {
  std::vector<std::vector<Rational>> rows;
  for (const auto& proposal : proposals) rows.push_back(normalised(proposal));
  return {normalised(target), std::move(rows)};
}

bool Instance::valid() const {
  return drafts >= 1 && !proposals.empty() && valid_row(target, target.size()) &&
         std::all_of(proposals.begin(), proposals.end(),
                     [this](const auto& row) { return valid_row(row, target.size()); });
}

std::string Instance::text() const {
  std::string text = "p=" + row_text(target);
  for (const auto& row : proposals) text += " q=" + row_text(row);
  return fmt::format("{} K={}", text, drafts);
}

Instance Instance::parse(std::string_view text) {
  Reader reader(text);
  Instance instance;
  reader.expect("p=");
  instance.target = reader.row();
  do {
    reader.expect("q=");
    instance.proposals.push_back(reader.row());
  } while (reader.starts_with("q="));
  reader.expect("K=");
  instance.drafts = reader.number();
  reader.end();
  if (instance.drafts < 1 || instance.drafts > max_drafts)
    throw std::invalid_argument(fmt::format("instance: found K={}, wanted 1 to {}", instance.drafts, max_drafts));
  if (!instance.valid())
    throw std::invalid_argument("instance: wanted rows of one length, each with a positive weight: " +
                                instance.text());
  return instance;
}

}  // namespace draftproof
