#include <draftproof/studies/study.hpp>

namespace draftproof {

std::vector<Study>& found_studies() {
  static std::vector<Study> all;
  return all;
}

}  // namespace draftproof
