// Parts of instances: their text, and families of random weights. A row of weights is written as "(1 2 1)/4"; the
// reader consumes a text from the left, and its errors quote the text at the failing place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

/// The weights over their sum, as "(1 2 1)/4".
std::string weights_text(const std::vector<int>& weights);

/// The same of each row, with commas between them.
std::string rows_text(const std::vector<std::vector<int>>& rows);

/// Whether `weights` has `size` non-negative entries, at least one of them positive.
bool valid_weights(const std::vector<int>& weights, std::size_t size);

/// Each call consumes text. Throws: std::invalid_argument, which says what was found and what was expected.
class InstanceReader {
 public:
  static constexpr int most_weight = 100'000'000;
  static constexpr std::size_t most_tokens = 20;  ///< a row's weights then sum to an int

  explicit InstanceReader(std::string_view text) : text_{text} {}

  /// Consumes `literal`, which must come next.
  void expect(std::string_view literal);
  /// Whether `literal` comes next; consumes spaces only.
  bool starts_with(std::string_view literal);
  /// Consumes `literal` if it comes next, and returns whether it did.
  bool accept(std::string_view literal);
  /// A number in 0 .. `most`.
  int number(int most = most_weight);
  /// The number of "K=2", from `least` to `most`.
  int named_number(std::string_view name, int least, int most);
  /// The numbers between `open` and `close`.
  std::vector<int> numbers(std::string_view open, std::string_view close, int most = most_weight);
  /// The weights of "(1 2 1)/4" or "(1 2 1)".
  std::vector<int> weights();
  /// The rows of "(1 2 1)/4,(1 0 1)/2", at least one.
  std::vector<std::vector<int>> rows();
  /// Requires that no text is left.
  void end();

 private:
  void skip_spaces();
  [[noreturn]] void fail(std::string_view wanted) const;

  std::string_view text_;
};

}  // namespace draftproof
