// Where the blocks of a split team meet.
#pragma once

#include <draftproof/gpu/teams/team.hpp>

namespace draftproof::gpu {

/// In device memory, zero before the first use; one for each team.
struct SplitScratch {
  TeamScratch told;
  unsigned arrived;
};

}  // namespace draftproof::gpu
