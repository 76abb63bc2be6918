// Parser of the Python dict literal in an .npy header: exactly the three keys that NumPy writes, each once, in any
// order. Nothing is evaluated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

struct NpyDict {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

class NpyDictParser {
 public:
  NpyDictParser(std::string_view text, const std::string& file, const std::string& array)
      : text_(text), file_(file), array_(array) {}

  /// The dict. Throws: InputError if the text is not such a dict.
  NpyDict parse();

 private:
  [[noreturn]] void refuse(std::string found, std::string wanted) const;
  void skip_space();
  bool take(std::string_view word);
  void expect(std::string_view word);
  std::string string();
  bool boolean();
  std::uint64_t integer();
  std::vector<std::uint64_t> tuple();

  std::string_view text_;
  const std::string& file_;
  const std::string& array_;
  std::size_t at_ = 0;
};

}  // namespace draftproof
