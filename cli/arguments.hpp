// Checks of a command line before work begins: every number is read strictly and lies in its option's range, and no
// file is both read and written.
//
// CLI11 alone reads "-5" as 2^64 - 5, "010" as 8 and "nan" as a number within every range.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace draftproof {

/// Returns a validator for numbers from `least` to `most`, both included.
CLI::Validator between(double least, double most);
/// Returns a validator for numbers of at least 0.
CLI::Validator not_negative();
/// Returns a validator for numbers above 0.
CLI::Validator positive();

/// Type names of options, which say what the option's text may be: a file that the command writes, or no file at all.
inline constexpr const char* written_file = "OUT_FILE";
inline constexpr const char* no_file = "NAME";

/// Group of the options that change how a command runs and what it writes, but not what it computes.
inline constexpr const char* running_group = "Running and writing";

/// Returns the range of options for numbers of tuples or branches.
inline CLI::Validator many() { return between(1, 1e15); }

/// Makes every option of a numeric type in `app` and its subcommands accept only decimal numbers: finite,
/// without spaces, integers if the type is an integer type; "1e6" means 1000000. The error for other text names the
/// option, the text and the expected range. Requires that all options were added before.
void read_numbers_strictly(CLI::App& app);

/// Parses the words, which are in reverse order. An option of a list, such as --tier, takes all words up to the next
/// option. If the words cannot be parsed so, options of lists of names, of numbers, or both take one word, whose
/// entries have commas, so that a name or a source may follow: `--tier proof NAME`.
/// Throws: the CLI::ParseError of the first try if all fail.
void parse_words(CLI::App& app, const std::vector<std::string>& words);

/// Compares the files of options of type `written_file` with the files of all other options and arguments of a parsed
/// command line, also inside `FILE:NAME`, `exec:PROGRAM FILE` and lists.
/// Throws: InputError if a file to be written is also another of these files, even under another name, or if one path
/// is to be written twice.
void check_written_files(const CLI::App& app);

}  // namespace draftproof
