#include <draftproof/captures/path_source.hpp>

#include <filesystem>

#include <draftproof/captures/tree_capture.hpp>

namespace draftproof {

std::unique_ptr<PathSource> PathSource::open(const std::string& spec, const SourceOptions& options) {
  if (is_model_spec(spec)) return open_running_model(spec, options);
  if (std::filesystem::is_regular_file(spec) && TreeCapture::recognises(spec))
    return open_captured_trees(spec, options);
  return make_model_of(Source::open(spec, options));
}

}  // namespace draftproof
