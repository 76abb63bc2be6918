// The blocks of a command as a table and as data.
#pragma once

#include <vector>

#include <draftproof/properties/blocks/checkpoint.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// One row for each group of blocks, and the totals; with the memory that this process has used.
Document report_plan(const std::vector<Checkpoint::Planned>& planned);

}  // namespace draftproof
