// Adds the studies and the command `reproduce` to the program. No code refers to this object, so the link option
// `-u draftproof_with_studies` of draftproof::studies makes the linker take it from the archive.
#include <draftproof/bench/studies/study.hpp>
#include <draftproof/cli/register_command.hpp>

namespace draftproof::found {
void studies();  // generated
}

namespace {

bool add_studies() {
  draftproof::found::studies();
  for (const draftproof::Study& study : draftproof::found_studies())
    draftproof::more_to_list().push_back({"studies", std::string(study.name), std::string(study.about)});
  return true;
}

}  // namespace

extern "C" {
extern bool draftproof_with_studies;
bool draftproof_with_studies = add_studies();
}
