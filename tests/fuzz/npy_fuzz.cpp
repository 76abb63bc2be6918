// Reads a capture in one .npy file.
#include "fuzz_file.hpp"
#include "read_capture.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const draftproof::fuzz::FuzzFile file("capture.npy");
  draftproof::fuzz::read_capture(file.with(bytes, size));
  return 0;
}
