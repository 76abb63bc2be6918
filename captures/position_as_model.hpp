// A source of rows made into a model of the next token.
#pragma once

#include <memory>

#include <draftproof/captures/path_source.hpp>

namespace draftproof {

/// ConditionalModel are the positions of `source`; after context c token x leads to a position that is a hash of (c, x).
std::unique_ptr<PathSource> make_model_of(Source source);

}  // namespace draftproof
