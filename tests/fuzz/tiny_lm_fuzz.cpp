// Reads a model in one .bin file, and runs one token through it and its cheaper copies.
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/tiny_lm.hpp>

#include "fuzz_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace draftproof;
  static const fuzz::FuzzFile file("model.bin");
  try {
    const TinyLm model = TinyLm::open(file.with(bytes, size));
    StoryMemory memory;
    model.read(0, {}, memory);
    model.rounded(4).read(0, {}, memory);
    model.cut(1).read(0, {}, memory);
  } catch (const InputError&) {
  }
  return 0;
}
