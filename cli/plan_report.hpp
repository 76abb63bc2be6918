// The blocks of a command as a table and as data.
#pragma once

#include <vector>

#include <draftproof/properties/blocks/ledger.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// One row for each group of blocks, and the totals; with the memory that this process has used.
Document report_plan(const std::vector<BlockLedger::Planned>& planned);

}  // namespace draftproof
