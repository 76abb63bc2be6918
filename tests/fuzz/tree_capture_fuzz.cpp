// Reads a capture of trees.
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/tree_capture.hpp>

#include "fuzz_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace draftproof;
  static const fuzz::FuzzFile file("trees.npz");
  try {
    const TreeCapture trees = TreeCapture::open(file.with(bytes, size));
    for (std::size_t path = 0; path < trees.paths() && trees.conditionals() > 0; ++path)
      trees.node(0, path, trees.length());
  } catch (const InputError&) {
  }
  return 0;
}
