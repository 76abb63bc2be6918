// The text of instances: rows of weights as "(1 2 1)/4", and a reader that goes through a text from the left and
// whose every complaint shows what stands there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

/// "(1 2 1)/4".
std::string weights_text(const std::vector<int>& weights);

/// `size` non-negative weights, at least one positive.
bool valid_weights(const std::vector<int>& weights, std::size_t size);

/// Every call throws std::invalid_argument with what was found and wanted.
class InstanceReader {
 public:
  static constexpr int most_weight = 1'000'000;
  static constexpr std::size_t most_tokens = 20;  ///< a row's weights sum to an int

  explicit InstanceReader(std::string_view text) : text_{text} {}

  void expect(std::string_view literal);
  bool starts_with(std::string_view literal);
  /// Goes past `literal` if it comes next.
  bool accept(std::string_view literal);
  int number(int most = most_weight);
  /// "K=2": a name, and a number from `least` to `most`.
  int named_number(std::string_view name, int least, int most);
  /// Numbers from `open` to `close`.
  std::vector<int> numbers(std::string_view open, std::string_view close, int most = most_weight);
  /// "(1 2 1)/4" or "(1 2 1)".
  std::vector<int> weights();
  void end();

 private:
  void skip_spaces();
  [[noreturn]] void fail(std::string_view wanted) const;

  std::string_view text_;
};

}  // namespace draftproof
