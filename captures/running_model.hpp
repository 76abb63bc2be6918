// A live model as a source of steps: fresh conditionals without end, drafts by a cheaper copy of the target.
#pragma once

#include <memory>
#include <string>

#include <draftproof/captures/path_source.hpp>

namespace draftproof {

/// Whether `spec` names a model: FILE.bin, optionally with a draft after a colon.
bool is_model_spec(const std::string& spec);

/// `FILE.bin:q4` and `FILE.bin:q3` draft with the weights rounded to 4 or 3 bits, `FILE.bin:exit4` with the first
/// four layers; without a colon q4. Every trial reads a text of its own, sampled from the target at temperature 1.
/// Throws InputError.
std::unique_ptr<PathSource> open_live_model(const std::string& spec, const SourceOptions& options);

}  // namespace draftproof
