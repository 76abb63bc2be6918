// Files that a command writes and files that it reads are different ones.
#pragma once

#include <CLI/CLI.hpp>

namespace draftproof {

/// Compares the files of options that name output with those of all other options and arguments of a parsed command line,
/// also inside `FILE:NAME`, `exec:PROGRAM FILE` and lists.
/// Throws: InputError if one is the same file, under whatever name, or one path is to be written twice.
void check_written_files(const CLI::App& app);

}  // namespace draftproof
