// Reads stored results, and pages that contain them, makes their tables, and makes a page again.
#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/report/page/data.hpp>
#include <draftproof/cli/report/page/page.hpp>

#include "fuzz_file.hpp"

namespace draftproof::found {
void figures();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace draftproof;
  static const fuzz::FuzzFile file("result.json");
  static const bool registered = (found::figures(), true);
  fuzz::demand(registered);
  try {
    const page::Json data = page::read_result(file.with(bytes, size).string());
    page::sections_of_results(data);
    const std::string text = page::html_page(data);
    fuzz::demand(page::data_block(text).has_value());
  } catch (const InputError&) {
  }
  return 0;
}
