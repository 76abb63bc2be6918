// Adds the studies and the command `reproduce` to the program. draftproof::studies makes its users link with this
// symbol undefined, which takes the object out of the archive.
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
