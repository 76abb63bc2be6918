// The metadata beside a capture whose rows are well.
#include <draftproof/captures/capture_writer.hpp>

#include "fuzz_file.hpp"
#include "read_capture.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const draftproof::fuzz::FuzzFile capture("capture.npz"), metadata("capture.json");
  static const bool written = [] {
    draftproof::CaptureWriter writer(3, {"draft"}, {.compression = draftproof::Compression::Stored});
    writer.add({{0.25, 0.5, 0.25}, {{0.5, 0.25, 0.25}}});
    writer.write(capture.path());
    return true;
  }();
  draftproof::fuzz::demand(written);
  metadata.with(bytes, size);
  draftproof::fuzz::read_capture(capture.path());
  return 0;
}
