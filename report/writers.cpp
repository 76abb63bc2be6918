#include <draftproof/report/register_writer.hpp>

namespace draftproof {

std::vector<Writer>& found_writers() {
  static std::vector<Writer> all;
  return all;
}

}  // namespace draftproof
