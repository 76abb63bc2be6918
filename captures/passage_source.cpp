#include <draftproof/captures/passage_source.hpp>

#include <filesystem>

#include <draftproof/captures/captured_trees.hpp>
#include <draftproof/captures/live_model.hpp>
#include <draftproof/captures/rows_as_model.hpp>

namespace draftproof {

std::unique_ptr<PassageSource> PassageSource::open(const std::string& spec, const SourceOptions& options) {
  if (is_model_spec(spec)) return open_live_model(spec, options);
  if (std::filesystem::is_regular_file(spec) && TreeCapture::recognises(spec))
    return open_captured_trees(spec, options);
  return make_model_of(Source::open(spec, options));
}

}  // namespace draftproof
