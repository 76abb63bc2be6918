// Reads a trace of a running engine.
#include <algorithm>
#include <vector>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/trace.hpp>

#include "fuzz_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace draftproof;
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  try {
    const Trace trace = Trace::of_bytes({first, first + size}, "trace.safetensors");
    std::vector<float> row(trace.symbols());
    const auto read = [&](RowsOf whose, std::size_t count) {
      for (std::size_t r = 0; r < std::min<std::size_t>(count, 8); ++r) {
        trace.distribution(whose, r, row);
        trace.symbol(whose, r, 0);
      }
    };
    read(RowsOf::target, trace.records());
    read(RowsOf::proposal, trace.proposal_rows());
  } catch (const InputError&) {
  }
  return 0;
}
