#include <draftproof/report/register_figure.hpp>
#include <draftproof/report/register_writer.hpp>

namespace draftproof {

std::vector<Writer>& found_writers() {
  static std::vector<Writer> all;
  return all;
}

std::vector<page::FigureMaker>& page::found_figures() {
  static std::vector<FigureMaker> all;
  return all;
}

}  // namespace draftproof
