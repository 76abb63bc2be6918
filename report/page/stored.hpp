// Results from files: JSON of the program, or a page that holds it. Files from outside are hostile.
#pragma once

#include <string>

#include <draftproof/report/page/page.hpp>

namespace draftproof::page {

/// The data of a file. Throws: InputError if the file cannot be read, is neither JSON nor a page, is nested deeper than
/// 64 levels, or has no schema of ours.
Json read_result(const std::string& file);

}  // namespace draftproof::page
