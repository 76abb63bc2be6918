// Reads metadata next to a capture with valid rows.
#include <draftproof/tests/support/written_capture.hpp>

#include "fuzz_file.hpp"
#include "read_capture.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const draftproof::fuzz::FuzzFile capture("capture.npz"), metadata("capture.json");
  static const bool written = [] {
    draftproof::write_capture(capture.path(), {"draft"}, {{{0.25, 0.5, 0.25}, {{0.5, 0.25, 0.25}}}},
                              {.compression = draftproof::Compression::Stored});
    return true;
  }();
  draftproof::fuzz::demand(written);
  metadata.with(bytes, size);
  draftproof::fuzz::read_capture(capture.path());
  return 0;
}
