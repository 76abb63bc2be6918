// The report of `draftproof law`: the law of a program on each input, and how far it can be trusted.
#pragma once

#include <cstdint>
#include <span>

#include <draftproof/doors/declaration.hpp>
#include <draftproof/doors/explorer/program_law.hpp>
#include <draftproof/doors/program.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof::doors {

/// `laws` are those of `inputs`, in order. Schema draftproof.law/1. Probabilities are numbers, and texts as
/// probability_text() writes them. Of each input "limit" is ProgramLaw::limit, and "rounding_limit" is what the rows of
/// the declared type explain beside it.
Document report_laws(std::span<const ProgramLaw> laws, std::span<const Input> inputs, const Declaration& declaration,
                     std::uint64_t seed);

}  // namespace draftproof::doors
