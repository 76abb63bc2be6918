// Writes and parses the text of instances. A row of weights is written as "(1 2 1)/4"; the reader consumes a
// text from the left, and its errors quote the text where parsing failed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

/// Returns the weights over their sum, as "(1 2 1)/4".
std::string weights_text(const std::vector<int>& weights);

/// Returns the texts of weights_text() for all rows, separated by commas.
std::string rows_text(const std::vector<std::vector<int>>& rows);

/// Whether `weights` has `size` non-negative entries, at least one of them positive.
bool valid_weights(const std::vector<int>& weights, std::size_t size);

/// Parses a text from the left; each call consumes the part that it has read. Errors are std::invalid_argument with the
/// beginning of the remaining text and the expected format.
class InstanceReader {
 public:
  static constexpr int most_weight = 100'000'000;
  static constexpr std::size_t most_tokens = 20;  ///< limited so that the sum of the weights of a row fits an int

  explicit InstanceReader(std::string_view text) : text_{text} {}

  /// Consumes `literal`; throws if it is not next.
  void expect(std::string_view literal);
  /// Whether `literal` is next; consumes spaces only.
  bool starts_with(std::string_view literal);
  /// Consumes `literal` if it is next, and returns whether it was.
  bool accept(std::string_view literal);
  /// Returns a number in 0 .. `most`.
  int number(int most = most_weight);
  /// Returns the number in a text such as "K=2" (`name` is "K"), from `least` to `most`.
  int named_number(std::string_view name, int least, int most);
  /// Returns the numbers between `open` and `close`.
  std::vector<int> numbers(std::string_view open, std::string_view close, int most = most_weight);
  /// Returns the weights in a text such as "(1 2 1)/4" or "(1 2 1)".
  std::vector<int> weights();
  /// Returns the rows in a text such as "(1 2 1)/4,(1 0 1)/2", at least one.
  std::vector<std::vector<int>> rows();
  /// Requires that no text is left.
  void end();

 private:
  void skip_spaces();
  [[noreturn]] void fail(std::string_view wanted) const;

  std::string_view text_;
};

}  // namespace draftproof
