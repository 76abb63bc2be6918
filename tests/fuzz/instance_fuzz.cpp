// Parses texts of instances, as in replay lines and stored failing instances. A text that parses must be written back
// as an equal instance.
#include <stdexcept>

#include <draftproof/properties/components/batch/batch_case.hpp>
#include <draftproof/properties/components/grammar/grammar_case.hpp>
#include <draftproof/properties/components/sampler/sampler_group.hpp>
#include <draftproof/properties/components/selection/selection_case.hpp>
#include <draftproof/properties/components/target/target_group.hpp>
#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/instances/path_instance.hpp>

#include "fuzz_file.hpp"

namespace {

template <class Case>
void read(std::string_view text) {
  try {
    const Case one = Case::parse(text);
    draftproof::fuzz::demand(Case::parse(one.text()) == one);
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace draftproof;
  const std::string_view text = fuzz::text_of(bytes, size);
  read<Instance>(text);
  read<PathInstance>(text);
  read<BatchCase>(text);
  read<GrammarCase>(text);
  read<SamplerCase>(text);
  read<SelectionCase>(text);
  read<TargetCase>(text);
  return 0;
}
