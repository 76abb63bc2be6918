// Whether the sources that register verifiers were compiled with optimisation. Times of code without it are several times too
// long, in the project of a consumer too, so tables of times say so.
#pragma once

namespace draftproof {

/// True if a source that includes this header was compiled without optimisation.
inline bool unoptimised_sources = false;

#ifndef __OPTIMIZE__
/// One in every such source: a source of its own linkage, so that optimised ones keep theirs.
[[maybe_unused]] static const bool marked_as_unoptimised = (unoptimised_sources = true);
#endif

}  // namespace draftproof
