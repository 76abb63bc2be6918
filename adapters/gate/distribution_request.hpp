// The inputs of `draftproof distribution`, as a JSON document:
//
//   {"inputs": [{"p": [[..], ..], "q": [[..], ..], "drafts": [..], "parents": [..]}, ..],
//    "predictions": 256, "seed": 1}
//
// Input describes the shapes at the level that the program declares; only trees have "parents". For a program under a
// grammar an input may have "legal": 1 for each token that is allowed after a row of p, 0 for the others; without it
// all tokens are allowed. For a program with settings an input may have "settings", such as {"temperature": 0.5}.
// "predictions" and "seed" are optional.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/program.hpp>

namespace draftproof::adapters {

struct DistributionRequest {
  std::vector<Input> inputs{};
  std::optional<int> predictions{};
  std::optional<std::uint64_t> seed{};
};

/// Reads a request for a program of this declaration; rows need no sum of 1. `file` names the stream in errors.
/// Throws: InputError with the number of the input, the field, the row and the token: for text that is not JSON,
/// shapes of another level, entries that are negative or not finite, drafts outside the vocabulary, parents that do
/// not precede their children, and inputs beyond the limits that the program declares.
DistributionRequest read_distribution_request(std::istream& stream, const std::string& file,
                                              const Declaration& declaration);

}  // namespace draftproof::adapters
